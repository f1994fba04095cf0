"""Connects the nodes of a cluster: a registry in Redis, and connections between the nodes.

Only `gateway.cli` imports it, and only for a server in a cluster.
"""
