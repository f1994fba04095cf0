"""Functions that all parts of the server use: event loop, files, listening sockets, child processes.

Knows trio and the operating system; does not know options, clients or games.
"""
