"""How the nodes of a cluster find and reach each other: Redis, and connections between them.

Only `gateway.cli` imports it, and only where a cluster is asked for.
"""
