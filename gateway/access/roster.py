"""The roster of a class: a file of names and groups, as a spreadsheet writes it.

Knows which names can be protected; changes nothing. A fault is a ValueError of one line, with the number of
the line in the file and what to do about it.
"""

import csv
import io
import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gateway.access.accounts import fault_of
from gateway.access.bans import fault_of_notes
from gateway.access.lookalikes import Lookalikes
from gateway.game.commands import LONGEST_NAME, folded
from gateway.game.text import quoted
from gateway.runtime.files import read_file

LARGEST = 1024 * 1024
"""The largest file, in bytes."""
NAME, GROUP = "name", "group"
"""The names of the columns."""
SEPARATORS = "\t;,"
"""The characters that may separate columns. If several could, the first one does."""

_QUOTED = re.compile('"[^"]*"')
_SEPARATOR = re.compile("sep=([\t;,])\\s*")
"""Matches the line that tells Excel the separator."""
_AS_UTF8 = 'the file is not UTF-8; in Excel, save it as "CSV UTF-8"'


class Member(NamedTuple):
    """A name of a roster."""

    name: str
    group: str = ""
    """Empty if the file gives none."""
    line: int = 0
    """The number of its line in the file, from 1."""


def read_roster(path: str) -> list[Member]:
    """Return the members in a file. Raises OSError, and ValueError with the path and the line number."""
    try:
        return members(read_file(path, "the roster", LARGEST))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def members(data: bytes) -> list[Member]:
    """Return the members in the bytes of a file, in its order. Raises ValueError."""
    rows = iter(_rows(_decoded(data)))
    first = next(rows, None)
    if first is None:
        raise ValueError("the file has no names; give each player a line with its name and its group")
    number, cells = first
    columns = _columns_of_header(number, cells)
    found = list[Member]()
    for number, cells in [*([first] if columns is None else []), *rows]:
        found.append(_member(number, cells, columns))
    if not found:
        raise ValueError("the file has a header, but no names below it")
    _check_different(found)
    return found


def like_one_of(wanted: Sequence[Member], known: Iterable[str]) -> tuple[Member, str] | None:
    """Return the first member that looks like one of the known names but is another name, and that name."""
    lookalikes = Lookalikes()
    keys = {folded(each.name) for each in wanted}
    for name in known:
        if folded(name) not in keys:
            lookalikes.add(name)
    for each in wanted:
        like = lookalikes.like(each.name, folded(each.name))
        if like is not None:
            return each, like
    return None


def _decoded(data: bytes) -> str:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):  # what Excel calls Unicode text
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError as error:
            raise ValueError(_AS_UTF8) from error
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        number = 1 + len(re.findall(rb"\r\n|\r|\n", data[: error.start]))
        raise ValueError(f"line {number}: {_AS_UTF8}") from error


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each line that is not blank. Raises ValueError."""
    lines = io.StringIO(text, newline="").readlines()
    start = next((place for place, line in enumerate(lines) if line.strip()), 0)
    told = _SEPARATOR.fullmatch(lines[start]) if lines else None
    separator = told[1] if told else _separator(lines[start:])
    start += told is not None
    reader = csv.reader(lines[start:], delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        number = start + reader.line_num + 1
        try:
            cells = [unicodedata.normalize("NFC", cell.strip()) for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            fault = "a text in quotes ends with a quote before the separator, and has quotes in it twice"
            raise ValueError(f"line {number}: {fault}") from error
        if any(cells):
            yield number, cells


def _separator(lines: Sequence[str]) -> str:
    """Return the character that separates the columns, by the first line that has one outside quotes."""
    for line in lines:
        outside = _QUOTED.sub("", line)
        for separator in SEPARATORS:
            if separator in outside:
                return separator
    return ","


def _columns_of_header(number: int, cells: Sequence[str]) -> tuple[int, int | None] | None:
    """Return the indices of the columns of names and of groups; None if the cells are not a header."""
    titles = [cell.casefold() for cell in cells]
    if NAME not in titles:
        return None
    others = [cell for cell, title in zip(cells, titles, strict=True) if cell and title != NAME]
    if GROUP not in titles and others:
        missing = f"the header has {quoted(others[0])}, but no column {GROUP}; call it so"
        raise ValueError(f"line {number}: {missing}")
    for title in (NAME, GROUP):
        if titles.count(title) > 1:
            raise ValueError(f"line {number}: the header has two columns {title}")
    return titles.index(NAME), titles.index(GROUP) if GROUP in titles else None


def _member(number: int, cells: Sequence[str], columns: tuple[int, int | None] | None) -> Member:
    if columns is None:
        *_, last = (place for place, cell in enumerate(cells) if cell)
        if last > 1:
            header = "a first line with name and group says which columns these are"
            raise ValueError(f"line {number}: there are {last + 1} columns, not a name and a group; {header}")
        columns = 0, 1
    name, group = (cells[place] if place is not None and place < len(cells) else "" for place in columns)
    if not name:
        raise ValueError(f"line {number}: there is no name; add it, or remove the line")
    fault = fault_of(name)
    if fault is not None:
        raise ValueError(f"line {number}: {quoted(name)}: {fault}; choose another name")
    if len(group) > LONGEST_NAME or fault_of_notes(group) is not None:
        raise ValueError(
            f"line {number}: the group of {quoted(name)} is not up to {LONGEST_NAME} visible characters"
        )
    return Member(name, group, number)


def _check_different(found: Sequence[Member]) -> None:
    """Raise ValueError if two members have the same name, in some spelling, or names that look alike."""
    by_key, lookalikes = dict[str, Member](), Lookalikes()
    lines = dict[str, int]()
    for each in found:
        key = folded(each.name)
        other = by_key.get(key)
        what = f"line {each.line}: {quoted(each.name)}"
        if other is not None and other.name == each.name:
            raise ValueError(f"{what} is in line {other.line}, too; each player needs a name of its own")
        if other is not None:
            same = "which is the same name: case, width and blanks make no difference; change one of them"
            raise ValueError(f"{what} is {quoted(other.name)} in line {other.line}, {same}")
        like = lookalikes.like(each.name, key)
        if like is not None:
            raise ValueError(f"{what} looks like {quoted(like)} in line {lines[like]}; change one of them")
        by_key[key], lines[each.name] = each, each.line
        lookalikes.add(each.name)
