"""Attackers beside honest games: what does one client's malice cost the others?

The rule they all keep: attackers talk to the gateway that this command started on 127.0.0.1, and to nobody
else, in bounded numbers and for a bounded time.
"""
