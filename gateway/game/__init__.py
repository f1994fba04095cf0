"""The game: board, clock, manners of players, one series of games, commands, events and facts.

Pure: it imports no other package of the server, does no I/O and reads no clock.
"""
