"""Every reader stands whatever it is given, and the hunt tells of one that does not."""

from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from frame_strategies import streams
from hypothesis import given
from hypothesis import strategies as st
from worlds.hub import Heard

from conformance.lab.fuzz import command as judge
from conformance.lab.fuzz import visits
from conformance.lab.fuzz.readers import GOALS, TARGETS, Target
from conformance.lab.texts import EDN_PIECES, FRAMES, PIECES, hard_texts, repeated, talk_for
from conformance.lab.workers import worker
from gateway.game.encoding import decode_command, decode_event
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.store.evidence import unpack
from gateway.store.formats import jsonl

READERS = [TARGETS[name] for name in TARGETS if name != "visits"]
DIALECTS = ("nac4", "arena", "droidcon", "i32cfsp")
LENIENCE = 10
"""A bound on time has to hold on a machine that does other things too, so it is so many times the goal."""
STEPS = {4096: 7, 65_536: 47}
"""Of so many hand-made texts one is read here, another one for each piece and frame."""
pieces = st.lists(st.tuples(st.sampled_from([0, 1]), streams), max_size=6)


@pytest.mark.parametrize("target", READERS, ids=lambda target: target.name)
@given(data=st.binary(max_size=200) | streams)
def test_reader_takes_any_bytes(target: Target, data: bytes) -> None:
    target.try_(data)


@st.composite
def texts(draw: st.DrawFn, dialect: str, length: int) -> str:
    """Return a text of at most this length: a few kinds of pieces in a frame, repeated."""
    before, behind = draw(st.sampled_from(FRAMES[dialect]))
    room, unit = length - len(before) - len(behind), ""
    for piece in draw(st.lists(st.sampled_from(PIECES[dialect]), min_size=1, max_size=6)):
        unit += repeated(piece, min(room - len(unit), draw(st.integers(1, length))))
    return before + unit + behind


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_reader_of_a_dialect_takes_any_text(dialect: str, data: st.DataObject) -> None:
    TARGETS[dialect].try_(data.draw(texts(dialect, 300)).encode("utf-8", "surrogateescape"))


def too_slow(dialect: str, length: int, some: Iterable[str]) -> list[str]:
    """Return the beginnings of the texts that take longer than a text of this length may."""
    reads, most = TARGETS[dialect].reads, LENIENCE * GOALS[length]
    assert reads is not None
    return [
        text[:40] for text in some if judge.cost(reads, text.encode("utf-8", "surrogateescape"), most) > most
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("length", GOALS)
def test_no_text_made_by_hand_takes_long(dialect: str, length: int) -> None:
    some = islice(hard_texts(dialect, length), 0, None, STEPS[length])
    assert too_slow(dialect, length, some) == []


@pytest.mark.parametrize(("before", "behind"), [("", ""), ("{:a #{", "}}")])
def test_nothing_repeated_in_edn_takes_long(before: str, behind: str) -> None:
    """As 4 KB of zeros once did: 0.5 s."""
    some = [before + repeated(piece, 4096 - 8) + behind for piece in EDN_PIECES]
    assert too_slow("arena", 4096, some) == []


@given(texts("arena", 4096))
def test_no_text_that_is_put_together_takes_long(text: str) -> None:
    assert too_slow("arena", 4096, [text]) == []


@pytest.mark.parametrize("dialect", DIALECTS)
def test_texts_have_the_length_that_was_asked_for(dialect: str) -> None:
    assert max(len(text) for text in islice(hard_texts(dialect, 4096), 0, None, 5)) == 4096


def test_forms_with_a_number_are_all_different_and_hash_alike() -> None:
    same = repeated("#h ", 4096).split()
    assert len({int(number) for number in same}) == len(same) > 100
    assert len({hash(int(number)) for number in same}) == 1
    assert repeated(":a#i ", 4096, 3) == ":a0 :a1 :a2 "


@pytest.mark.parametrize("port", [*DIALECTS, "web"])
def test_talks_are_the_same_again_for_the_same_seed(port: str) -> None:
    one, again, other = ([talk_for(port, Random(f"{seed}{at}")) for at in range(100)] for seed in "aab")
    assert one == again != other
    assert all(one)


@given(st.sampled_from([1, 2, 3]), st.sampled_from([0, 1, 2, 3]), pieces)
def test_adapters_take_any_frames(first: int, second: int, said: list[tuple[int, bytes]]) -> None:
    visits.visits(visits.script(first, second, said))


@pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)
@pytest.mark.parametrize("is_long", [False, True])
def test_reader_takes_what_it_is_given_first(target: Target, is_long: bool) -> None:
    some = list(target.seeds(is_long))
    for data in some[:: max(1, len(some) // 4)]:
        target.try_(data)


def test_what_readers_are_given_first_can_be_read() -> None:
    values = list(TARGETS["events"].seeds(False))
    assert (
        len([decode_event(data) for data in values[:6]] + [decode_command(data) for data in values[6:]]) == 11
    )
    assert sum(len(jsonl.read(line)) for line in TARGETS["games"].seeds(False)) == 5
    assert len(unpack(next(TARGETS["exchanges"].seeds(False)))) == 3


@pytest.mark.parametrize("first", range(len(visits.KINDS)))
@pytest.mark.parametrize("second", range(len(visits.KINDS)))
def test_visit_plays_a_game_to_its_end(first: int, second: int, monkeypatch: pytest.MonkeyPatch) -> None:
    over: list[Finished] = []
    monkeypatch.setattr(visits, "Hub", lambda *about: Hub(*about, Heard(over.append)))
    visits.visits(list(TARGETS["visits"].seeds(False))[len(visits.KINDS) * first + second])
    assert [str(found.reason.name) for found in over][:1] == ["FOUR"]


def test_lines_that_depend_on_their_pieces_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter(["a", "b"])
    monkeypatch.setattr("conformance.lab.fuzz.readers.Lines.end", lambda self: [next(ends)])
    with pytest.raises(AssertionError):
        TARGETS["lines"].try_(b"NAME ann\n")


# What was found is judged.


def test_judge_tells_the_worst_of_each_length_and_what_is_kept() -> None:
    kept: list[bytes] = []
    worst, _ = judge.judged(Target(kept.append, lambda _: iter(()), 1, len), [b"a", b"b" * 9_000])
    assert worst.keys() == {4096, 65_536}
    assert len(kept) == 2 * (1 + judge.ROUNDS)
    assert judge.judged(Target(kept.append, lambda _: iter(()), 1), [b"a"])[0] == {}


# The hunt.


@pytest.mark.parametrize(
    ("left", "fault"),
    [
        ("crash-1", {"the process ended with status 77": b"\x00\xff"}),
        ("1", {"the process ended with status 77 no room": b""}),
    ],
)
def test_input_that_ends_the_process_is_the_fault(left: str, fault: dict[str, bytes], tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    from conformance.lab.fuzz import hunter  # noqa: PLC0415  not where atheris is missing

    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / left).write_bytes(b"\x00\xff")
    (tmp_path / "inputs.log").write_text("no\nroom\n")
    assert hunter.ended(folder, 77) == hunter.Found(faults=fault)


FAULTY = """
from adapters.nac4 import codec
from conformance.lab.fuzz.hunter import hunt as usual
def decode(self, text):
    raise KeyError(text)
def hunt(*arguments):
    codec.Nac4Codec.decode = decode
    usual(*arguments)
"""


async def hunted(job: Callable[..., None], name: str, folder: Path) -> Any:
    """Return what short hunts find."""
    async with worker(job, name, folder, 1, ((300, 4096), (20, 65_536))) as hunter:
        return [await hunter.receive(), await hunter.receive()]


@pytest.mark.lab
async def test_hunt_goes_on_behind_a_fault_and_tells_the_first_of_each_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("atheris")
    (tmp_path / "faulty_hunt.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    short, long = await hunted(import_module("faulty_hunt").hunt, "nac4", tmp_path / "inputs")
    assert (short.tried, long.tried) == (300, 20)
    (fault,) = short.faults
    assert fault.startswith("KeyError in faulty_hunt.py, line ")
    assert any((tmp_path / "inputs").glob("slow-300-*"))
