"""One client of a dialect, at either end: framing, connection, check of its name, wire log, dialing a server.

Knows what all dialects have in common, and has the type `Dialect`, which a package with a further dialect
imports. Does not know any dialect, nor on which port a client came.
"""
