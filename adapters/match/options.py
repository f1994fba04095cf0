"""The options of the command ``c4gateway match``."""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.match import bots
from gateway.engines import EngineUnavailable, UnknownEngine
from gateway.engines.catalogue import CATALOGUE, check_engine
from gateway.match import openings
from gateway.match.sprt import LOGISTIC, MODELS, Sprt
from gateway.options.kinds import Kind, count, seconds
from gateway.options.table import Parser, flag, option, read, several
from gateway.options.terminal import in_one_line

DESCRIPTION = """\
Plays many games between bots, engines, or both, and says how strong they are. Bots are processes that are
started and told a port of a private server.
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
"""Options that are in the file of a match, and that cannot change when it goes on."""
_DEFAULTS: dict[str, Any] = {
    "gauntlet": False,
    "clock": 42.0,
    "idle": 60.0,
    "think": None,
    "strict": False,
    "sprt": None,
}
_GAMES, _MOST_WITH_TEST = 100, 20_000
_MOST = 10**7


def _player(text: str) -> tuple[str, str]:
    name, sign, who = text.partition("=")
    if not (sign and who and _NAME.fullmatch(name)):
        raise ValueError(f"{text!r} is not NAME=COMMAND or NAME=ENGINE")
    try:
        if bots.is_command(who):
            bots.command(who, name, "", 0)
        else:
            check_engine(who)
    except (UnknownEngine, EngineUnavailable) as error:
        hint = "; a bot's command needs {port} in it" if " " in who else ""
        raise ValueError(f"{name}: {error}{hint}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return name, who


_PATH = Kind(Path, "FILE")
_SECONDS = seconds(0.001)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The options as they are typed; None for those in the file of a match that are not."""

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


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for."""

    settings: dict[str, Any]
    """What stands in the file of the match; empty where the match is to go on as the file says."""
    state: Path
    is_numbered: bool
    """Whether that is a name of ours, in place of which a match takes the next one."""
    recover: bool
    """Whether games that a player left count as lost, however many they are, beside what the file says."""
    logs: Path | None
    """None for a folder that is called as the file of the match."""
    concurrency: int
    pgn: Path | None
    jsonl: Path | None
    json: Path | None


def parse(arguments: Sequence[str]) -> Options:
    """Return the options, which follow the first word.

    Exits with status 2, after a line on stderr, where they are wrong.
    """
    if "" not in sys.path:
        sys.path.append("")  # an engine of one's own is looked for where one stands
    parser = Parser("c4gateway match", DESCRIPTION, EPILOG.replace("ENGINES", CATALOGUE))
    found = read(parser, _Line, arguments[1:])
    given = [each for each in _FIXED if getattr(found, each) is not None]
    settings: dict[str, Any] = {}
    is_numbered = found.state is None
    try:
        state = found.state or numbered(0 if found.resume else 1)
        _check_files(found, state)
        if not found.resume:
            settings = _settings(found)
        elif given:
            raise ValueError(f"--{given[0]} cannot change when a match goes on: {state} says what it is")
    except (OSError, ValueError) as error:
        parser.error(in_one_line(error))
    return Options(
        settings=settings,
        state=state,
        is_numbered=is_numbered,
        recover=found.recover,
        logs=found.logs,
        concurrency=found.concurrency,
        pgn=found.pgn,
        jsonl=found.jsonl,
        json=found.json,
    )


def numbered(further: int) -> Path:
    """Return the latest of the files that matches get here without --state, or a `further` one."""
    first = Path(STATE)
    pattern = re.compile(rf"{first.stem}(?:-([1-9][0-9]*))?{first.suffix}")
    matched = [pattern.fullmatch(each.name) for each in Path().iterdir()]
    number = max((int(each[1] or 1) for each in matched if each), default=0) + further
    return first if number <= 1 else first.with_stem(f"{first.stem}-{number}")


def test_in(settings: dict[str, Any]) -> Sprt | None:
    """Return the test of a hypothesis that a match is for, if it is for one. Raises TypeError, ValueError."""
    return None if settings["sprt"] is None else Sprt(**settings["sprt"])


def _check_files(found: _Line, state: Path) -> None:
    """See that each file can be written, over no other one, before games are played. Raises ValueError."""
    written = [each for each in (found.pgn, found.jsonl, found.json) if each is not None]
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
    if found.logs is not None and found.logs.exists() and not found.logs.is_dir():
        raise ValueError(f"--logs: {found.logs} is not a directory")


def _settings(found: _Line) -> dict[str, Any]:
    """Return what is to stand in the file of the match. Raises OSError, ValueError."""
    players = found.player or []
    if len(players) < 2 or len({name for name, _ in players}) < len(players):
        raise ValueError("a match needs two or more --player NAME=WHO, with different names")
    settings = {key: getattr(found, key) for key in _FIXED if key not in ("player", "openings")}
    settings = {key: _DEFAULTS.get(key) if value is None else value for key, value in settings.items()}
    if settings["games"] is None:
        settings["games"] = _GAMES if found.sprt is None else _MOST_WITH_TEST
    if settings["games"] % 2:
        raise ValueError("--games has to be even: each opening is played with both colours")
    if settings["strict"] and settings["think"] is None:
        raise ValueError("--strict needs --think, the time that engines have to keep to")
    settings["recover"] = found.recover
    if found.sprt is not None:
        settings["sprt"] = _sprt(found.sprt, len(players))
    settings["seed"] = settings["seed"] or os.urandom(4).hex()
    return {"players": players, **settings, **_openings(found.openings, players)}


def _sprt(words: Sequence[str], players: int) -> dict[str, Any]:
    if players > 2:
        raise ValueError("--sprt is a test of two players")
    found: dict[str, Any] = {"elo0": 0.0, "elo1": 10.0, "alpha": 0.05, "beta": 0.05, "model": LOGISTIC}
    for word in words:
        key, _, value = word.partition("=")
        if key not in found:
            raise ValueError(f"--sprt takes {', '.join(f'{each}=' for each in found)}, not {word!r}")
        try:
            found[key] = value if key == "model" else float(value)
        except ValueError:
            raise ValueError(f"--sprt {key}: {value!r} is not a number") from None
    try:
        Sprt(**found)
    except ValueError as error:
        raise ValueError(f"--sprt: {error}") from None
    return found


def _openings(text: str | None, players: Sequence[Sequence[str]]) -> dict[str, Any]:
    if text is None:
        return {"discs": 0, "openings": []}
    for name, who in players:
        if bots.is_command(who):
            raise ValueError(f"--openings: {name} is a bot on a wire, which starts from the empty board")
    if text.isascii() and text.isdecimal():
        if int(text) > openings.MOST:
            raise ValueError(f"--openings: {text} discs are too many; {openings.MOST} at most")
        return {"discs": int(text), "openings": []}
    with open(text, encoding="utf-8") as lines:
        try:
            return {"discs": 0, "openings": openings.read(lines)}
        except ValueError as error:
            raise ValueError(f"--openings {text}: {error}") from None
