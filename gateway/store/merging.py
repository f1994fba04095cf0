"""Storing lines of games that were kept elsewhere for a while: in a journal, or in an export.

Knows lines, and how a game at fault is found among others. Does not know files. The rule it keeps: a line
that cannot be stored keeps no other from being stored.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from gateway.store import storing
from gateway.store.database import is_passing
from gateway.store.formats import jsonl
from gateway.store.journal import Line
from gateway.store.records import GameRecord, TakenUp

_LONGEST = 300
"""Characters of an error that are shown: it may quote what the line has."""


def store_lines(connection: Connection, lines: Sequence[Line], came: TakenUp) -> None:
    """Store what can be stored, in the connection's transaction, and add to `came`."""
    numbered = list[tuple[int, GameRecord]]()
    for number, line in lines:
        try:
            numbered += [(number, record) for record in jsonl.read(line)]
        except ValueError as error:
            came.refused.append((number, str(error)[:_LONGEST]))
    _store(connection, numbered, came)


def _store(connection: Connection, numbered: Sequence[tuple[int, GameRecord]], came: TakenUp) -> None:
    """Store games; find one at fault by halves."""
    if not numbered:
        return
    try:
        with connection.begin_nested():
            merged = storing.merge(connection, [record for _, record in numbered])
    except Exception as error:
        if is_passing(error):
            raise
        if len(numbered) > 1:
            half = len(numbered) // 2
            _store(connection, numbered[:half], came)
            _store(connection, numbered[half:], came)
            return
        cause = " ".join(str(getattr(error, "orig", None) or error).split())
        came.refused.append((numbered[0][0], f"the database will never take it: {cause[:_LONGEST]}"))
        return
    came.seen += len(numbered) - len(merged.other)
    came.new += len(merged.fresh)
    came.replaced += len(merged.replaced)
    came.differing += [f"game {each.game} has an end in the database, and none here" for each in merged.lost]
    for record in merged.other:
        number = next(number for number, each in numbered if each is record)
        why = f"another game has the id {record.game}, or this one was corrected since by void or rename"
        came.refused.append((number, why))
