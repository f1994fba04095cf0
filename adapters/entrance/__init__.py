"""The server's ports, the admission of clients, and the bytes that precede a client's first message.

Knows ports and limits, and the first bytes of each protocol. Does not know what a client sends after them.
"""
