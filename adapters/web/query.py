"""The parameters of a request, as filters, pages and side lines.

Pure. Knows the store's filters; does not know paths or answers. Refuses invalid values and unknown
parameters: a mistyped filter would otherwise return everything, unnoticed.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias
from urllib.parse import parse_qsl, unquote

from gateway.game.board import Board, Side, boards_of
from gateway.store.games import Filter, Page, Result
from gateway.store.records import REASONS, from_moment, typed_id

MOST = 1_000
"""The most entries of a list in one answer."""
USUAL = 100
"""The default value of the parameter ``limit``."""
LEAST = 99_999_999
"""The largest value of ``least``."""
FROM_THE_FIRST = "0"
"""The value of ``after`` for a page that starts with the first game. No game has this id."""
FILTERS = (
    "player",
    "opponent",
    "result",
    "reason",
    "table",
    "since",
    "until",
    "mistake",
    "counted",
    "moving",
)
RESULTS: Mapping[str, Result] = {"won": "won", "drawn": "drawn", "lost": "lost"}
SIDES: Mapping[str, Side] = {"first": 0, "second": 1}
PAGING = ("before", "after", "limit")

Given: TypeAlias = Mapping[str, str]
"""Parameters by name. No value is empty."""

_DIGITS = re.compile("[0-9]{1,9}")


class BadRequestError(Exception):
    """An invalid request. The text says what is wrong."""


def parameters(text: bytes, known: Collection[str]) -> Given:
    """Return the parameters in the query of a request target. An empty parameter counts as absent.

    Raises BadRequestError for a parameter that is not in `known`, or appears twice.
    """
    try:
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError as error:
        raise BadRequestError("the text after the question mark cannot be read") from error
    names = [name for name, _ in pairs]
    for name in names:
        if name not in known:
            possible = ", ".join(known) or "none at all"
            raise BadRequestError(f"there is no parameter {name[:50]!r}; possible: {possible}")
    if len({*names}) < len(names):
        raise BadRequestError("a parameter appears twice")
    return {name: value for name, value in pairs if value}


def wanted(given: Given) -> Filter:
    """Return the filter for games. Raises BadRequestError.

    The mistakes of a player are the games that it lost by a mistake, unless another result is asked for.
    """
    player, opponent = given.get("player"), given.get("opponent")
    for name in ("opponent", "moving"):
        if name in given and player is None:
            raise BadRequestError(f"{name} needs a player")
    reason = REASONS[one_of(given, "reason", sorted(REASONS))] if "reason" in given else None
    mistake = is_set(given, "mistake")
    result: Result | None = "lost" if mistake and player is not None else None
    if "result" in given:
        result = RESULTS[one_of(given, "result", RESULTS)]
    return Filter(
        player=player,
        opponent=opponent,
        since=moment(given, "since"),
        until=moment(given, "until"),
        reason=reason,
        counted=is_set(given, "counted") or None,
        result=result,
        table=given.get("table"),
        mistake=mistake,
        side=SIDES[one_of(given, "moving", SIDES)] if "moving" in given else None,
    )


def part(given: Given) -> Page:
    """Return which page of the games is requested. Raises BadRequestError.

    The newest games come first. With ``after`` and without ``before``, the oldest games after that one come
    first.
    """
    from_the_first = given.get("after") == FROM_THE_FIRST
    after, before = None if from_the_first else _game(given, "after"), _game(given, "before")
    newest_first = before is not None or "after" not in given
    return Page(after=after, before=before, limit=limit(given, USUAL), newest_first=newest_first)


def limit(given: Given, usual: int) -> int:
    """Return the parameter ``limit``, from 1 to `MOST`; `usual` if it is absent. Raises BadRequestError."""
    return whole(given, "limit", usual, MOST)


def whole(given: Given, name: str, usual: int, most: int, least: int = 1) -> int:
    """Return the parameter `name`, a whole number from `least` to `most`; `usual` if it is absent.

    Raises BadRequestError.
    """
    text = given.get(name, str(usual))
    number = int(text) if _DIGITS.fullmatch(text) else -1
    if not least <= number <= most:
        raise BadRequestError(f"{name} is not a whole number from {least} to {most}")
    return number


def one_of(given: Given, name: str, possible: Collection[str], usual: str = "") -> str:
    """Return the parameter `name`, one of the `possible` words; `usual` if it is absent.

    Raises BadRequestError.
    """
    word = given.get(name, usual)
    if word not in possible:
        raise BadRequestError(f"{name} is not one of {', '.join(possible)}")
    return word


def is_set(given: Given, name: str) -> bool:
    """Return whether the parameter `name` is there; its only value is ``1``. Raises BadRequestError."""
    return name in given and one_of(given, name, ("1",)) == "1"


def moment(given: Given, name: str) -> int | None:
    """Return the parameter `name`, a time, in milliseconds of Unix time; None if it is absent.

    Raises BadRequestError.
    """
    text = given.get(name)
    try:
        return None if text is None else from_moment(text)
    except (ValueError, OverflowError) as error:
        possible = "2026-11-21, 2026-11-21T12:00:00Z, yesterday or 90m, 90 minutes ago"
        raise BadRequestError(f"{name} is not a time such as {possible}") from error


def game_named(text: str) -> str:
    """Return the id of a game that a person typed. Raises BadRequestError if it cannot be an id."""
    try:
        return typed_id(text)
    except ValueError as error:
        raise BadRequestError("not the id of a game") from error


def line_of(moves: str, given: Given) -> Sequence[Board]:
    """Return the board after each column of a side line.

    It begins after the first ``after`` of a game's `moves`, and plays ``columns``. Raises BadRequestError.
    """
    number, columns = whole(given, "after", -1, len(moves), least=0), given.get("columns", "")
    if not columns:
        raise BadRequestError("columns is missing: the columns that are played, such as 334")
    board, found = boards_of(moves[:number])[-1], list[Board]()
    for place, digit in enumerate(columns, number + 1):
        try:
            board = board.drop("0123456".index(digit))
        except ValueError as error:
            why = "the game is over" if board.over else f"column {digit!r} cannot be played"
            raise BadRequestError(f"columns: {why} at move {place}") from error
        found.append(board)
    return found


def name_of(text: str) -> str:
    """Return the decoded name from a path. Raises BadRequestError if it is not UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise BadRequestError("the name is not percent-encoded UTF-8") from error


def _game(given: Given, name: str) -> str | None:
    text = given.get(name)
    return None if text is None else game_named(text)
