"""The options of a match: what stands in its file, and what is refused."""

from pathlib import Path

import pytest

from adapters.match.options import parse
from adapters.match.wired import command, engine
from gateway.match.match import Plan
from gateway.match.sprt import Sprt

BOTH = ("match", "--player", "a=python bot.py {host} {port}", "--player", "b=random")
ENGINES = ("match", "--player", "a=random", "--player", "b=aimafast")


def test_plan_is_all_that_the_match_needs_to_go_on() -> None:
    options, plan = parse([*BOTH, "--seed", "x"])
    assert plan == Plan(
        players=[("a", "python bot.py {host} {port}"), ("b", "random")],
        games=100,
        gauntlet=False,
        clock=42.0,
        idle=60.0,
        think=None,
        strict=False,
        counts_left=False,
        seed="x",
        sprt=None,
        discs=0,
        openings=(),
    )
    assert options.state is None


def plan_of(*words: str) -> Plan:
    _, plan = parse([*ENGINES, *words])
    assert plan is not None
    return plan


def test_hypothesis_is_read() -> None:
    plan = plan_of("--sprt", "elo0=-5", "elo1=5", "alpha=.1", "model=normalized")
    assert plan.sprt == Sprt(-5, 5, 0.1, 0.05, "normalized")
    assert plan.games == 20_000


def test_openings_are_a_number_of_discs_or_a_file(tmp_path: Path) -> None:
    assert plan_of("--openings", "8").discs == 8
    file = tmp_path / "openings"
    file.write_text("4455\n")
    assert plan_of("--openings", str(file)).openings == ["3344"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (ENGINES[:3], "two or more --player"),
        ([*ENGINES, "--player", "a=random"], "with different names"),
        ([*ENGINES, "--player", "c"], "is not NAME=COMMAND"),
        ([*ENGINES, "--player", "c d=random"], "is not NAME=COMMAND"),
        ([*ENGINES, "--player", "c=nobody"], "there is no engine 'nobody'"),
        ([*ENGINES, "--player", "c=./bot 4242"], "needs {port} in it"),
        ([*ENGINES, "--player", "c=./bot '{port}"], "No closing quotation"),
        ([*ENGINES, "--games", "3"], "has to be even"),
        ([*ENGINES, "--player", "c=random", "--sprt"], "a test of two players"),
        ([*ENGINES, "--sprt", "elo2=3"], "--sprt takes elo0=, elo1="),
        ([*ENGINES, "--sprt", "elo0=x"], "'x' is not a number"),
        ([*ENGINES, "--sprt", "elo0=20"], "elo0 has to be less than elo1"),
        ([*ENGINES, "--sprt", "elo1=5000"], "both are from -1000 to 1000"),
        ([*ENGINES, "--sprt", "elo1=inf"], "both are from -1000 to 1000"),
        ([*ENGINES, "--openings", "40"], "30 at most"),
        ([*ENGINES, "--openings", "/nowhere"], "/nowhere"),
        ([*BOTH, "--openings", "8"], "starts from the empty board"),
        (["match", "--resume", "--games", "4"], "--games cannot change"),
        (["match", "--resume", "--strict"], "--strict cannot change"),
        ([*ENGINES, "--strict"], "--strict needs --think"),
        ([*ENGINES, "--player", "c=no_such_module:move"], "No module named 'no_such_module'"),
        ([*ENGINES, "--player", "c=kaggle:/nowhere.py"], "cannot be read: No such file"),
        ([*ENGINES, "--player", "c=azg:/nowhere.py:Player"], "cannot be read: No such file"),
        ([*ENGINES, "--player", "c=ugi:./nowhere --x"], "ugi:./engine or ugi:python engine.py (see "),
        (["match", "--resume", "--jsonl", "./match.jsonl"], "match.jsonl is there twice"),
        ([*ENGINES, "--state", "x", "--pgn", "games", "--json", "games"], "games is there twice"),
        ([*ENGINES, "--pgn", "/nowhere/games"], "no directory /nowhere"),
        ([*ENGINES, "--pgn", "/"], "/ cannot be written"),
        ([*ENGINES, "--jsonl", "/dev"], "/dev cannot be written"),
        ([*ENGINES, "--logs", "/dev/null"], "/dev/null is not a directory"),
    ],
)
def test_what_makes_no_match_is_refused_in_one_line(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(words)
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.startswith("c4gateway match: error: ")
    assert error.count("\n") == 1
    assert why in error


def test_places_in_a_command_are_filled_in_without_a_shell() -> None:
    words = command("'my bot' --at {host}:{port} --name={name} $HOME;", "a", "127.0.0.1", 4000)
    assert words == ["my bot", "--at", "127.0.0.1:4000", "--name=a", "$HOME;"]


def test_engine_on_a_wire_is_played_by_c4bot_without_end() -> None:
    words = engine("mc:10", "a", "127.0.0.1:4000", 0.5)
    assert words[4:] == [
        *("tcp", "127.0.0.1:4000", "--engine", "mc:10", "--name", "a", "--games", "0", "--think", "0.5"),
    ]
