"""What all parts of a server need of its process: event loop, files, listening sockets, child processes.

Knows trio and the operating system. Does not know options, clients or games.
"""
