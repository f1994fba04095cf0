"""The command ``c4gateway match``: plays many games between bots, engines, or both, and reports the result.

Each bot has its own port at each of its tables. The port accepts every dialect. It identifies the bot,
whatever name the bot gives. If an engine meets a bot, c4bot plays for the engine, so that both players of
such a game use the wire. `gateway.match` counts the games, and plays those between two engines.
"""
