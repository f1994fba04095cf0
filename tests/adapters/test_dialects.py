"""What codec and translator of every dialect promise: see `adapters.client.contract`."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import FEW
from worlds.events import events, told

from adapters.arena.codec import ArenaClientCodec, ArenaCodec
from adapters.arena.codec import TokenCodec as ArenaTokenCodec
from adapters.arena.messages import Encoding, Said
from adapters.arena.messages import Move as ArenaMove
from adapters.arena.messages import Start as ArenaStart
from adapters.arena.messages import StateRequest as ArenaStateRequest
from adapters.arena.translator import ArenaTranslator
from adapters.client.contract import WireError
from adapters.client.dialect import Dialect
from adapters.dialects import DIALECTS
from adapters.droidcon.codec import DroidconClientCodec, DroidconCodec
from adapters.droidcon.messages import Join, Name, Put
from adapters.droidcon.translator import DroidconTranslator
from adapters.i32cfsp.codec import I32cfspClientCodec, I32cfspCodec
from adapters.i32cfsp.messages import AiGame, Blank, Drop, Hello, Pop
from adapters.i32cfsp.translator import I32cfspTranslator
from adapters.nac4.codec import Nac4ClientCodec, Nac4Codec
from adapters.nac4.codec import TokenCodec as Nac4TokenCodec
from adapters.nac4.messages import Connect, PlayMove
from adapters.nac4.translator import Nac4Translator
from adapters.rpi.codec import RpiClientCodec, RpiCodec
from adapters.rpi.messages import Connect as RpiConnect
from adapters.rpi.messages import Disconnect, Get, ListGames, ListPlayers, Observe, Ready, Reconnect, Watch
from adapters.rpi.messages import Ping as RpiPing
from adapters.rpi.messages import Play as RpiPlay
from adapters.rpi.translator import RpiTranslator
from adapters.tutorial.codec import TutorialClientCodec, TutorialCodec
from adapters.tutorial.messages import InitRequest, PlayRequest
from adapters.tutorial.translator import TutorialTranslator
from gateway.access.accounts import fault_of, new_token
from gateway.game.commands import InLobby


@dataclass(frozen=True)
class Case:
    """The parts of a dialect, and what its clients may say."""

    server: Callable[[], Any]
    client: Callable[[], Any]
    translator: Callable[[], Any]
    messages: st.SearchStrategy[Any]
    said: Sequence[str]
    """Texts as bots send them, and nearly so; a blank may be any blanks."""
    filler: str = " "
    """What makes no difference at the end of a text."""


def _started(encoding: Encoding) -> Callable[[], ArenaCodec]:
    def made() -> ArenaCodec:
        codec = ArenaCodec()
        codec.decode('{"x":1}' if encoding is Encoding.JSON else "{:x 1}")
        return codec

    return made


_words = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
_texts = st.text(st.characters(exclude_categories=["Cs"]))
_integers = st.integers(-9, 99)
_said = st.just(Said('{"x":1}', Encoding.JSON))
_arena = st.one_of(
    st.builds(ArenaStart, _said, _texts, st.none() | _texts, st.none() | _texts),
    st.builds(ArenaMove, _said, _integers),
    st.builds(ArenaStateRequest, _said),
)
_nac4 = st.builds(Connect, _words) | st.builds(PlayMove, _integers)
_MOVES = ["3", "-1", "03", "3.0", "x", "", "3 4", "\uff13", "null", "nil", '"3"', "7" * 9]
_MAPS = ['{"type" : "move" , "move" : %s }', '{"move" : %s , "type" : "move"}', "{:type :move :move %s }"]
CASES = {
    "nac4": Case(
        Nac4Codec,
        Nac4ClientCodec,
        lambda: Nac4Translator(InLobby()),
        _nac4,
        [" playmove %s ", "connect %s", "PLAYMOVE %s", "connect ann secret"],
    ),
    "arena json": Case(
        _started(Encoding.JSON), lambda: ArenaClientCodec(Encoding.JSON), ArenaTranslator, _arena, _MAPS
    ),
    "arena edn": Case(
        _started(Encoding.EDN), lambda: ArenaClientCodec(Encoding.EDN), ArenaTranslator, _arena, _MAPS
    ),
    "droidcon": Case(
        DroidconCodec,
        DroidconClientCodec,
        DroidconTranslator,
        st.builds(Name, _words) | st.builds(Join, _words) | st.builds(Put, st.none() | _integers),
        [" PUT %s ", "put %s", "NAME %s", "JOIN two %s", "GET / HTTP/1.1"],
    ),
    "i32cfsp": Case(
        I32cfspCodec,
        I32cfspClientCodec,
        I32cfspTranslator,
        st.builds(Hello, _words)
        | st.builds(AiGame, st.booleans())
        | st.builds(Drop, _integers)
        | st.builds(Pop, _integers)
        | st.builds(Blank),
        [" DROP %s ", "drop %s", "POP %s", "I32CFSP_HELLO %s", "AI_GAME 7 %s", "AI_GAME %s 6", "AI_GAME"],
    ),
    "rpi": Case(
        RpiCodec,
        RpiClientCodec,
        lambda: RpiTranslator(InLobby()),
        st.one_of(
            st.builds(RpiConnect, _words, st.none() | _words),
            st.builds(Reconnect, _words, st.none() | _words),
            st.builds(RpiPlay, st.none() | st.integers(0, 99)),
            st.builds(Watch, st.integers(0, 2**32 - 1)),
            st.builds(Get, _words),
            st.sampled_from([Ready(), Disconnect(), Observe(), ListPlayers(), ListGames(), RpiPing()]),
        ),
        [
            "PLAY:%s",
            "CONNECT:%s",
            "RECONNECT:ann:%s",
            "GAME:WATCH:%s",
            "GAME:AWARD:%s:x",
            "SET:a:%s",
            "READY",
        ],
        filler="",
    ),
    "tutorial": Case(
        TutorialCodec,
        TutorialClientCodec,
        lambda: TutorialTranslator("guest", "key"),
        st.builds(InitRequest, *[st.none() | _texts] * 3)
        | st.builds(PlayRequest, st.none() | st.integers(-1, 6)),
        ['{"type" : "play" , "column" : %s }', '{"column":%s,"type":"play"}', '{"type":"init","join":%s}'],
    ),
}
WITH_TOKENS: dict[str, tuple[Callable[[], Any], str]] = {
    "nac4": (Nac4TokenCodec, "user"),
    "arena": (ArenaTokenCodec, "id"),
    "droidcon": (DroidconCodec, "nick"),
    "i32cfsp": (I32cfspCodec, "name"),
    "rpi": (RpiCodec, "name"),
    "tutorial": (TutorialCodec, "name"),
}
"""The codec of a server that protects names, and the field of the message that has the name."""
cases = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
_BLANKS = st.text(" \t\r\n", min_size=1, max_size=3)


def texts(case: Case) -> st.SearchStrategy[str]:
    """Return texts of clients, and any others; where bytes were no UTF-8 there are lone surrogates."""
    usual = st.builds(str.replace, st.sampled_from(case.said), st.just("%s"), st.sampled_from(_MOVES))
    return (
        st.text(st.characters() | st.characters(categories=["Cs"]))
        | usual
        | st.builds(str.replace, usual, st.just(" "), _BLANKS)
        | st.builds("{}{}".format, usual, st.text())
    )


def read(decode: Callable[[str], object], text: str) -> str | None:
    """Return what tells apart messages that are equal, but not the same; None for what is none."""
    try:
        return repr(decode(text))
    except WireError:
        return None


def sent(case: Case, message: object) -> str:
    return str(case.client().encode(message))


@pytest.mark.parametrize(("name", "case"), CASES.items())
def test_manners_name_the_dialect(name: str, case: Case) -> None:
    assert case.translator().manners.kind == name.split(maxsplit=1)[0]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_messages_for_entering_have_the_name_and_the_token(dialect: Dialect, data: st.DataObject) -> None:
    name = data.draw(st.from_regex(dialect.names, fullmatch=True).filter(lambda text: fault_of(text) is None))
    token = new_token()
    known = {"name": name, "quoted": json.dumps(name), "token": token, "table": "my cup"}
    codec, field = WITH_TOKENS[dialect.name]
    messages = [codec().decode(each.format(**known)) for each in dialect.entering]
    assert [getattr(messages[0], each) for each in ("token", field)] == [token, name]
    assert dialect.scheme or messages[1:] == [Join("my cup") if dialect.has_places else AiGame()]


@cases
@given(data=st.data())
def test_server_reads_what_a_client_writes(case: Case, data: st.DataObject) -> None:
    text = sent(case, data.draw(case.messages))
    assert sent(case, case.server().decode(text)) == text


@cases
@given(data=st.data())
def test_text_of_a_client_is_a_message_or_a_wire_error_and_means_the_same_each_time(
    case: Case, data: st.DataObject
) -> None:
    text = data.draw(texts(case))
    new = read(case.server().decode, text + case.filler * 300)  # which is too long to be remembered
    assert [read(case.server().decode, text) for _ in range(2)] == [new, new]


@cases
@given(data=st.data())
def test_text_of_a_server_is_a_message_or_a_wire_error(case: Case, data: st.DataObject) -> None:
    with suppress(WireError):
        case.client().decode(data.draw(texts(case)))


@cases
@settings(max_examples=FEW)
@given(data=st.data())
def test_client_can_read_what_it_is_told_whatever_happens_in_whatever_order(
    case: Case, data: st.DataObject
) -> None:
    translator, server, client = case.translator(), case.server(), case.client()
    for message in told(translator, *data.draw(st.lists(events(case.messages), max_size=10))):
        text = server.encode(message)
        read = client.decode(text)
        assert server.encode(read) == text
        assert "\n" not in text.removesuffix("\r\n")


@cases
@settings(max_examples=FEW)
@given(data=st.data())
def test_what_a_client_asks_for_does_not_depend_on_what_it_was_told(case: Case, data: st.DataObject) -> None:
    translator, message = case.translator(), data.draw(case.messages)
    told(translator, *data.draw(st.lists(events(case.messages), max_size=5)))
    command = translator.receive(message, 5)
    assert command == case.translator().receive(message, 5)
    assert command.to == 5
