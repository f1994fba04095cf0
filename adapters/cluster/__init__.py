"""How the nodes of a cluster find and reach each other: Redis, and connections between them.

Only `gateway.cli` imports it, and only for a server in a cluster.
"""
