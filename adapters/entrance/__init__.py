"""The ways into the server: ports, admission, the bytes before a client's first message, and the one port.

Knows ports and limits, and the first bytes of each protocol. Does not know what a client sends after them.
"""
