"""How messages of the tutorial are written, and which texts are none."""

import pytest

from adapters.client.contract import WireError
from adapters.tutorial.codec import LONGEST, TutorialClientCodec, TutorialCodec
from adapters.tutorial.messages import Color, Error, Init, InitRequest, Play, PlayRequest, ServerMessage, Win

RED, YELLOW = Color.RED, Color.YELLOW


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type": "init"}', InitRequest()),
        (' {"x": 1, "type":"init", "join": null, "watch": null}\n', InitRequest()),
        ('{"type": "init", "join": "k", "name": "Ann \\u00e9"}', InitRequest("k", None, "Ann \u00e9")),
        ('{"type": "init", "watch": ""}', InitRequest(None, "")),
        ('{"type": "play", "type": "init"}', InitRequest()),
        ('{"type": "play", "column": 6}', PlayRequest(6)),
        *((f'{{"type": "play", "column": {each}}}', PlayRequest(-1)) for each in (7, -1, "9" * 300)),
        *(
            (f'{{"type": "play", "column": {each}}}', PlayRequest(None))
            for each in ("null", "true", "3.0", "3e0", '"3"', "[3]", "{}")
        ),
        ('{"type": "play"}', PlayRequest(None)),
    ],
)
def test_client_message_is_read(text: str, message: object) -> None:
    assert TutorialCodec().decode(text) == message


def test_token_is_read() -> None:
    message = TutorialCodec().decode('{"type": "init", "token": "secret"}')
    assert isinstance(message, InitRequest)
    assert message.token == "secret"
    assert "secret" not in repr(message)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "{",
            "null",
            "3",
            "[]",
            "{}",
            '"init"',
            '{"type": "x"}',
            '{"type": ["init"]}',
            '{"type": null}',
        ),
        *('{"type": "init"} x', '\ufeff{"type": "init"}', '{"type": "init", "x": "\udcff"}'),
        *(f'{{"type": "init", "{key}": {value}}}' for key in ("join", "watch", "name") for value in "3[]"),
        '{"type": "init", "name": "\\ud800"}',
        '{"type": "init", "x": ' + "[" * 2000,
        '{"type": "init", "x": "' + "y" * LONGEST + '"}',
        '{"type": "play", "column": ' + "9" * 4300 + "}",
    ],
)
def test_text_that_is_no_message(text: str) -> None:
    with pytest.raises(WireError):
        TutorialCodec().decode(text)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Init("a", "b"), '{"type": "init", "join": "a", "watch": "b"}'),
        (Init(None, None, YELLOW), '{"type": "init", "join": null, "watch": null, "player": "yellow"}'),
        (
            Init("a", "b", RED, 7),
            '{"type": "init", "join": "a", "watch": "b", "player": "red", "moves": 7}',
        ),
        (Play(RED, 3, 0), '{"type": "play", "player": "red", "column": 3, "row": 0}'),
        (Win(YELLOW), '{"type": "win", "player": "yellow"}'),
        (Error('"'), '{"type": "error", "message": "\\""}'),
    ],
)
def test_server_message_is_written_as_the_original_s_and_read(message: ServerMessage, text: str) -> None:
    assert TutorialCodec().encode(message) == text
    assert TutorialClientCodec().decode(text) == message


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "play", "player": "green", "column": 3, "row": 0}',
        '{"type": "play", "player": "red", "column": 7, "row": 0}',
        '{"type": "play", "player": "red", "column": true, "row": 0}',
        '{"type": "play", "player": "red", "column": 3}',
        '{"type": "win"}',
        '{"type": "init", "join": 3}',
        '{"type": "init", "player": "red", "moves": 43}',
        '{"type": "error", "message": null}',
        '{"type": "draw"}',
    ],
)
def test_client_reads_no_message_that_cannot_be(text: str) -> None:
    with pytest.raises(WireError):
        TutorialClientCodec().decode(text)
