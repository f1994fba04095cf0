"""Tournaments: formats, which pair the players of a round, and the schedule of games.

Pure. Does not know who plays the games, nor where results are stored.
"""
