"""Tournaments: several players, and the games that they are to play against each other.

    formats.py     who meets whom in the next round
    schedule.py    which games are to be played, and which have a result; going on after a stop

Pure: a tournament of bots on a server and a match in a folder differ in who plays the games, and in where
results are stored.
"""
