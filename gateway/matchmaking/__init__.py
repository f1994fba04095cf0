"""Pairing: the protocol `Matchmaker`, and lobby, tables and house players, which are the standard one.

May import `gateway.game`. Pure, like it. Others use `matchmaking.matchmaker` and `matchmaking.standard`; the
nodes of a cluster, which pair in one lobby, also its parts.
"""
