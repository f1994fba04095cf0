"""Messages between nodes: all come through bytes and back, and none of them can crash a node."""

import random
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cluster.matchmaker import ClusterMatchmaker
from gateway.cluster.messages import Message, Order, Present, Report, decode, encode
from gateway.game.commands import LOBBY, LONGEST_NAME
from gateway.game.encoding import LONGEST, EncodingError
from gateway.game.events import NOTHING, Objection
from gateway.game.manners import Afterwards, Illegal, Manners
from gateway.matchmaking.matchmaker import Entry, Turn
from gateway.matchmaking.standard import LobbyAndTables

FEW = st.integers(0, 3)
"""Numbers: so few that messages are about the same things."""
NAMES = st.sampled_from(["a", "b", "ann", "T", "\ud800\x00\u202e"])


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Return values of a type as it stands in a message."""
    plain = {int: FEW, str: NAMES, bool: st.booleans(), float: st.floats(0, 9), NoneType: st.none()}
    if kind in plain:
        return plain[kind]
    if kind is Objection:
        return st.sampled_from([NOTHING, Objection.WAITING])
    if get_origin(kind) is tuple:
        return st.tuples(*map(values, get_args(kind)))
    if get_args(kind):
        options = [values(each) if isinstance(each, type) else st.just(each) for each in get_args(kind)]
        return st.one_of(options)
    if issubclass(kind, Enum):
        return st.sampled_from(kind)
    hints = get_type_hints(kind)
    fields = {name: values(hint) for name, hint in hints.items()}
    if "rounds" in fields:
        fields["rounds"] = values(hints["rounds"]).filter(lambda rounds: rounds is None or rounds > 0)
    return st.builds(kind, **fields)


MESSAGES = st.one_of([values(each) for each in get_args(Message)])


@given(MESSAGES)
def test_message_is_read_back_as_it_was(message: Message) -> None:
    assert decode(encode(message)) == message


@given(st.binary(max_size=50) | st.text(max_size=50).map(lambda text: ('{"version":1,' + text).encode()))
def test_garbage_raises_only_encoding_error(data: bytes) -> None:
    with pytest.raises(EncodingError):
        decode(data)


def test_longest_message_can_be_written() -> None:
    longest = "\x00" * LONGEST_NAME
    manners = Manners(Illegal.RETRY, Afterwards.STEP_OUT, kind=longest)
    entry = Entry(2**63, longest, LOBBY, True, manners, longest, NOTHING, home=longest)
    assert len(encode(Report(2**63, Present(entry, 2**63, 1e300, 1, 2**63)))) <= LONGEST


class Idle:
    """A hub that carries nothing out."""

    def can_reach(self, seat: int) -> bool:
        return True

    def is_kept(self, seat: int) -> bool:
        return seat % 2 == 0

    def do(self, *_: object) -> None:
        """Do nothing."""

    asking = meet = wait_anew = desert = do
    send_to = receive_from = decline = do


@given(st.sampled_from(["a", "b", None]), st.lists(st.tuples(st.sampled_from("bc"), MESSAGES), max_size=40))
def test_no_message_can_crash_a_node(pairs: str | None, heard: list[tuple[str, Message]]) -> None:
    """Neither the one that pairs nor another, whatever the rest of them say in whatever order."""
    matchmaker = ClusterMatchmaker("a", 1, lambda: LobbyAndTables(random.Random(0)))
    matchmaker.connect(Idle(), lambda _, message: encode(message) and None, Idle())
    matchmaker.attach(pairs, 1, 0.0)
    for seat in (1, 2):
        manners = Manners(Illegal.RETRY, Afterwards.STAND_BY)
        matchmaker.enter(Entry(seat, "ann", LOBBY, True, manners, "", NOTHING))
    list(matchmaker.answers(0.0))
    if pairs == "a":
        matchmaker.wait(Turn(1, 1), 0.0)
    for now, (node, message) in enumerate(heard):
        if isinstance(message, Report | Order):
            message = type(message)(1, *[getattr(message, message.__slots__[1])])  # noqa: PLW2901
        matchmaker.receive(node, message, float(now))
        list(matchmaker.answers(float(now)))
        matchmaker.next_due()
    for node in "bc":
        matchmaker.lost(node, 50.0)
    list(matchmaker.answers(50.0))
