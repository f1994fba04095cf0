"""The code that all dialects share: framing, connection, name check, wire log, and dialing a server.

Defines the type `Dialect`, which the package of each dialect imports. Does not know any particular dialect,
nor the port to which a client connected.
"""
