"""The options of the commands, and where they come from: command line, environment, a file, their defaults.

Knows names, types and help texts. Imports nothing that serves, so that ``--help`` waits for nothing.
"""
