"""Readers of what other processes and the store say, and of what a browser asks for.

Whatever can be read is written again, in every way that the gateway writes it, and has to come out as it went
in.
"""

import json
import zlib
from contextlib import suppress
from typing import Any

from adapters.web.link import decode
from adapters.web.live.state import State
from adapters.web.query import FILTERS, PAGING, BadRequestError, parameters, part, wanted
from gateway.access.heads import host_in, is_domain, may_play
from gateway.game.encoding import EncodingError, decode_command, decode_event
from gateway.game.encoding import encode as encode_value
from gateway.game.fact_encoding import decode_fact
from gateway.runtime.child import LinkError
from gateway.store import evidence
from gateway.store.formats import FORMATS, jsonl


def events(data: bytes) -> None:
    """Read an event and a command, and write it again."""
    for decode_one in (decode_event, decode_command):
        with suppress(EncodingError):
            value: Any = decode_one(data)
            assert decode_one(encode_value(value)) == value, "written and read it is another one"


def messages(data: bytes) -> None:
    """Read a message between the server and the web's process."""
    with suppress(LinkError):
        decode(data)


def facts(data: bytes) -> None:
    """Read facts as they cross to the web's process, and let a model of the games hear them."""
    model = State()
    for now, line in enumerate(data.split(b"\n")):
        with suppress(ValueError):
            fact = decode_fact(line)
            game = model.hear(fact, float(now))
            if game is not None:
                json.dumps(game.shown(1, float(now)))
    json.dumps(model.counts(float(len(data))))


def games(data: bytes) -> None:
    """Read a line of an import; every export has to take what it takes."""
    try:
        found = jsonl.read(data)
    except ValueError:
        return
    for write in FORMATS.values():
        "".join(write(found)).encode()
    again = [game for line in jsonl.write(found) for game in jsonl.read(line)]
    assert again == found, "written and read a game is another one"


def exchanges(data: bytes) -> None:
    """Read the evidence of one side, as the database has it, and as it is before it is packed."""
    evidence.unpacked(data)
    evidence.unpacked(zlib.compress(data, 1))


def requests(data: bytes) -> None:
    """Read what a browser asks for: a query, then a host, which may be that of a website, too."""
    query, _, host = data.partition(b"\n")
    with suppress(BadRequestError):
        given = parameters(query, (*FILTERS, *PAGING))
        wanted(given)
        part(given)
    name = host_in(host.decode("latin-1"))
    if name is not None:
        is_domain(name)
        assert may_play(f"http://{name}:1", [name], ()), "a page may not play where it is from"
