"""Matches: players against players, many games, and what these say about strength.

    pairs.py       pairs of games with colours swapped: scores, Elo, likelihood of superiority
    sprt.py        the sequential test that stops as soon as it is decided
    joint.py       Elo of several players at once, with intervals by bootstrap
    schedule.py    which games there are, and which are still to be played
    journal.py     the file that a match goes on from
    tally.py       what is counted
    table.py       how that looks, for people and for programs
    openings.py    positions from which engines start
    worker.py      the process that plays engines against each other

Bots on a wire come from `adapters.match`. Nothing here knows a dialect or a socket.
"""
