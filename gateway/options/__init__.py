"""The options of all commands, and their sources: command line, environment, file, defaults.

Knows names, types and help texts. Imports no part of the server, so that ``--help`` is fast.
"""
