"""`python -m conformance kills`: is what a client was told of still known when the server has been killed?

Knows the three dialects from the client's side, a gateway as a subprocess, and its command `export`.
"""
