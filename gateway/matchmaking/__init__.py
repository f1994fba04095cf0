"""Pairing: the lobby, wishes and tables.

Knows `gateway.game` and nothing else of ours. Pure, like it.
"""
