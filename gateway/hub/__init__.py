"""The hub: seats, series, timers, and what is told to whom.

May import `gateway.game` and `gateway.matchmaking`. Pure, like them.
Others use `hub.interfaces`; the composition root alone uses `hub.hub`.
"""
