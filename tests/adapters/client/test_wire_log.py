"""What is recorded of a game, on which log, and that nobody can make one grow."""

import tracemalloc
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.client.wire_log import FULL, HEAD, LONGEST, SHORT, TAIL, WireLog
from gateway.game.board import FIRST, SECOND, Board, Side
from gateway.game.events import Ended, Objection, Overlooked, Reason, Refused, Spoken, Started, ToMove
from gateway.game.ids import GameId

GAME, NEXT = "00007-00000a", "00007-00000b"

NAMES = ("ann", "bob")


class Kept:
    """Keeps what is handed in."""

    def __init__(self) -> None:
        self.enclosed: list[tuple[GameId, Side, list[Spoken]]] = []
        self.parts: list[bool] = []

    def __call__(self, game: GameId, side: Side, said: Sequence[Spoken], /, *, is_part: bool) -> None:
        self.enclosed.append((game, side, [*said]))
        self.parts.append(is_part)

    @property
    def lines(self) -> list[Spoken]:
        """What was handed in, which was handed in once."""
        ((_, _, said),) = self.enclosed
        return said

    @property
    def texts(self) -> list[str]:
        return [text for _, way, text, _ in self.lines if way != "note"]

    @property
    def notes(self) -> list[object]:
        return [remark for _, way, _, remark in self.lines if way == "note"]


def recording() -> tuple[WireLog, Kept]:
    kept = Kept()
    return WireLog(kept), kept


def begin(wire_log: WireLog, *texts: str, game: GameId = GAME, side: Side = FIRST, at: float = 0.0) -> None:
    """Let a game begin, of which the client is told in `texts`."""
    started = Started(game, side, NAMES)
    wire_log.note(at, started)
    wire_log.mark(0, started)
    wire_log.said(at, texts, None)


def over(game: GameId = GAME, winner: Side | None = FIRST, reason: Reason = Reason.FOUR) -> Ended:
    return Ended(game, Board(), winner, reason)


def end(wire_log: WireLog, *texts: str, game: GameId = GAME, at: float = 9.0) -> None:
    """Let the game end, of which the client is told in `texts`."""
    ended = over(game)
    wire_log.note(at, ended)
    wire_log.mark(0, ended)
    wire_log.said(at, texts, None)


# One game.


def test_game_is_recorded_from_what_tells_of_its_beginning_to_what_tells_of_its_end() -> None:
    wire_log, kept = recording()
    wire_log.heard(0.1, "join")
    wire_log.said(0.2, ["joined"], None)
    begin(wire_log, "new game", "your move", side=SECOND, at=1.0)
    wire_log.heard(1.5, "put 3")
    wire_log.said(2.0, ["put 4", "your move"], None)
    end(wire_log, "lost", at=3.0)
    wire_log.heard(3.5, "join again")
    wire_log.said(4.0, ["joined"], None)
    wire_log.close(5.0)
    assert kept.enclosed == [
        (
            GAME,
            SECOND,
            [
                (0.0, "out", "new game", None),
                (0.0, "out", "your move", None),
                (0.5, "in", "put 3", None),
                (1.0, "out", "put 4", None),
                (1.0, "out", "your move", None),
                (2.0, "out", "lost", None),
                (2.0, "note", "", "lost: the opponent has four in a row"),
            ],
        )
    ]


def test_text_that_arrived_before_the_game_began_here_is_at_its_beginning() -> None:
    wire_log, kept = recording()
    wire_log.note(1.0, Started(GAME, FIRST, NAMES))
    wire_log.heard(0.9, "put 3")
    wire_log.note(2.0, over())
    wire_log.close(2.0)
    assert kept.lines[0] == (0.0, "in", "put 3", None)


def test_what_leaves_together_with_the_beginning_but_before_it_is_no_part_of_the_game() -> None:
    (wire_log, kept), started = recording(), Started(GAME, FIRST, NAMES)
    wire_log.note(1.0, started)
    wire_log.mark(1, started)
    wire_log.said(0.0, ["joined", "new game"], None)
    end(wire_log)
    assert kept.texts == ["new game"]


def test_verdict_stands_at_the_text_that_it_is_about_and_none_is_kept_before_a_game() -> None:
    wire_log, kept = recording()
    wire_log.note(1.0, Refused(Objection.WAITING))
    wire_log.note(1.0, Overlooked(NEXT))
    begin(wire_log)
    for text in ("a", "b"):
        wire_log.heard(1.0, text)
    wire_log.note(1.0, Refused(Objection.COLUMN_FULL))
    wire_log.said(1.0, ["no"], None)
    wire_log.note(1.0, Refused(Objection.UNREADABLE))
    wire_log.heard(1.0, "c")
    wire_log.note(1.0, Overlooked(NEXT))
    end(wire_log)
    assert kept.lines[:-1] == [
        (1.0, "in", "a", None),
        (1.0, "in", "b", Objection.COLUMN_FULL),
        (1.0, "out", "no", None),
        (1.0, "in", "c", "dropped: for a game that was over"),
    ]


@pytest.mark.parametrize("rest", [41.5, None])
@pytest.mark.parametrize("texts", [["state"], ["put 3", "your move"]])
def test_clock_that_is_left_stands_at_the_text_with_which_the_move_is_asked_for(
    texts: list[str], rest: float | None
) -> None:
    wire_log, kept = recording()
    begin(wire_log)
    wire_log.said(1.0, texts, ToMove(GAME, 1, Board(), rest))
    end(wire_log)
    assert [remark for _, _, _, remark in kept.lines[:-1]] == [*[None] * (len(texts) - 1), rest]


@pytest.mark.parametrize(
    ("winner", "reason", "first", "second"),
    [
        (FIRST, Reason.FOUR, "won: four in a row", "lost: the opponent has four in a row"),
        (SECOND, Reason.TIME, "lost on time", "won: the opponent's time was up"),
        (FIRST, Reason.LEFT, "won: the opponent left", "lost by leaving"),
        (SECOND, Reason.ILLEGAL, "lost by an illegal move", "won: the opponent's move was illegal"),
        (None, Reason.FULL, *["nobody won: full board"] * 2),
        (
            None,
            Reason.ABORTED,
            "aborted: this player left before both had moved",
            "aborted: the opponent left before both had moved",
        ),
    ],
)
def test_end_stands_as_a_note_in_words(winner: Side | None, reason: Reason, first: str, second: str) -> None:
    for side, words in ((FIRST, first), (SECOND, second)):
        wire_log, kept = recording()
        begin(wire_log, side=side)
        ended = Ended(GAME, Board(), winner, reason, None, FIRST)
        wire_log.note(1.0, ended)
        wire_log.mark(0, ended)
        wire_log.said(1.0, ["gone"], None)
        assert kept.notes == [words]


# Ends that cannot be told.


def test_client_that_is_gone_has_what_there_is_handed_in() -> None:
    wire_log, kept = recording()
    begin(wire_log, "new game")
    wire_log.remark(1.0, "hung up")
    wire_log.note(1.0, over(GAME, SECOND, Reason.LEFT))
    assert kept.enclosed == []
    wire_log.close(2.0)
    wire_log.close(3.0)
    assert kept.texts == ["new game"]
    assert kept.notes == ["hung up", "lost by leaving"]


def test_game_without_a_result_is_forgotten_with_its_client() -> None:
    wire_log, kept = recording()
    begin(wire_log, "new game")
    wire_log.note(0.5, ToMove(GAME, 1, Board(), None))  # which says nothing of it
    wire_log.close(1.0)
    wire_log.remark(2.0, "nobody is there")
    wire_log.heard(2.0, "nothing")
    assert kept.enclosed == []


# Several games.


def test_while_an_end_waits_to_be_told_what_comes_in_is_of_the_newest_game() -> None:
    wire_log, kept = recording()
    begin(wire_log, "new game")
    first = over()
    wire_log.note(1.0, first)
    wire_log.heard(1.0, "too late")
    second = Started(NEXT, SECOND, NAMES)
    wire_log.note(1.5, second)
    wire_log.heard(2.0, "too early")
    wire_log.note(2.0, Refused(Objection.NOT_YOUR_TURN))
    wire_log.mark(0, first)
    wire_log.mark(1, second)
    wire_log.said(3.0, ["lost", "new game", "your move"], ToMove(NEXT, 1, Board(), 42.0))
    end(wire_log, "won", game=NEXT)
    (one, _, first_lines), (two, _, second_lines) = kept.enclosed
    assert (one, two) == (GAME, NEXT)
    assert [text for _, way, text, _ in first_lines if way != "note"] == ["new game", "too late", "lost"]
    assert second_lines[:-1] == [
        (0.5, "in", "too early", Objection.NOT_YOUR_TURN),
        (1.5, "out", "new game", None),
        (1.5, "out", "your move", 42.0),
        (7.5, "out", "won", None),
    ]


@given(
    st.lists(st.lists(st.lists(st.text(max_size=3), max_size=3), min_size=2, max_size=5), max_size=5),
    st.data(),
)
def test_each_game_has_its_own_texts_however_they_leave_together(
    games: list[list[list[str]]], data: st.DataObject
) -> None:
    """Each game is the texts of its events, the first and last of which are its beginning and its end."""
    wire_log, kept = recording()
    batch: list[str] = []
    for game in games:
        for number, texts in enumerate(game):
            event = {0: Started(GAME, FIRST, NAMES), len(game) - 1: over()}.get(number)
            if event is not None:
                wire_log.note(1.0, event)
                wire_log.mark(len(batch), event)
            batch += texts
            if data.draw(st.booleans()):
                wire_log.said(0.0, batch, None)
                batch = []
    wire_log.said(0.0, batch, None)
    assert [[text for _, way, text, _ in lines if way != "note"] for _, _, lines in kept.enclosed] == [
        [text for texts in game for text in texts] for game in games
    ]


# Bounds.


def recorded(count: int, text: str = "x") -> list[Spoken]:
    wire_log, kept = recording()
    begin(wire_log)
    for at in range(count):
        if at % 2:
            wire_log.said(at, [text], None)
        else:
            wire_log.heard(at, text)
    end(wire_log)
    return kept.lines


@pytest.mark.parametrize("more", [-1, 0, 1, 50, 1000])
def test_beginning_and_end_of_a_long_game_are_kept_and_the_gap_is_told(more: int) -> None:
    lines = recorded(HEAD + TAIL + more)
    times = [at for at, way, _, remark in lines if way != "note"]
    assert times == [*range(HEAD), *range(HEAD + more + 1, HEAD + TAIL + more)]
    gap = [(HEAD + more + 1, "note", "", f"{more + 1} lines left out")] if more >= 0 else []
    assert lines[HEAD:-1][: len(gap)] == gap
    assert len(lines) == len(times) + len(gap) + 1


@pytest.mark.parametrize(("way", "limit"), [(0, SHORT), (1, LONGEST)])
def test_long_text_is_cut_when_it_is_recorded_and_its_length_told(way: int, limit: int) -> None:
    line = recorded(2, "a" * 5000)[way]
    assert line[2] == "a" * limit + "... (5000 characters)"
    assert recorded(2, "a" * limit)[way][2] == "a" * limit


def test_game_without_mistakes_is_kept_whole() -> None:
    assert {text for _, way, text, _ in recorded(140, "a" * SHORT) if way != "note"} == {"a" * SHORT}
    wire_log, kept = recording()
    begin(wire_log, *["a" * 300] * 70)
    end(wire_log)
    assert kept.texts == ["a" * 300] * 70


@pytest.mark.parametrize("length", [SHORT + 1, LONGEST, 5000])
def test_tape_of_many_long_texts_has_short_ones_and_a_bound_for_all_of_it(length: int) -> None:
    lines = recorded(2000, "\u4e00" * length)
    assert sum(len(text) for _, _, text, _ in lines) < 1.1 * FULL
    wire_log, kept = recording()
    begin(wire_log, *["a" * length] * 299)
    wire_log.said(1.0, ["a" * length], ToMove(GAME, 1, Board(), 41.5))
    end(wire_log)
    assert kept.texts[-1] in ("a" * length, "a" * SHORT + "...")
    assert kept.lines[-2][3] == 41.5
    assert sum(map(len, kept.texts)) < 1.1 * FULL


@pytest.mark.parametrize(("said", "heard"), [(1, 0), (0, 3), (1, 3)])
def test_no_client_makes_a_wire_log_grow_beyond_its_bound(said: int, heard: int) -> None:
    wire_log, _ = recording()
    begin(wire_log)
    tracemalloc.start()
    for at in range(2000):
        for _ in range(said):
            wire_log.heard(at, f"{at}" + "x" * 10_000)
        if heard:
            wire_log.said(at, [f"{at}" + "y" * 10_000] * heard, None)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 400_000


def test_what_is_to_be_hidden_of_the_client_s_texts_is_not_handed_in() -> None:
    kept = Kept()
    wire_log = WireLog(kept, lambda text: text.replace("secret", "..."))
    begin(wire_log, "new game for secret")
    wire_log.heard(0.5, "name ann secret")
    end(wire_log, "lost")
    assert [text for _, way, text, _ in kept.lines if way == "in"] == ["name ann ..."]
    assert kept.lines[0][2] == "new game for secret"
