"""Tournaments: the formats, which pair the players of a round, and the schedule of games.

Does not know how games are played or where results are stored.
"""
