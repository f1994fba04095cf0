"""Matches: players against players, many games, and what these say about strength.

    match.py      what is to be played, what was, and who plays no more
    journal.py    the file that a match goes on from
    engines.py    a table with two engines, and the process in which they play, from outside
    worker.py     what runs in that process
    openings.py   positions from which engines start
    tally.py      what is counted
    elo.py        Elo, with intervals and likelihoods of superiority
    sprt.py       the sequential test that stops as soon as it is decided
    report.py     how that looks, for people and for programs

Which games there are, and which are still to be played, is in `gateway.tournament`. Bots on a wire come from
`adapters.match`. Nothing here knows a dialect or a socket.
"""
