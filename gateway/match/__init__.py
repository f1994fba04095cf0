"""Matches: many games between engines or bots, and the difference in strength that they show.

This package plays the games of engines, in separate processes; `adapters.match` connects bots.
`gateway.tournament` decides which games are played. This package does not know dialects or sockets.
"""
