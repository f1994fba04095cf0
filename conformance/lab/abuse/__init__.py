"""Attackers beside honest games: what does one client's malice cost the others?

`texts` is pure: the worst that can be said. `ground` is what an attacker stands on, and `parsing`, `holding`,
`flooding`, `playing` and `browsing` are the attacks, which `roster` lists. `attackers` is the process that
attackers live in, `honest` that of the games beside them, `guest` a game with a house player. `target` is the
gateway that is attacked, `figures` and `table` say what a run came to, `command` is the whole.

The rule they all keep: attackers talk to the gateway that this command started on 127.0.0.1, and to nobody
else, in bounded numbers and for a bounded time.
"""
