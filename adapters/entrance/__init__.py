"""The ways into the server: its ports, admission, what comes before a client's first word, and the one port.

Knows ports and limits, and by its first bytes what a client begins with. Does not know what it goes on to
say.
"""
