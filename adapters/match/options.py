"""The options of the command ``c4gateway match``."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from adapters.match.wired import command, is_command
from gateway.engines import EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import CATALOGUE, check_engine
from gateway.match import openings
from gateway.match.match import Plan
from gateway.match.sprt import LOGISTIC, MODELS, Sprt
from gateway.options.kinds import Kind, count, seconds
from gateway.options.table import Parser, flag, option, read, several
from gateway.options.terminal import in_one_line

DESCRIPTION = """\
Plays many games between bots, engines, or both, and says how strong they are. Bots are processes that are
started with the number of a port of a private server.
"""
EPILOG = """\
A player is a command with {port} in it, which stands for the port that it has to connect to in whatever
dialect it speaks ({host} and {name} stand for the rest), or an engine. Engines:
ENGINES.

examples:
  c4gateway match --player a='python mybot.py {host} {port}' --player b=aimafast --games 1000
  c4gateway match --player old=mine:old --player new=mine:new --openings 8 --sprt elo0=0 elo1=20
  c4gateway match --resume

The exit status is 0 when all is played or the test is decided, 1 where a player failed, so that there is no
result, the system refused something or the test cannot be decided, 2 for wrong options, 130 after Ctrl-C.
"""
STATE = "match.jsonl"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,31}")
_FIXED = ("player", "games", "gauntlet", "clock", "idle", "think", "strict", "openings", "seed", "sprt")
"""Options that the file of a match keeps, and that cannot change when it is resumed."""
_GAMES, _MOST_WITH_TEST = 100, 20_000
_MOST = 10**7


def _player(text: str) -> tuple[str, str]:
    name, sign, who = text.partition("=")
    if not (sign and who and _NAME.fullmatch(name)):
        raise ValueError(f"{text!r} is not NAME=COMMAND or NAME=ENGINE")
    try:
        if is_command(who):
            command(who, name, "", 0)
        else:
            check_engine(who)
    except (UnknownEngine, EngineUnavailable) as error:
        hint = "; a bot's command needs {port} in it" if " " in who.partition(":")[0] else ""
        raise ValueError(f"{name}: {error}{hint}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return name, who


_PATH = Kind(Path, "FILE")
_SECONDS = seconds(0.001)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options as they are typed. When a match is resumed, the options that its file keeps are None."""

    player: list[tuple[str, str]] | None = several(
        "a player; two of them or more",
        Kind(_player, "NAME=WHO"),
        None,
        heading="who plays, and how often",
    )
    games: int | None = option(
        "games of each two players, an even number",
        count(2, _MOST),
        default_text=f"{_GAMES}; with --sprt at most {_MOST_WITH_TEST}",
    )
    gauntlet: bool | None = flag("only the first player meets all others", default=None)
    sprt: list[str] | None = several(
        "stop when it is decided whether the first player is better by elo1 rather than elo0",
        Kind(str, "KEY=VALUE"),
        None,
        repeats=False,
        takes_many=True,
        default_text=f"elo0=0 elo1=10 alpha=.05 beta=.05 model={LOGISTIC}; or {' or '.join(MODELS[1:])}",
    )
    openings: str | None = option(
        "engines start from balanced positions of N discs, or those of a file with one a line, as 4455",
        Kind(str, "N|FILE"),
    )
    concurrency: int = option("games at once", count(1, 256), 1, heading="how")
    think: float | None = option("most time of an engine for a move", _SECONDS, default_text="what it takes")
    strict: bool | None = flag("an engine that thinks for longer than --think loses the game", default=None)
    recover: bool = flag(
        "count games that a player left, as by a crash, as lost even where these are half of its games"
    )
    clock: float | None = option("as of the server, where it has one", _SECONDS, default_text="42")
    idle: float | None = option("most time for a move in other games", _SECONDS, default_text="60")
    seed: str | None = option("for the same openings once more", Kind(str, "WORD"))
    state: Path | None = option(
        "each game is kept here",
        _PATH,
        heading="what is left of it",
        default_text=f"{STATE}, or match-2.jsonl and so on where there is one",
    )
    resume: bool = flag("go on with the match in that file (the latest of these)")
    logs: Path | None = option(
        "what bots say on stderr, a file each", Kind(Path, "DIR"), default_text="FILE.logs"
    )
    pgn: Path | None = option("write the games here at the end", _PATH)
    jsonl: Path | None = option("write the games here at the end", _PATH)
    json: Path | None = option("write the figures here at the end", _PATH)


def parse(arguments: Sequence[str]) -> tuple[Options, Plan | None]:
    """Return the options and the plan. The plan is None if the match is resumed.

    The options follow the first word of `arguments`. If they are wrong, prints a line on stderr and exits
    with status 2.
    """
    if "" not in sys.path:
        sys.path.append("")  # a user's own engine is in the current directory
    parser = Parser("c4gateway match", DESCRIPTION, EPILOG.replace("ENGINES", CATALOGUE))
    options = read(parser, Options, arguments[1:])
    fixed = [each for each in _FIXED if getattr(options, each) is not None]
    try:
        state = options.state or numbered(0 if options.resume else 1)
        _check_files(options, state)
        if not options.resume:
            return options, _plan(options)
        if fixed:
            raise ValueError(f"--{fixed[0]} cannot change when a match goes on: {state} says what it is")
    except (OSError, ValueError) as error:
        parser.error(in_one_line(error))
    return options, None


def numbered(further: int) -> Path:
    """Return the latest of the default match files in this directory; with `further` 1, the next one."""
    first = Path(STATE)
    pattern = re.compile(rf"{first.stem}(?:-([1-9][0-9]*))?{first.suffix}")
    matched = [pattern.fullmatch(each.name) for each in Path().iterdir()]
    number = max((int(each[1] or 1) for each in matched if each), default=0) + further
    return first if number <= 1 else first.with_stem(f"{first.stem}-{number}")


def _check_files(options: Options, state: Path) -> None:
    """Check that each file can be written and that no two are the same. Raises ValueError."""
    written = [each for each in (options.pgn, options.jsonl, options.json) if each is not None]
    seen = set[str]()
    for file in [state, *written]:
        if not file.parent.is_dir():
            raise ValueError(f"{file}: there is no directory {file.parent}")
        place = os.path.realpath(file)
        if place in seen:
            raise ValueError(
                f"--state, --pgn, --jsonl and --json take a file each, and {file} is there twice"
            )
        seen.add(place)
    for file in written:
        if file.is_dir() or not os.access(file if file.exists() else file.parent, os.W_OK):
            raise ValueError(f"{file} cannot be written")
    if options.logs is not None and options.logs.exists() and not options.logs.is_dir():
        raise ValueError(f"--logs: {options.logs} is not a directory")


def _plan(options: Options) -> Plan:
    """Return the plan of the match that the options describe. Raises OSError, ValueError."""
    players = options.player or []
    if len(players) < 2 or len({name for name, _ in players}) < len(players):
        raise ValueError("a match needs two or more --player NAME=WHO, with different names")
    games = options.games or (_GAMES if options.sprt is None else _MOST_WITH_TEST)
    if games % 2:
        raise ValueError("--games has to be even: each opening is played with both colours")
    if options.strict and options.think is None:
        raise ValueError("--strict needs --think, the time that engines have to keep to")
    if options.sprt is not None and len(players) > 2:
        raise ValueError("--sprt is a test of two players")
    sprt = None if options.sprt is None else _sprt(options.sprt)
    as_typed = {key: getattr(options, key) for key in ("gauntlet", "clock", "idle", "think", "strict")}
    return Plan(
        players=players,
        games=games,
        counts_left=options.recover,
        seed=options.seed or os.urandom(4).hex(),
        sprt=sprt,
        **{key: value for key, value in as_typed.items() if value is not None},
        **({} if options.openings is None else _openings(options.openings, players)),
    )


def _sprt(words: Sequence[str]) -> Sprt:
    figures: dict[str, Any] = {each.name: each.default for each in fields(Sprt)}
    for word in words:
        key, _, value = word.partition("=")
        if key not in figures:
            raise ValueError(f"--sprt takes {', '.join(f'{each}=' for each in figures)}, not {word!r}")
        try:
            figures[key] = value if key == "model" else float(value)
        except ValueError:
            raise ValueError(f"--sprt {key}: {value!r} is not a number") from None
    try:
        return Sprt(**figures)
    except ValueError as error:
        raise ValueError(f"--sprt: {error}") from None


def _openings(text: str, players: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return the plan's fields for the openings. Raises OSError, ValueError."""
    for name, who in players:
        if is_command(who):
            raise ValueError(f"--openings: {name} is a bot on a wire, which starts from the empty board")
    if text.isascii() and text.isdecimal():
        if int(text) > openings.MOST:
            raise ValueError(f"--openings: {text} discs are too many; {openings.MOST} at most")
        return {"discs": int(text)}
    with open(text, encoding="utf-8") as lines:
        try:
            return {"openings": openings.read(lines)}
        except ValueError as error:
            raise ValueError(f"--openings {text}: {error}") from None
