"""The hub: seats, the series that they play, and the feed of facts.

May import `gateway.game` and `gateway.matchmaking`. All three packages are pure.
"""
