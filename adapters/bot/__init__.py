"""The command ``c4bot``: an engine, or a person, behind any of the three dialects.

It stands among the adapters because it speaks every dialect, though on the client's side of each: what a
server says becomes news that a player understands, whatever the dialect (`news.py`), and the player's
column becomes a move. It knows the dialects' messages and clients, boards and engines; it must not know
translators, sessions or the hub, so that it can assume nothing of a server but what the dialect promises.

    nac4.py  arena.py  droidcon.py   a dialect as its player hears and speaks it; no I/O
    line.py                          one of these over a connection
    play.py                          news in, columns out, on one connection
    waiting.py                       what to say when nothing happens
    bot.py                           one connection after another, until the games are played
"""
