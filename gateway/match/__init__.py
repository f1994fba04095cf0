"""Matches: many games between engines or bots, and the difference in strength that they show.

Engines play here, in processes of their own; bots are connected by `adapters.match`. Which games are to be
played is decided in `gateway.tournament`. Does not know dialects or sockets.
"""
