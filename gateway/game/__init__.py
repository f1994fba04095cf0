"""The game: board, clock, manners, one series of games, and the values that go in and out of it.

Pure: it imports nothing of ours from elsewhere, waits for nothing and reads no clock.
"""
