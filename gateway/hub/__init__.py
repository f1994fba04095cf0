"""The hub: seats, series, timers, and what is told to whom.

May import `gateway.game` and `gateway.matchmaking`. Pure, like them.
Connections, the web and commands use `hub.interfaces`; who makes a hub uses `hub.hub`.
"""
