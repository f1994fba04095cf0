"""The operator's commands on a running server: ``c4gateway who``, ``kick`` and others.

The commands call the API of the server's page. This module knows HTTP, where the server and its token are,
and the form of answers on a terminal. The token is sent only to the server, and is never shown.
"""

import http.client
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias
from urllib.parse import SplitResult, urlencode, urlsplit

from gateway.access.tokens import read_token
from gateway.game.text import aligned, printable, quoted
from gateway.options.description import Description
from gateway.options.kinds import FILE, Kind, count
from gateway.options.names import TOKEN_FILE, beside
from gateway.options.server import HOST, WEB_PORT, ServerOptions, parse, port_with_page
from gateway.options.table import Command, Parser, argument, flag, option, run
from gateway.options.terminal import exit_status, write_out
from gateway.runtime.addresses import Address
from gateway.server.acts import DRAIN, LONGEST_DRAIN, LONGEST_TEXT, Outcome

PATIENCE = 15.0
"""The number of seconds to wait for each part of an answer. The answer to a wrong token may take 8 s."""
_LONGEST = 64 << 20
"""The maximum length of an answer, in bytes."""
_ANY = {"0.0.0.0": HOST, "::": "::1"}
_DAY = 86_400
_PLAYER = Kind(str, "NAME|ADDRESS|CIDR")

Dialects: TypeAlias = Sequence[Description]


class NoServerError(OSError):
    """No server listens at the address."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, to which commands are sent."""

    url: str
    token: str = field(repr=False)
    source: str
    """The name of the token's source, for error texts."""

    def ask(self, path: str, parameters: Mapping[str, str], method: str = "POST") -> Outcome:
        """Ask the server to carry out a command; return the answer.

        Raises OSError, with a text of one line, if the command is not carried out.
        """
        query = urlencode({name: value for name, value in parameters.items() if value})
        status, outcome = self.answer(method, f"{path}?{query}")
        if status == http.HTTPStatus.OK and outcome is not None and {*outcome} & {"not_done", "removed"}:
            return outcome
        raise OSError(self._fault(status, outcome))

    def answer(self, method: str, target: str) -> tuple[int, Outcome | None]:
        """Send a request; return the status, and the body if it is a JSON object. Raises OSError."""
        parts = urlsplit(self.url)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE)
        try:
            connection.request(
                method, parts.path.rstrip("/") + target, headers={"Authorization": f"Bearer {self.token}"}
            )
            answer = connection.getresponse()
            body = json.loads(answer.read(_LONGEST))
        except ConnectionRefusedError as error:
            raise NoServerError(f"no server answers at {self.url}; --url URL says where it is") from error
        except OSError as error:
            raise OSError(f"{self.url}: {error.strerror or error}") from error
        except (http.client.HTTPException, ValueError, RecursionError) as error:
            raise OSError(f"the server at {self.url} is no c4gateway") from error
        finally:
            connection.close()
        return answer.status, body if isinstance(body, dict) else None

    def _fault(self, status: int, body: Outcome | None) -> str:
        """Return the error text for an answer with an error status, in one line."""
        text = printable(str((body or {}).get("error", "")))
        if status == http.HTTPStatus.FORBIDDEN:
            return f"the server at {self.url} has another admin token than {self.source}"
        if status != http.HTTPStatus.NOT_FOUND:
            return text or f"the server at {self.url} is no c4gateway: it answers with status {status}"
        status, body = self.answer("GET", "/api/openapi.json")
        match body:
            case {"info": {"title": "c4gateway"}, "paths": dict(paths)}:
                is_known = "/api/admin/who" in paths
            case _:
                return f"the server at {self.url} is no c4gateway"
        if is_known:
            return f"the server at {self.url} has no admin token; its log says why (admin_token_not_made)"
        return f"the server at {self.url} is an older version, which does not know this command; upgrade it"


def _url(text: str) -> str:
    try:
        parts: SplitResult = urlsplit(text)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or not text.isascii() or not text.isprintable() or {*" ?#@"} & {*text}:
        raise ValueError(f"{text!r} is not http://HOST:PORT or https://HOST:PORT")
    return text.rstrip("/")


_URL = Kind(_url, "URL")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnServer:
    """The options for the address of the server and for its token."""

    url: str | None = option("the server's page", _URL, default_text=f"http://{HOST}:{WEB_PORT}")
    token_file: str | None = option(
        "the file with the server's admin token", FILE, default_text=f"{TOKEN_FILE} beside the database"
    )


def server_of(options: OnServer, dialects: Dialects) -> Server:
    """Return the server for a command's options. Missing options come from the environment.

    Raises FileNotFoundError if the token's file does not exist, and OSError if it cannot be read.
    """
    theirs = parse([], dialects)
    url = options.url or _url_of(theirs)
    if options.token_file is None and theirs.admin_token is not None:
        return Server(url, theirs.admin_token, "this environment")
    file = options.token_file or beside(theirs.db, TOKEN_FILE)
    try:
        return Server(url, read_token(file), file)
    except FileNotFoundError as error:
        hint = "run this in the folder of the server's database, or give --token-file FILE"
        raise FileNotFoundError(f"there is no admin token in {file}; {hint}") from error


def serving_url(options: OnServer, dialects: Dialects) -> str | None:
    """Return the URL of the server if the server answers there, otherwise None. Needs no token."""
    server = Server(options.url or _url_of(parse([], dialects)), "", "")
    try:
        _, body = server.answer("GET", "/api/notice")
    except OSError:
        return None
    return server.url if body is not None and "announcement" in body else None


def _url_of(options: ServerOptions) -> str:
    """Return the URL of the page of a server with these options."""
    host = _ANY.get(options.host[0], options.host[0])
    port = port_with_page(options)
    scheme = "https" if options.tls_only else "http"
    return f"{scheme}://{Address(host, port)}"


def main(arguments: Sequence[str], dialects: Dialects) -> int:
    """Run one of the commands; return its exit status: 0, or 1 if the server or a node did not obey."""
    return exit_status(lambda: finish(run(Parser("c4gateway"), COMMANDS, arguments, dialects)))


def finish(outcome: Outcome) -> int:
    """Print an error for each node that has not carried out the command; return the exit status."""
    for node, why in outcome.get("not_done", {}).items():
        print(f"c4gateway: error: not done on node {printable(node)}: {printable(why)}", file=sys.stderr)
    if fault := outcome.get("fault"):
        print(
            f"c4gateway: error: the file is written, but the server says: {printable(fault)}", file=sys.stderr
        )
    return 1 if outcome.get("not_done") or fault else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Who(OnServer):
    help: ClassVar = "list who is connected to a running server, and what each does"

    who: str = option("only these", _PLAYER, "", is_positional=True)
    json: bool = flag("print JSON, as the API has it")

    def run(self, dialects: Dialects) -> Outcome:
        outcome = server_of(self, dialects).ask("/api/admin/who", {"who": self.who}, "GET")
        if self.json:
            write_out([json.dumps(outcome), "\n"])
            return outcome
        players, more = outcome["players"], outcome["more"]
        if players:
            has_nodes = any(each["node"] for each in players)
            head = ["name", "dialect", "address", "since", "does", *(["node"] if has_nodes else [])]
            rows = [_row(each, has_nodes=has_nodes) for each in players]
            write_out([aligned([head, *rows], left=range(len(head)))])
        else:
            nobody = f"{quoted(self.who)} is not" if self.who else "Nobody is"
            write_out([f"{nobody} connected.\n"])
        if more:
            write_out([f"and {more} more; name one, or an address\n"])
        return outcome


def _row(player: Mapping[str, Any], *, has_nodes: bool) -> list[str]:
    began = time.localtime(time.time() - player["seconds"])
    since = time.strftime("%H:%M:%S" if player["seconds"] < _DAY else "%Y-%m-%d %H:%M", began)
    name = "-" if player["name"] is None else printable(player["name"])
    match player["doing"]:
        case "plays":
            doing = f"plays {printable(player['against'])}"
        case "is away":
            doing = f"plays {printable(player['against'])}, its connection broke"
        case "between games":
            doing = f"between two games with {printable(player['against'])}"
        case "waits":
            doing = "waits"
        case _:
            doing = "has not asked for a game"
    if player["table"] is not None:
        doing += f" at table {printable(player['table'])}"
    row = [name, player["kind"], player["address"] or "-", since, doing]
    return [*row, player["node"] or "-"] if has_nodes else row


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kick(OnServer):
    help: ClassVar = "hang up on a player; a game that it plays is lost, as when it leaves"

    who: str = argument("case makes no difference in a name", _PLAYER)

    def run(self, dialects: Dialects) -> Outcome:
        outcome = server_of(self, dialects).ask("/api/admin/kick", {"who": self.who})
        if not outcome["kicked"]:
            raise OSError(f"{quoted(self.who)} is not connected; c4gateway who lists who is")
        write_out([f"{players(outcome['kicked'])} hung up on\n"])
        return outcome


def players(count: int) -> str:
    """Return a text with a number of players and the verb, such as "2 players were"."""
    return "1 player was" if count == 1 else f"{count} players were"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Announce(OnServer):
    help: ClassVar = "show a line on all views of the page, until another comes; without TEXT, none any more"

    text: str = option(f"up to {LONGEST_TEXT} characters", Kind(str, "TEXT"), "", is_positional=True)

    def run(self, dialects: Dialects) -> Outcome:
        outcome = server_of(self, dialects).ask("/api/admin/announce", {"text": self.text})
        shown = outcome["announcement"]
        write_out([f"the page shows: {printable(shown)}\n" if shown else "the page shows no announcement\n"])
        return outcome


class _Pause(OnServer):
    help: ClassVar = "pair nobody any more; the games that are on go on, and the page says so"

    def run(self, dialects: Dialects) -> Outcome:
        outcome = server_of(self, dialects).ask("/api/admin/pause", {})
        write_out(["pairing is paused; c4gateway resume ends that\n"])
        return outcome


class _Resume(OnServer):
    help: ClassVar = "pair again"

    def run(self, dialects: Dialects) -> Outcome:
        outcome = server_of(self, dialects).ask("/api/admin/resume", {})
        write_out(["players are paired again\n"])
        return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drain(OnServer):
    help: ClassVar = "begin no further game, let those that are on be finished, and stop"

    seconds: int = option("cut off the games that are not over by then", count(1, LONGEST_DRAIN), DRAIN)

    def run(self, dialects: Dialects) -> Outcome:
        outcome = server_of(self, dialects).ask("/api/admin/drain", {"seconds": str(self.seconds)})
        write_out([f"no further game begins; the server stops within {outcome['seconds']} s\n"])
        return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clear(OnServer):
    help: ClassVar = "remove all results and tournaments, for good"

    yes: bool = flag("has to be given: there is no way back", is_required=True)

    def run(self, dialects: Dialects) -> Outcome:
        removed = server_of(self, dialects).ask("/api/clear", {})["removed"]
        write_out([f"removed: {removed['games']} games, {removed['players']} players\n"])
        return {}


COMMANDS: Mapping[str, type[Command[[Dialects], Outcome]]] = {
    "who": _Who,
    "kick": _Kick,
    "announce": _Announce,
    "pause": _Pause,
    "resume": _Resume,
    "drain": _Drain,
    "clear": _Clear,
}
