"""Bots by the thousand that play one game of seven moves over and over.

`speech` and `dialects` are pure: what a bot hears and what it says. `member` is a bot on its socket, `crowd`
the loop that they share, `job` the process that they live in. What they are good for, their users say:
growth and fairness.
"""
