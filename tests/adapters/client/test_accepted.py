"""What a client's request asks for beside a websocket."""

from typing import cast

import pytest

from adapters.client.accepted import Accepted
from adapters.client.framing import WebSocket
from adapters.net.socket import Socket


@pytest.mark.parametrize(
    ("target", "table", "against"),
    [
        ("", None, None),
        ("/", None, None),
        ("/?table=x", "x", None),
        ("/?against=ann", None, "ann"),
        ("/any/path?against=a%20b&table=%C3%A4+1", "ä 1", "a b"),
        ("/?table=a&table=b", "a", None),
        ("/?table=", None, None),
        ("?;;&&==", None, None),
        ("http://[/?table=x", "x", None),
        ("//[x]/?table=x", "x", None),
        ("/?table=%ff", "\ufffd", None),
        ("*", None, None),
    ],
)
def test_request_target_names_table_and_opponent(target: str, table: str | None, against: str | None) -> None:
    client = Accepted(cast("Socket", None), WebSocket(), target=target)
    assert (client.asked("table"), client.asked("against")) == (table, against)
