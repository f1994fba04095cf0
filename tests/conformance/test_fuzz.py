"""Every reader stands whatever it is given, and the hunt tells of one that does not."""

import json
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from frame_strategies import streams
from hypothesis import given
from hypothesis import strategies as st
from worlds.hub import Heard

from conformance.__main__ import main
from conformance.lab.fuzz import judge, visits
from conformance.lab.fuzz.command import MOST_KEPT, Row, readable
from conformance.lab.fuzz.targets import TARGETS, Target
from conformance.lab.reading.search import texts
from gateway.game.encoding import decode_command, decode_event
from gateway.game.results import Finished
from gateway.hub.hub import Hub
from gateway.store.evidence import unpack
from gateway.store.formats import jsonl

READERS = [TARGETS[name] for name in TARGETS if name != "visits"]
dialects = st.sampled_from(["nac4", "arena", "droidcon"])
pieces = st.lists(st.tuples(st.sampled_from([0, 1]), streams), max_size=6)


@pytest.mark.parametrize("target", READERS, ids=lambda target: target.name)
@given(data=st.binary(max_size=200) | streams)
def test_reader_takes_any_bytes(target: Target, data: bytes) -> None:
    target.try_(data)


@given(dialects.flatmap(lambda dialect: st.tuples(st.just(dialect), texts(dialect, 300))))
def test_reader_of_a_dialect_takes_any_text(about: tuple[str, str]) -> None:
    dialect, text = about
    TARGETS[dialect].try_(text.encode("utf-8", "surrogateescape"))


@given(st.sampled_from([1, 2]), st.sampled_from([0, 1, 2]), pieces)
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


@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("second", range(3))
def test_visit_plays_a_game_to_its_end(first: int, second: int, monkeypatch: pytest.MonkeyPatch) -> None:
    over: list[Finished] = []
    monkeypatch.setattr(visits, "Hub", lambda *about: Hub(*about, Heard(over.append)))
    visits.visits(list(TARGETS["visits"].seeds(False))[3 * first + second])
    assert [str(found.reason.name) for found in over][:1] == ["FOUR"]


def test_lines_that_depend_on_their_pieces_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = iter(["a", "b"])
    monkeypatch.setattr("conformance.lab.fuzz.texts.Lines.end", lambda self: [next(ends)])
    with pytest.raises(AssertionError):
        TARGETS["lines"].try_(b"NAME ann\n")


# What was found is judged.


def test_judge_tells_the_worst_of_each_length_and_what_is_kept() -> None:
    kept: list[bytes] = []
    found = judge.judged(Target(kept.append, lambda _: iter(()), 1, len), [b"a", b"b" * 9_000])
    assert found["worst"].keys() == {4096, 65_536}
    assert len(kept) == 2 * (1 + judge.ROUNDS)
    assert judge.judged(Target(kept.append, lambda _: iter(()), 1), [b"a"])["worst"] == {}


@pytest.mark.parametrize(
    ("row", "missed"),
    [
        (Row("arena", 7, 1.0, {4096: 2.0, 65_536: 15.0}, MOST_KEPT), []),
        (Row("arena", 7, 1.0, {4096: 2.1, 65_536: 1.0}), ["4096 bytes took 2.1 ms"]),
        (Row("arena", 7, 1.0, {}, 2**20), ["1024 KB kept"]),
        (
            Row("arena", 7, 1.0, faults={"KeyError in maps.py, line 3": "00ff"}),
            ["KeyError in maps.py, line 3"],
        ),
    ],
)
def test_fault_slowness_and_growth_are_missed(row: Row, missed: list[str]) -> None:
    assert row.missed == missed


def test_faults_are_told_with_the_bytes_that_made_them() -> None:
    rows = [Row("nac4", 10, 2.0, {4096: 0.1, 65_536: 1.0}), Row("heads", 5, 0.0, faults={"KeyError": "00ff"})]
    text = readable(rows, 3.0)
    assert "15 inputs in 3 s, faults: 1." in text
    assert text.splitlines()[-2:] == ["MISSED heads: KeyError", "  b'\\x00\\xff', 2 bytes"]
    assert max(map(len, text.splitlines())) <= 110


def test_without_atheris_a_line_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    assert main(["fuzz"]) == 1
    assert capsys.readouterr().err == "conformance: fuzzing needs atheris: pip install '.[fuzz]'\n"


@pytest.mark.parametrize("words", [["--inputs", "0"], ["--only", "nac5"], ["more"]])
def test_bad_usage_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", *words]) == 2
    assert capsys.readouterr().err.endswith("(--help tells more)\n")


# The hunt.


class EndedError(Exception):
    """Stands for the end of the process."""


def end(status: int) -> NoReturn:
    raise EndedError


def test_hunt_goes_on_behind_a_fault_and_tells_the_first_of_each_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("atheris")
    from conformance.lab.fuzz import hunter  # noqa: PLC0415  not where atheris is missing

    def reader(data: bytes) -> None:
        try:
            int(data)
        except ValueError as error:
            if data.startswith(b"a"):
                raise ExceptionGroup("wrapped", [error]) from None
            raise KeyError(data) from None

    monkeypatch.setattr("os._exit", end)
    hunt = hunter.Hunt(reader, 4, tmp_path)
    for data in (b"ab", b"7", b"x"):
        hunt.try_(data)
    with pytest.raises(EndedError):
        hunt.try_(b"y")
    told = json.loads(capsys.readouterr().out)
    assert told["tried"] == 4
    assert list(told["faults"].values()) == [b"ab".hex(), b"x".hex()]
    assert {path.read_bytes() for path in tmp_path.iterdir()} >= {b"ab", b"7", b"x", b"y"}


@pytest.mark.parametrize(
    ("left", "fault"),
    [
        ("crash-1", {"the process ended with status 77": "00ff"}),
        ("1", {"the process ended with status 77 no room": ""}),
    ],
)
def test_input_that_ends_the_process_is_the_fault(left: str, fault: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    from conformance.lab.fuzz import hunter  # noqa: PLC0415  not where atheris is missing

    folder = tmp_path / "inputs"
    folder.mkdir()
    (folder / left).write_bytes(b"\x00\xff")
    (tmp_path / "inputs.log").write_text("no\nroom\n")
    assert hunter.ended(folder, 77) == {"tried": 0, "seconds": 0.0, "faults": fault}


@pytest.mark.lab
def test_short_hunt_finds_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("atheris")
    file = tmp_path / "fuzz.json"
    # How fast it is here is no matter of this test, nor what a busy machine takes for 64 KB.
    main(["fuzz", "--inputs", "10000", "--only", "arena", "--json", str(file)])
    rows = json.loads(file.read_text())["rows"]
    assert sum(row["tried"] for row in rows) >= 10_000
    assert [row["faults"] for row in rows if row["faults"]] == []
    assert "faults: 0" in capsys.readouterr().out
