"""The command ``c4gateway tournament roster``: it protects the names of a class and prints their tokens.

Knows options and files. `gateway.access.roster` reads the roster, and `token_sheet` writes the sheet.
"""

import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, make_dataclass
from json import dumps
from pathlib import Path
from typing import ClassVar

from gateway.access.accounts import Account, digest_of, names_file, new_token, read_accounts
from gateway.access.roster import Member, like_one_of, read_roster
from gateway.access.tablefile import all_audited
from gateway.commands.players import OnNames, say_written
from gateway.commands.token_sheet import Strip, is_possible, sheet, ways
from gateway.game.commands import folded
from gateway.game.text import plural, printable, quoted
from gateway.options.description import Description
from gateway.options.kinds import FILE, Kind, count
from gateway.options.names import AUDIT
from gateway.options.table import Command, argument, flag, option
from gateway.options.terminal import listed
from gateway.runtime.disk import sync_folder
from gateway.tournament.settings import LONGEST

_SHOWN = 3
"""The most names that an error names."""
_WARNED = 20
"""The most names that a warning names."""
_NAME = Kind(str, "NAME")
_PORT = count(1, 65_535, "PORT")


@dataclass(frozen=True, kw_only=True)
class _Roster(OnNames):
    help: ClassVar = "protect the names of a class, and print their tokens or a sheet to cut out"
    dialects: ClassVar[Sequence[Description]] = ()

    roster: str = argument("a CSV file with the columns name and group", FILE)
    sheet: str | None = option("write the tokens to this HTML file, to be printed and cut into strips", FILE)
    overwrite: bool = flag("replace that file if it exists")
    table: str | None = option("the tournament, for the addresses on the sheet", _NAME)
    host: str | None = option(
        "the server's name, for the addresses; give its ports, too, if they are not the usual ones",
        _NAME,
    )
    url: str | None = option(
        "instead of --host, the URL of a server with one port, such as https://c4.example.org",
        Kind(str, "URL"),
    )
    renew: bool = flag("give names that are protected already new tokens; their old ones end")
    audit: str = option("where to log the change", FILE, AUDIT)

    def run(self) -> Iterator[str]:
        if self.host is not None and self.url is not None:
            raise ValueError("--host and --url exclude each other: give one of them")
        ports = {each.name: getattr(self, each.option) for each in self.dialects}
        for each in self.dialects:
            if self.url is not None and ports[each.name] is not None:
                raise ValueError(f"--url is for a server with one port; give --{each.option} with --host")
        found = ways(self.dialects, self.host or self.url, self.table, ports)
        members = read_roster(self.roster)
        if self.sheet is not None and not self.overwrite and os.path.lexists(self.sheet):
            raise ValueError(f"{self.sheet} exists already; --overwrite replaces it")
        strips = [Strip(each.name, each.group, new_token()) for each in members]
        title = f"Tokens of {Path(self.roster).stem}"
        changes = [
            ("player add", each.name, "roster", *([each.group] if each.group else [])) for each in members
        ]
        names = names_file(self.file, is_optional=True)
        with all_audited(self.audit, changes), names.locked() as table:  # lock in this order
            known = read_accounts(table)
            self._check(members, known)
            old = [known[key] for each in members if (key := folded(each.name)) in known]
            lines = [_account(strip, known.get(folded(strip.name))).line for strip in strips]
            if self.sheet is None:
                table.exchange(old, lines)
            else:
                with _new_file(self.sheet, sheet(strips, found, title), overwrite=self.overwrite):
                    table.exchange(old, lines)
        if self.sheet is None:
            yield from (f"{printable(each.name)}\t{printable(each.group)}\t{each.token}\n" for each in strips)
        renewed = f"; {plural(len(old), 'name')} had one before" if old else ""
        print(f"{plural(len(strips), 'token')} of {self.roster}{renewed}", file=sys.stderr)
        if self.sheet is not None:
            what = "it has the tokens, which are kept nowhere else, so keep it secret"
            print(f"{os.path.abspath(self.sheet)} is written; {what}", file=sys.stderr)
        self._warn(members)
        say_written(self.file)

    def _check(self, members: Sequence[Member], known: Mapping[str, Account]) -> None:
        """Raise ValueError if the names cannot be protected, because of others in the file."""
        there = [known[key].name for each in members if (key := folded(each.name)) in known]
        if there and not self.renew:
            names = ", ".join(map(quoted, there[:_SHOWN])) + (" and others" if there[_SHOWN:] else "")
            ways_on = "--renew gives all names new tokens; a roster of the new names alone adds only those"
            are = "is" if len(there) == 1 else "are"
            raise ValueError(
                f"{len(there)} of {len(members)} names {are} protected already: {names}; {ways_on}"
            )
        like = like_one_of(members, (each.name for each in known.values()))
        if like is not None:
            member, name = like
            what = f"{quoted(member.name)} looks like {quoted(name)}, which is protected already"
            ways_on = f"change it, or remove {quoted(name)} with c4gateway player remove"
            raise ValueError(f"{self.roster}: line {member.line}: {what}; {ways_on}")

    def _warn(self, members: Sequence[Member]) -> None:
        """Say on stderr which names some dialects do not allow, and what they allow."""
        for each in self.dialects:
            if self.table is not None and not each.has_places:
                continue  # it has no line on the sheet either
            refused = [member for member in members if not is_possible(each, member.name)]
            if refused:
                shown = [f"{quoted(member.name)} (line {member.line})" for member in refused[:_WARNED]]
                if refused[_WARNED:]:
                    shown.append(f"{len(refused) - _WARNED} others")
                what = f"no {each.name} bot can be called {listed(shown, 'or')}"
                rule = f": there a name has {each.name_rule}" if each.name_rule else ""
                way_on = "change it, or let them use another protocol"
                print(f"warning: {self.roster}: {what}{rule}; {way_on}", file=sys.stderr)


def _account(strip: Strip, before: Account | None) -> Account:
    """Return the account of a strip's token. A name that was protected keeps its spelling and its notes."""
    name, notes = (strip.name, strip.group) if before is None else (before.name, before.notes)
    return Account(name, digest_of(strip.token), notes)


@contextmanager
def _new_file(path: str, text: Iterable[str], *, overwrite: bool) -> Iterator[None]:
    """Write a file that only this user may read, before the block. If the block fails, put back the old one.

    Raises OSError; if it does not overwrite, also if the file exists.
    """
    old, folder = None, os.path.dirname(os.path.abspath(path))
    if overwrite and os.path.lexists(path):
        if not os.path.isfile(path):
            raise OSError(f"{path} is not a file, so it is not replaced")
        descriptor, old = tempfile.mkstemp(prefix=".c4gateway-", dir=folder)
        os.close(descriptor)
        os.replace(path, old)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as new:
                new.writelines(text)
                new.flush()
                os.fsync(new.fileno())
            sync_folder(Path(folder))
            yield
        except BaseException:
            os.unlink(path)
            raise
    except BaseException:
        if old is not None:
            os.replace(old, path)
        raise
    if old is not None:
        os.unlink(old)


def with_roster(text: str, members: Sequence[Member]) -> str:
    """Return the file of a tournament with a table of the roster.

    Raises ValueError if it has one already, or becomes too long.
    """
    with suppress(tomllib.TOMLDecodeError, RecursionError):  # who parses it says what is wrong
        if "roster" in tomllib.loads(text):
            raise ValueError("the file has a table roster already; remove it, or leave out --roster")
    # A string of JSON is one of TOML, too, if it has no control characters and no surrogates.
    lines = [
        f"{dumps(each.name, ensure_ascii=False)} = {dumps(each.group, ensure_ascii=False)}"
        for each in members
    ]
    whole = "\n".join([text.rstrip("\n"), "", "[roster]", *lines, ""])
    if len(whole) > LONGEST:
        raise ValueError(
            f"with the roster the file has {len(whole)} characters, and {LONGEST} is the limit; "
            "remove comments of the file, or shorten groups"
        )
    return whole


def roster_command(dialects: Sequence[Description]) -> type[Command[[], Iterator[str]]]:
    """Return the command, with an option for the port of each of these dialects."""
    ports = [
        (
            each.option,
            int | None,
            option(f"its {each.name} port, as given to the server ({each.port})", _PORT),
        )
        for each in dialects
    ]
    return make_dataclass(
        "_RosterWithPorts",
        ports,
        bases=(_Roster,),
        namespace={"dialects": dialects},
        frozen=True,
        kw_only=True,
    )
