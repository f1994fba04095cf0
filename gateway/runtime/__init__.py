"""Facilities of the process that all parts use: event loop, files, listening sockets, child processes.

Knows trio and the operating system. Does not know options, clients or games.
"""
