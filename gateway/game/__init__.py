"""The game: board, clock, rules of dialects, one series of games, and its commands, events and facts.

Pure: it imports no other package of the server, does no I/O and reads no clock.
"""
