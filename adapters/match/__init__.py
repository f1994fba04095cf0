"""The command ``c4gateway match``: many games between bots, engines, or both, and a verdict.

It stands among the adapters because it starts a server of its own. What it counts and what that says is in
`gateway.match`.

    command.py     options in, who plays whom next, a table out
    options.py     the options
    match.py       what is to be played, and what became of it
    wired.py       a table with bots on a wire
    engines.py     a table with two engines
    tables.py      the matchmaker: a player is told by the port that it comes by
    server.py      the private server
    bots.py        the command lines of bots and engines, and what is said to a process of two engines
    screen.py      the table that is drawn anew as games end

Each bot has a port of its own at each of its tables. That port takes every dialect, so nobody has to say
which one a bot speaks, and it tells who comes, whatever name a bot gives.

Two engines play in a process of theirs, without a server: that is faster, and they can start from openings.
An engine that meets a bot is played by c4bot: so there is one way for games on a wire.
"""
