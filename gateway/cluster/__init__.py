"""Several servers with one lobby: what a node of a cluster has that a single server has not.

May import `gateway.game`, `gateway.matchmaking` and `gateway.hub`. A single server imports nothing of it.
"""
