"""Parse transcripts: text in, `Transcript` out. README.md describes the grammar.

Must not know servers, or where files are. A mistake that would make every playback fail is reported here,
with its line: an unknown client or placeholder, a payload that is not JSON, a transcript without a clause.
"""

import re
from collections.abc import Callable
from pathlib import Path

from conformance import steps
from conformance.dialects import dialects
from conformance.payloads import expectation, outgoing
from conformance.placeholders import RESERVED, USUAL_CLOCK, Names, PlaceholderError, expand, span
from conformance.steps import Clause, Client, Form, Line, Manner, Step, Transcript

_ARROW = re.compile(r"(\S+)\s+([<>])(\S*)(?: (.*))?")
_NAME = re.compile(r"[a-z][a-z0-9]*")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)+")
_CODE = re.compile(r"[1-4][0-9]{3}")
_CLOCK = re.compile(r"[0-9]+(\.[0-9])?")
_LOT = re.compile(r"lot (\S+) (\S+) from (\S+) (\S+) on (.+)")

_KEYWORDS = frozenset({"clause", "source", "needs", "clock", "client", "wait", "lot"})

_PIECES = frozenset({Form.PLAIN, Form.BYTES})
_FRAMES = frozenset({Form.PLAIN, Form.TEXT})
_VALUES = frozenset({Form.PLAIN, Form.TEXT, Form.JSON, Form.EDN})
_SENDABLE = frozenset({Form.PLAIN, Form.BYTES, Form.TEXT, Form.BINARY})
_HEARABLE = {
    Manner.TEXT: _FRAMES,
    Manner.BARE: _FRAMES,
    Manner.JSON: _VALUES,
    Manner.EDN: _VALUES,
    Manner.LINES: _PIECES,
    Manner.RAW: _PIECES,
}


class TranscriptError(ValueError):
    """A transcript has an invalid line."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def parse(text: str, identity: str, path: Path) -> Transcript:
    """Parse one transcript. Raises TranscriptError with the number of the invalid line."""
    reader = _Reader()
    number = 0
    for number, raw in enumerate(text.split("\n"), start=1):
        try:
            reader.read(number, raw.strip(" \t\r"))
        except ValueError as error:
            raise TranscriptError(number, str(error)) from None
    try:
        reader.finish()
    except TranscriptError:
        raise
    except ValueError as error:
        raise TranscriptError(number, str(error)) from None
    return Transcript(
        id=identity,
        path=path,
        title=reader.title,
        source=reader.source,
        clauses=tuple(reader.clauses),
        needs=sorted_options(reader.needs),
        clients=tuple(reader.clients.values()),
        lines=tuple(reader.lines),
        clock=reader.clock,
        any_clock=reader.any_clock,
    )


def sorted_options(words: list[str]) -> tuple[str, ...]:
    """Return command line words with the options in alphabetical order, each followed by its values."""
    groups: list[list[str]] = []
    for word in words:
        if word.startswith("--") or not groups:
            groups.append([])
        groups[-1].append(word)
    return tuple(word for group in sorted(groups) for word in group)


class _Reader:
    """The part of a transcript that has been read so far."""

    def __init__(self) -> None:
        self.title = ""
        self.source = ""
        self.clauses: list[Clause] = []
        self.needs: list[str] = []
        self.clients: dict[str, Client] = {}
        self.lines: list[Line] = []
        self.clock: float | None = None
        self.any_clock = False
        # The client for each name: the clients' own names, and the names that a lot assigns.
        self._roles: dict[str, Client] = {}
        self._gone: set[str] = set()
        self._paths: list[tuple[int, str]] = []
        self._number = 0

    def read(self, number: int, text: str) -> None:
        self._number = number
        word, _, rest = text.partition(" ")
        heads: dict[str, Callable[[str], None]] = {
            "clause": self._clause,
            "source": self._source,
            "needs": self._needs,
            "clock": self._clock,
            "client": self._add_client,
        }
        if text.startswith("#"):
            if not self.lines and not self.title:
                self.title = text.lstrip("# ")
        elif word in heads:
            if self.lines:
                raise ValueError(f"{word!r} belongs above the first step")
            heads[word](rest.strip())
        elif text:
            self.lines.append(Line(number, text, self._step(word, rest.strip(), text)))

    def finish(self) -> None:
        """Check the transcript as a whole. Raises ValueError, TranscriptError."""
        if not self.clauses:
            raise ValueError("it cites no clause; write for example: clause nac4 3.1")
        if not self.source:
            raise ValueError("it does not say its source; write: source recorded, or: source derived")
        if not self.lines:
            raise ValueError("it has no step")
        for number, path in self._paths:
            try:
                expand(path, self._names())
            except PlaceholderError as error:
                raise TranscriptError(number, str(error)) from None

    def _clause(self, rest: str) -> None:
        dialect, *numbers = rest.split() or [""]
        if not numbers or not all(_NUMBER.fullmatch(number) for number in numbers):
            raise ValueError("expected a dialect and clause numbers such as: clause nac4 3.1 3.2")
        self.clauses += (Clause(dialect, number) for number in numbers)

    def _source(self, rest: str) -> None:
        self.source = rest
        if rest.replace(",", " ").split()[:1] not in (["recorded"], ["derived"]):
            raise ValueError("a source is 'recorded' (from an original) or 'derived' (from its documents)")

    def _needs(self, rest: str) -> None:
        if not rest.startswith("--"):
            raise ValueError("expected options of the gateway such as: needs --rounds 1")
        words = rest.split()
        self.needs += words
        if "--clock" in words:
            value = "".join(words[words.index("--clock") + 1 :][:1])
            if not _CLOCK.fullmatch(value):
                raise ValueError("expected seconds behind --clock, with one decimal at most")
            self.clock = float(value)

    def _clock(self, rest: str) -> None:
        self._needs(f"--clock {rest}")
        self.any_clock = True

    def _add_client(self, rest: str) -> None:
        name, dialect, *more = rest.split() + [""] * (2 - len(rest.split()))
        self._new_name(name)
        if dialect not in dialects():
            raise ValueError(f"{dialect!r} is no dialect; there are {', '.join(dialects())}")
        named = more.pop(0) if more and not more[0].startswith("/") else None
        manner = _manner(dialect, named)
        path = more.pop(0) if more and manner.websocket else None
        if more:
            raise ValueError(f"not understood: {' '.join(more)!r}")
        self.clients[name] = self._roles[name] = Client(name, dialect, manner, path)
        # A path may name a client that is defined on a later line, so paths are checked at the end.
        self._paths.append((self._number, path or ""))

    def _new_name(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{name!r} is not a name; a name is a lower case letter, then letters and digits"
            )
        if name in RESERVED | _KEYWORDS:
            raise ValueError(f"nobody may be called {name!r}; the word has a meaning of its own")
        if name in self._roles:
            raise ValueError(f"there is a {name!r} already")

    def _step(self, word: str, rest: str, text: str) -> Step:
        if word == "wait":
            return steps.Wait(_span(rest))
        if word == "lot":
            return self._lot(text)
        arrow = _ARROW.fullmatch(text)
        if arrow is not None:
            return self._spoken(*arrow.groups())
        who, *words = text.split()
        return self._deed(who, words)

    def _spoken(self, who: str, direction: str, form_name: str, payload: str | None) -> Step:
        client = self._client(who)
        form = _form(form_name)
        sending = direction == ">"
        allowed = _HEARABLE[client.manner]
        if sending:
            allowed = _SENDABLE if client.manner.websocket else _PIECES
        if form not in allowed:
            wire = "a websocket" if client.manner.websocket else "plain TCP"
            raise ValueError(
                f"{who} is {client.dialect} on {wire}: {direction}{form_name} has no meaning there"
            )
        if sending:
            self._still_there(who)
            outgoing(client.manner, form, payload or "", self._names())
            return steps.Sends(who, form, payload or "")
        expectation(client.manner, form, payload or "", self._names())
        return steps.Hears(who, form, payload or "")

    def _deed(self, who: str, words: list[str]) -> Step:
        client = self._client(who)
        match words:
            case ["silent", text]:
                return steps.Silent(who, _span(text))
            case ["closed", *code] if not code or (
                client.manner.websocket and _CODE.fullmatch(" ".join(code))
            ):
                return steps.Closed(who, int(code[0]) if code else None)
            case ["ignores", "the", "rest"]:
                return steps.IgnoresTheRest(who)
            case ["connects"]:
                self._still_there(who)
                return steps.Connects(who)
            case ["leaves" | "resets" as deed]:
                self._still_there(who)
                self._gone.add(who)
                return steps.Leaves(who) if deed == "leaves" else steps.Resets(who)
        raise ValueError(f"not understood: {' '.join([who, *words])!r}")

    def _lot(self, text: str) -> Step:
        found = _LOT.fullmatch(text)
        if found is None:
            raise ValueError("expected: lot P Q from A B on MESSAGE")
        part, other, *clients, payload = found.groups()
        one, two = (self._client(name) for name in clients)
        if (one.dialect, one.manner) != (two.dialect, two.manner) or one is two:
            raise ValueError("a lot is drawn between two clients who speak the same")
        expectation(one.manner, Form.PLAIN, payload, self._names())
        for name, client in ((part, one), (other, two)):
            self._new_name(name)
            self._roles[name] = client
        return steps.Lot((part, other), (clients[0], clients[1]), payload)

    def _client(self, who: str) -> Client:
        if who not in self._roles:
            raise ValueError(f"there is no client {who!r}")
        return self._roles[who]

    def _still_there(self, who: str) -> None:
        if who in self._gone:
            raise ValueError(
                f"{who} has left; a client that comes back needs a name of its own, and may say {{{who}}}"
            )

    def _names(self) -> Names:
        """Return placeholder names for checking payloads."""
        return Names("x", {role: role for role in self._roles})


def _manner(dialect: str, word: str | None) -> Manner:
    manners = dialects()[dialect].manners
    if word is None:
        return next(iter(manners.values()))
    if word not in manners or not word:
        raise ValueError(f"{dialect} is not spoken in a manner called {word!r}")
    return manners[word]


def _form(name: str) -> Form:
    try:
        return Form(name)
    except ValueError:
        raise ValueError(f"{name!r} behind an arrow means nothing; a blank comes first") from None


def _span(text: str) -> str:
    span(text, USUAL_CLOCK)
    return text
