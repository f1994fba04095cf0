"""The command ``c4gateway match``: many games between bots, engines, or both, and a verdict.

It stands among the adapters because its bots are on a wire. What it counts and what that says is in
`gateway.match`, and so are tables with two engines.

    command.py     options in, a table out
    options.py     the options
    wired.py       a table with bots on a wire
    screen.py      the table of figures that is drawn anew as games end

Each bot has a port of its own at each of its tables. That port takes every dialect, so nobody has to say
which one a bot speaks, and it tells who comes, whatever name a bot gives. An engine that meets a bot is
played by c4bot: so there is one way for games on a wire.
"""
