"""The command ``c4gateway match``: many games between bots, engines, or both, and a verdict.

Each bot has a port of its own at each of its tables. The port takes every dialect and identifies the bot,
whatever name it gives. An engine that meets a bot is played by c4bot, so there is one way for games on a
wire. `gateway.match` counts the games, and has the tables with two engines.
"""
