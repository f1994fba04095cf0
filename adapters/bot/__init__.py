"""The command ``c4bot``: an engine, or a person, behind any dialect.

It stands among the adapters because it speaks every dialect, though on the client's side of each. It knows
the dialects' values (`adapters.dialects`), boards and engines. It must not know translators, sessions or
the hub, so that it can assume nothing of a server but what the dialect promises. What a
player hears and says in any dialect stands in `adapters.client.talk`.

    choosers.py    an engine or a person, asked for columns
    play.py        news in, columns out, on one connection
    bot.py         the command: one connection after another, until the games are played
    options.py     its options
    screen.py      what people are told meanwhile, and at the end
"""
