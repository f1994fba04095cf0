"""Bytes in and out: the epoll reader, sockets, TLS, wires, and sockets that are passed to other processes.

Knows the operating system. Does not know what is said: no text, no dialect, no game.
"""
