"""What the bot shows: boards, summaries, signs; and what it reads of its command line."""

import math
from pathlib import Path

import pytest

from adapters.bot.bot import sought
from adapters.bot.options import parse
from adapters.bot.screen import Screen, Totals, draw
from adapters.client.dial import Endpoint, endpoint_in
from adapters.client.talk import Began, Over, Result
from gateway import __version__
from gateway.game.board import FIRST, SECOND, Board, Side

# Boards.


def test_board_stands_on_its_bottom_and_the_last_disc_is_marked() -> None:
    board = Board().drop(3).drop(3).drop(0)
    assert draw(board).splitlines() == [
        " .  .  .  .  .  .  . ",
        " .  .  .  .  .  .  . ",
        " .  .  .  .  .  .  . ",
        " .  .  .  .  .  .  . ",
        " .  .  .  O  .  .  . ",
        "(X) .  .  X  .  .  . ",
        " 0  1  2  3  4  5  6 ",
    ]


@pytest.mark.parametrize("text", ["a\x1b[2Jb", "a\nb", "a\udcffb", "a\u202eb", "a\u3164b"])
def test_what_nobody_sees_reaches_the_terminal_as_an_escape(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Screen(shows_games=True)
    screen.connected(text, text)
    screen.began(Began(opponent=text))
    screen.over(Over(Result.LOST, Board(), why=text))
    screen.warn(text)
    said = capsys.readouterr()
    escaped = ascii(text)[1:-1]
    assert said.out.count(escaped) == 4
    assert said.err == f"c4bot: {escaped}\n"
    assert text not in said.out


def test_game_is_shown_to_those_who_watch(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(shows_games=True)
    screen.connected("host:1", "ann")
    screen.began(Began(FIRST, "bob"))
    screen.tell("your column: ")
    screen.over(Over(Result.LOST, Board(), SECOND, "out of time"))
    out, err = capsys.readouterr()
    assert err == ""
    assert "against bob; you are X, moving first" in out
    assert "your column: \n" in out
    assert out.endswith("lost, as O, moving second (out of time)\n")


# Summaries.


def totals(*games: tuple[Result, Side | None], wanted: int = 0) -> Totals:
    found = Totals(wanted)
    for result, side in games:
        found.add(Over(result, Board().drop(0).drop(1), side))
    return found


def test_summary_tells_results_sides_and_time() -> None:
    counted = totals((Result.WON, FIRST), (Result.WON, FIRST), (Result.LOST, SECOND), (Result.DRAWN, SECOND))
    counted.moved(1.0)
    counted.moved(2.0)
    assert counted.summary().splitlines() == [
        "4 games: 2 won, 1 lost, 1 drawn",
        "moving first, 2 games: 2 won, 0 lost, 0 drawn",
        "moving second, 2 games: 0 won, 1 lost, 1 drawn",
        "mean time a move: 1.500 s",
    ]


def test_game_that_the_opponent_left_is_played_and_not_won() -> None:
    counted = Totals(1)
    counted.add(Over(Result.LEFT, Board(), FIRST))
    assert counted.is_complete
    assert counted.summary().splitlines()[0] == "1 game: 0 won, 0 lost, 0 drawn, 1 left by the opponent"


def test_game_that_was_cut_off_is_not_played() -> None:
    counted = totals((Result.CUT_OFF, FIRST), wanted=1)
    assert (counted.played, counted.begun, counted.is_complete) == (0, 1, False)
    assert counted.summary().splitlines() == [
        "0 games: 0 won, 0 lost, 0 drawn",
        "cut off before their end: 1",
    ]


def test_games_are_complete_at_their_number_and_never_without_one() -> None:
    assert not totals((Result.WON, FIRST), wanted=2).is_complete
    assert totals((Result.WON, FIRST), (Result.DRAWN, None), wanted=2).is_complete
    assert not totals(*[(Result.WON, FIRST)] * 100).is_complete


# Addresses.


@pytest.mark.parametrize(
    ("text", "has_urls", "address"),
    [
        ("127.0.0.1:4242", False, Endpoint("127.0.0.1", 4242)),
        ("localhost", False, Endpoint("localhost", 4242)),
        ("[::1]:5", False, Endpoint("::1", 5)),
        ("host:1", True, Endpoint("host", 1)),
        ("host", True, Endpoint("host", 4242)),
        ("ws://host", True, Endpoint("host", 80)),
        ("ws://host:1/a b", True, None),
        ("ws://host:1/?table=x", True, Endpoint("host", 1, "/?table=x")),
        ("ws://host:1/é?x=ü", True, Endpoint("host", 1, "/%C3%A9?x=%C3%BC")),
        ("ws://host:1", False, None),
        ("host:1/x", False, None),
        ("wss://host:1/?table=x", True, Endpoint("host", 1, "/?table=x", is_tls=True)),
        ("wss://host", True, Endpoint("host", 443, is_tls=True)),
        ("tls://host:1", False, Endpoint("host", 1, is_tls=True)),
        ("tls://[::1]", False, Endpoint("::1", 4242, is_tls=True)),
        ("wss://host:1", False, None),
        ("tls://host:1", True, None),
        ("tls://host:1/x", False, None),
        ("http://host:1", True, None),
        ("ws://", True, None),
        ("ws://me@host:1", True, None),
        ("ws://ws://host:1", True, None),
        ("host:", False, None),
        ("", False, None),
        (":1", False, None),
        ("host:0", False, None),
        ("host:65536", False, None),
        ("host:x", True, None),
        ("[::1", True, None),
        ("host\n:1", True, None),
    ],
)
def test_address_is_host_and_port_or_refused(text: str, has_urls: bool, address: Endpoint | None) -> None:
    if address is None:
        with pytest.raises(ValueError):
            endpoint_in(text, 4242, has_urls=has_urls)
    else:
        assert endpoint_in(text, 4242, has_urls=has_urls) == address


def test_what_is_asked_for_is_added_to_the_url() -> None:
    assert Endpoint("h", 1).url(table=None, against="a b&c") == "ws://h:1/?against=a+b%26c"
    assert Endpoint("h", 1, "/x?y=z").url(table="t") == "ws://h:1/x?y=z&table=t"
    assert Endpoint("::1", 1).url() == "ws://[::1]:1/"
    assert Endpoint("h", 1, is_tls=True).url() == "wss://h:1/"


# Options.


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line that says what is wrong."""
    with pytest.raises(SystemExit) as stop:
        parse(arguments)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.startswith("c4bot: error: ")
    return err


def test_agent_s_file_is_executed_once(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        f"with open({str(tmp_path / 'runs')!r}, 'a') as runs: runs.write('x')\ndef agent(o): return 3"
    )
    player = parse(["droidcon", "host", "--engine", f"kaggle:{tmp_path / 'agent.py'}"]).engine
    assert player is not None
    assert (player.engine(Board(), 1.0), player.pace) == (3, math.inf)
    assert (tmp_path / "runs").read_text() == "x"


def test_only_dialect_and_address_are_needed() -> None:
    options = parse(["droidcon", "host"])
    entry = options.entry
    assert (options.dialect.name, entry.address, options.games) == ("droidcon", Endpoint("host", 4242), 1)
    assert (entry.against, entry.table, entry.encoding) == (None, None, None)
    assert (options.reconnect, options.verbose) == (False, False)
    assert entry.name.startswith("c4bot-")
    assert options.engine is not None
    assert options.engine.think is None
    assert options.seed is None


@pytest.mark.parametrize(
    ("engine", "pace"),
    [
        ("aima10", math.inf),
        ("mc:100000", math.inf),
        ("mctime", 1.0),
        ("mctstime", 1.0),
        ("paced_engine:play", 1.0),
    ],
)
def test_engine_that_limits_itself_has_the_time_it_takes(
    engine: str, pace: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paced_engine.py").write_text("def play(board, seconds): ...")
    monkeypatch.syspath_prepend(tmp_path)
    player = parse(["droidcon", "host", "--engine", engine, "--think", "5"]).engine
    assert player is not None
    assert (player.think, player.pace) == (5.0, pace)


def test_dialect_is_also_named_as_the_option_of_the_server() -> None:
    assert parse(["tcp", "host", "--engine", "manual"]) == parse(["droidcon", "host", "--engine", "manual"])


@pytest.mark.parametrize(
    ("arguments", "whom", "words"),
    [
        ("nac4 ws://h:1", "an opponent", ["two players called 'ann'", "20 times"]),
        ("arena ws://h:1", "an opponent", ["two players called 'ann'"]),
        ("nac4 ws://h:1 --table t", "another player at the table 't'", ["same table", "20 times"]),
        ("arena ws://h:1/?table=a%20b", "another player at the table 'a b'", ["same table"]),
        ("arena ws://h:1?against=Bob", "'Bob'", ["upper and lower case", "'ann'"]),
        ("nac4 ws://h:1 --against Bob", "'Bob'", ["upper and lower case", "'ann'"]),
        ("droidcon h:1 --against bob", "'bob'", ["upper or lower case", "'ann'"]),
        ("nac4 ws://h:1 --against ann", "'ann'", ["one name"]),
        ("droidcon h:1 --against ANN", "'ANN'", ["one name"]),
        ("droidcon h:1 --name test", "an opponent", []),
    ],
)
def test_bot_says_whom_it_waits_for_and_why_that_may_take_long(
    arguments: str, whom: str, words: list[str]
) -> None:
    dialect, address, *rest = arguments.split()
    options = parse([dialect, address, "--name", "ann", *rest])
    found, reason = sought(options.entry, options.dialect)
    assert found == whom
    assert [each for each in words if each not in reason] == []
    assert ("20 times" in reason) == ("20 times" in words)
    assert bool(reason) == bool(words)


@pytest.mark.parametrize(
    ("word", "arguments"),
    [
        ("DIALECT", []),
        ("ADDRESS", ["nac4"]),
        ("'udp'", ["udp", "host"]),
        ("'host:x'", ["nac4", "host:x"]),
        ("IPv6", ["nac4", "[::1"]),
        ("--encoding", ["nac4", "host", "--encoding", "json"]),
        ("xml", ["arena", "host", "--encoding", "xml"]),
        ("'a b'", ["nac4", "host", "--name", "a b"]),
        ("--name", ["arena", "host", "--name", " "]),
        ("--games", ["droidcon", "host", "--games", "-1"]),
        ("--think", ["droidcon", "host", "--think", "0"]),
        ("--table", ["droidcon", "host", "--table", "x", "--against", "y"]),
        ("--table: i32cfsp", ["i32cfsp", "host", "--table", "x"]),
        ("--against: i32cfsp", ["i32cfsp", "host", "--against", "x"]),
        ("'deep'", ["droidcon", "host", "--engine", "deep"]),
        ("mc:0", ["droidcon", "host", "--engine", "mc:0"]),
        ("no_such_module", ["droidcon", "host", "--engine", "no_such_module:play"]),
        ("--frobnicate", ["droidcon", "host", "--frobnicate"]),
    ],
)
def test_wrong_option_is_one_line_and_status_2(
    word: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert word in refused(capsys, *arguments)


@pytest.mark.parametrize("word", ["--version", "-V", "version"])
def test_version_is_the_packages(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        parse([word])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"c4bot {__version__}\n"
