"""What the dialects have in common: framing, connection, name check, wire log, and dialing a server.

Defines the type `Dialect`, which a package with a further dialect imports. Does not know any particular
dialect, or the port on which a client connected.
"""
