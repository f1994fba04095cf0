"""Protected names, and the tokens with which players may use them.

Knows the file of names, how tokens are made and compared, and how long the answer to a wrong token is
delayed. Does not know where a message has its token, or how a dialect words a refusal. A check runs in the
event loop during games, so it must not take longer than microseconds.
"""

import hashlib
import logging
import re
import secrets
import threading
from collections import Counter
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import TYPE_CHECKING, TypeVar

from gateway.access.bans import Bans, bans_file, read_bans
from gateway.access.lookalikes import Lookalikes
from gateway.access.tablefile import TableFile
from gateway.access.tokens import FIRST_PAUSE, Pauses
from gateway.game.commands import LONGEST_NAME, folded, is_house_name
from gateway.game.events import Objection
from gateway.game.text import only_visible, quoted
from gateway.options.names import PLAYERS_FILE, beside
from gateway.options.server import ServerOptions
from gateway.runtime.addresses import is_loopback
from gateway.runtime.listening import hosts_of
from gateway.runtime.throttle import Throttle

if TYPE_CHECKING:
    from gateway.runtime.files import InLoop

T = TypeVar("T")
LONGEST_TOKEN = 256
"""The longest token of a client, in characters. A longer token counts as wrong."""
TOKEN_BYTES = 16

_HEADER = "# Protected names of c4gateway: name, hash of the token, notes, with tabs between them.\n"
_IF_MEANT = "if that is intended, restart the server, best without --players"
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_WORDS = {
    Objection.TOKEN_WRONG: ("token_wrong", "the token is missing or wrong"),
    Objection.NOT_REGISTERED: ("not_registered", "the name is not registered"),
    Objection.BANNED: ("banned", "the name or the address is banned"),
}
"""For each objection: the label under which it is counted, and its text in the log."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Account:
    """A protected name."""

    name: str
    digest: bytes
    """The SHA-256 of its token. No salt is needed: a token is 128 random bits, which cannot be guessed."""
    notes: str = ""

    @property
    def line(self) -> str:
        """The account as a line of the file, without the line break."""
        fields = [self.name, f"sha256:{self.digest.hex()}", *([self.notes] if self.notes else [])]
        return "\t".join(fields)


@dataclass(frozen=True, slots=True)
class _Names:
    """The protected names of a server. Only the digests stay in memory, since there may be many names."""

    digests: dict[str, bytes] = field(default_factory=dict)
    """The digest of each name's token, by folded name."""
    lookalikes: Lookalikes = field(default_factory=Lookalikes)

    def add(self, account: Account) -> None:
        """Add a name. Raises ValueError if it is already there."""
        _put(self.digests, account, account.digest)
        self.lookalikes.add(account.name)

    def clear(self) -> None:
        """Remove all names, one at a time, so that other threads can run meanwhile."""
        while self.digests:
            self.digests.popitem()
        self.lookalikes.clear()


@dataclass(frozen=True, slots=True)
class Denial:
    """The refusal of a name to a client."""

    objection: Objection
    """`TOKEN_WRONG` (also if there is no token), `NOT_REGISTERED` or `BANNED`."""
    pause: float
    """Seconds before the client gets the answer."""
    like: str | None = None
    """The protected name that the refused name looks like; otherwise None. The objection is then
    `TOKEN_WRONG`."""


class Accounts:
    """The protected names of a server."""

    def __init__(
        self,
        file: str,
        *,
        registered_only: bool = False,
        optional: bool = False,
        counts: Counter[tuple[str, str]] | None = None,
    ) -> None:
        """Read `file`. Raises OSError or ValueError with one line that says what is wrong with it.

        An `optional` file may be missing; then no name is protected.

        `counts` counts the denials. Its keys are pairs of a reason, such as ``token_wrong``, and a kind of
        player.
        """
        self.counts: Counter[tuple[str, str]] = Counter() if counts is None else counts
        self._file = names_file(file, is_optional=optional)
        self.bans_file = bans_file(file)
        self._reloading = threading.Lock()
        """Held while a thread reads the files. SIGHUP and a command may start two threads at once."""
        self._registered_only = registered_only
        self._pauses = Pauses()
        self._in_url = Throttle()
        self._names, self.bans = self._read(), read_bans(self.bans_file)

    def __len__(self) -> int:
        """Return how many names are protected."""
        return len(self._names.digests)

    @property
    def protects(self) -> bool:
        """Whether tokens are in use: names are protected, or the operator named a file for them."""
        return bool(self._names.digests) or not self._file.is_optional

    def _read(self) -> _Names:
        names = _Names()
        self._file.read(names.add)
        return names

    def reload(self, in_loop: "InLoop") -> None:
        """Read the files of names and bans again, for players who enter later. Runs in a thread.

        Raises OSError or ValueError with one line that says what is wrong with a file. The old names and bans
        then stay in force, with one exception: if the file of names has become empty, which is usually a
        mistake, the old names stay but the new bans apply.
        """
        with self._reloading:
            old, old_bans = self._names, self.bans
            names, bans = self._read(), read_bans(self.bans_file, old_bans)
            in_loop(lambda: self._take(names if names.digests else old, bans))
            old_bans.clear()
            if old.digests and not names.digests:
                file, protected = self._file.path, len(old.digests)
                raise ValueError(f"{file} has no names, and {protected} are protected; {_IF_MEANT}")
            if not names.digests and self._file.is_optional:
                return
            came = sum(key not in old.digests for key in names.digests)
            went = sum(key not in names.digests for key in old.digests)
            logger.log(
                logging.WARNING if 2 * went > len(old.digests) else logging.INFO,
                "protected names now: %d; %d came, %d went",
                *(len(names.digests), came, went),
                extra={"event": "names_read", "names": len(names.digests), "came": came, "went": went},
            )
            if names.digests:
                old.clear()  # freeing everything at once would block the event loop

    def _take(self, names: _Names, bans: Bans) -> None:
        self._names, self.bans = names, bans

    def is_protected(self, name: str) -> bool:
        """Whether a name is protected."""
        return len(name) <= LONGEST_NAME and folded(name) in self._names.digests

    def denial(self, name: str, token: str | None, origin: str, now: float) -> Denial | None:
        """Return why a client at the address `origin` may not use `name`; None if it may.

        Returns None for a name of more than `LONGEST_NAME` characters, which is refused elsewhere.
        """
        if len(name) > LONGEST_NAME:
            return None
        key = folded(name)
        if self.bans.hold(key, origin):
            return Denial(Objection.BANNED, self._pauses.wrong(origin, "", now))
        digest = self._names.digests.get(key)
        if digest is None:
            like = None if self._registered_only else self._names.lookalikes.like(name, key)
            if like is None and not self._registered_only:
                return None
            objection = Objection.NOT_REGISTERED if like is None else Objection.TOKEN_WRONG
            key = "" if like is None else folded(like)
            return Denial(objection, self._pauses.wrong(origin, key, now), like)
        if token is not None and is_right(token, digest):
            self._pauses.right(origin, key)
            return None
        return Denial(Objection.TOKEN_WRONG, self._pauses.wrong(origin, key, now))

    def note(self, denial: Denial, name: str, kind: str, origin: str) -> None:
        """Count a denial. Log it if there was none for its address and name in the last ten minutes."""
        what, words = _WORDS[denial.objection]
        if denial.like is not None:
            what, words = "look_alike", f"the name looks like {quoted(denial.like)}, which is protected"
        self.counts[what, kind] += 1
        if denial.pause == FIRST_PAUSE:
            logger.info(
                "%s is not let in from %s: %s",
                *(quoted(name), origin or "an unknown address"),
                words,
                extra={"event": "name_refused", "player": name, "kind": kind, "origin": origin},
            )

    def note_in_url(self, origin: str, now: float) -> None:
        """Warn, once a minute at most, that a client sends its token in the URL, which proxies log."""
        if self._in_url.passes(now):
            logger.warning(
                "a client at %s sends its token in the URL, which proxies log;"
                " a header (Authorization: Bearer) or the first message is safer",
                origin or "an unknown address",
                extra={"event": "token_in_url", "origin": origin},
            )


def new_token() -> str:
    """Return a new token: 128 random bits as 22 letters, digits, hyphens and underscores."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def digest_of(token: str) -> bytes:
    """Return the hash that is stored in place of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def is_right(token: str, digest: bytes) -> bool:
    """Whether `token`, any text from a client, has the hash `digest`."""
    return len(token) <= LONGEST_TOKEN and compare_digest(digest_of(token), digest)


def fault_of(name: str) -> str | None:
    """Return why a name cannot be protected; None if it can."""
    if not name or name != name.strip() or name != only_visible(name):
        return "a name has visible characters only, and no blanks around them"
    if len(name) > LONGEST_NAME:
        return f"a name has at most {LONGEST_NAME} characters"
    if name.startswith("#"):
        return "a line that begins with # is a comment, so a name cannot begin with it"
    return "this is a name of the server's own players" if is_house_name(name) else None


def names_file(path: str, *, is_optional: bool = False) -> TableFile[Account]:
    """Return a file of protected names."""
    return TableFile(path, _HEADER, _parse, is_optional)


def _parse(line: str) -> Account:
    name, _, rest = line.partition("\t")
    digits, _, notes = rest.partition("\t")
    stored = _HASH.fullmatch(digits)
    if stored is None:
        raise ValueError("not NAME, a tab, and sha256:HASH; c4gateway player add writes such lines")
    if fault := fault_of(name):
        raise ValueError(fault)
    return Account(name, bytes.fromhex(stored[1]), notes)


def read_accounts(table: TableFile[Account]) -> dict[str, Account]:
    """Return a file's accounts by folded name, in the file's order. Raises OSError, ValueError."""
    accounts: dict[str, Account] = {}
    table.read(lambda account: _put(accounts, account, account))
    return accounts


def _put(by_name: dict[str, T], account: Account, kept: T) -> None:
    """Store `kept` under an account's folded name. Raises ValueError if the name is already there."""
    key = folded(account.name)
    if key in by_name:
        raise ValueError(f"{quoted(account.name)} is there twice; letters of another case are the same name")
    by_name[key] = kept


def open_accounts(options: ServerOptions, counts: Counter[tuple[str, str]]) -> Accounts:
    """Open the file of protected names that the options name. Raises OSError."""
    hint = "c4gateway player add NAME --players FILE makes it"
    file = options.players or beside(options.db, PLAYERS_FILE)
    registered_only, optional = options.registered_only, options.players is None
    try:
        accounts = Accounts(file, registered_only=registered_only, optional=optional, counts=counts)
    except FileNotFoundError as error:
        raise OSError(f"{file}: there is no such file; {hint}") from error
    except ValueError as error:
        raise OSError(str(error)) from error
    in_clear = accounts.protects and options.tls_cert is None
    if in_clear and not all(map(is_loopback, [*options.host, *hosts_of(options.sockets)])):
        logger.warning(
            "tokens of players cross the network in the clear: the server listens beyond this machine"
            " without TLS",
            extra={"event": "tokens_in_the_clear"},
        )
    return accounts
