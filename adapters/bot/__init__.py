"""The command ``c4bot``: an engine, or a person, behind any dialect.

It stands among the adapters because it speaks every dialect, though on the client's side of each. It knows
the dialects' values (`adapters.dialects`), boards and engines. It must not know translators, sessions or
the hub, so that it can assume nothing of a server but what the dialect promises.

    talk.py        what a player hears and says in any dialect; each dialect's part is in its `client.py`
    choosers.py    an engine or a person, asked for columns
    play.py        news in, columns out, on one connection
    bot.py         one connection after another, until the games are played
    screen.py      what people are told meanwhile
    totals.py      what they are told at the end
"""
