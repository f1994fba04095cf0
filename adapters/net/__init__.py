"""Bytes in and out: pollers, sockets, TLS, and sockets that are passed to other processes.

Knows the operating system, and of HTTP what is said to a client that is not served. Does not know dialects
or games.
"""
