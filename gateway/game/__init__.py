"""The game: board, clock, manners, one series of games, and the commands, events and facts about it.

Pure: it imports no other package of the server, does no I/O and reads no clock.
"""
