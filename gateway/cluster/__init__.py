"""Several servers with one lobby: pairing across them, and games between their players.

May import `gateway.game`, `gateway.matchmaking` and `gateway.hub`. Pure: how nodes find and reach each other
is in `adapters.cluster`. A server on its own imports nothing of it.
"""
