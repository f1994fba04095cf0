"""Bytes in and out: pollers, sockets, TLS, and sockets that are passed to other processes.

Knows the operating system. Does not know dialects or games.
"""
