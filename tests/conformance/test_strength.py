"""`strength`: positions of kinds, and which share of an engine's moves keeps their value."""

import json
from pathlib import Path

import pytest

from conformance.__main__ import main
from conformance.arguments import UsageError
from conformance.lab import strength
from conformance.lab.strength import KINDS, Position, Row, measured, positions, table
from gateway.game.board import Board, board_at


@pytest.mark.parametrize(
    ("discs", "remaining", "kind"),
    [
        (0, 42, "begin-hard"),
        (13, 28, "begin-hard"),
        (13, 27, "begin-medium"),
        (13, 13, "begin-easy"),
        (14, 28, None),
        (27, 14, "middle-medium"),
        (14, 13, "middle-easy"),
        (28, 14, None),
        (41, 1, "end-easy"),
    ],
)
def test_kinds_are_those_of_pons_sets(discs: int, remaining: int, kind: str | None) -> None:
    assert [each.name for each in KINDS if each.has(discs, remaining)] == ([] if kind is None else [kind])


def test_same_seed_deals_the_same_positions_in_which_a_move_can_be_a_mistake() -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    end = KINDS[-1]
    one, again, other = ([*positions(end, 5, seed)] for seed in ("1", "1", "2"))
    assert one == again != other
    for each in one:
        assert 28 <= len(each.board.moves) < 42
        assert each.good < {column for column in range(7) if each.board.has_room(column)}
    assert len({each.board.discs for each in one}) == 5


def test_share_is_that_of_the_moves_that_keep_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "engine_named", lambda name: lambda board, seconds: len(board.moves))
    dealt = {
        "begin-easy": [Position(Board(), frozenset({0})), Position(board_at("1"), frozenset({0, 2}))],
        "end-easy": [Position(board_at("11"), frozenset({2}))],
    }
    row = measured("counter", 0.1, dealt)
    assert row.kept == {"begin-easy": 0.5, "end-easy": 1.0}


def test_table_has_a_line_for_each_engine_and_time() -> None:
    kept = {"begin-easy": 0.5, "end-easy": 1.0}
    assert table([Row("aima", 0.1, kept, 0.0987), Row("mc:100", 0.5, kept, 0.002)]).splitlines() == [
        "engine  given  begin-easy  end-easy  all  s a move",
        "aima    0.1 s          50       100   75     0.099",
        "mc:100  0.5 s          50       100   75     0.002",
    ]


@pytest.mark.lab
def test_perfect_player_keeps_all_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("bitbully", reason="the solver of the extra 'perfect' is not installed")
    report = tmp_path / "report.json"
    words = ["--positions", "2", "--engines", "perfect,random", "--think", "0.01", "--json", str(report)]
    assert main(["strength", *words]) == 0
    perfect, by_lot = json.loads(report.read_text())["rows"]
    assert set(perfect["kept"].values()) == {1.0}
    assert by_lot["engine"] == "random"
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_engine_that_there_is_not_is_a_wrong_option() -> None:
    with pytest.raises(UsageError, match="there is no engine 'deep'"):
        strength.main(["--engines", "deep"])
