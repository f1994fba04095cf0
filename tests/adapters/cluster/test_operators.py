"""The operator's acts between nodes."""

import hmac
import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import pytest
import trio
import trio.testing

from adapters.cluster.operators import MOST, NO_ANSWER, OTHER_TOKEN, PATIENCE, RemoteOperators
from gateway.server.acts import NotDoneError, Notice, Parameters


class Operator:
    """What carries out acts on one node: it writes them down."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.others: Any = None
        self.notice = Notice()
        self.done: list[tuple[str, Parameters]] = []
        self.stops = 0
        self.fault: Exception | None = None

    async def act(self, what: str, about: Parameters) -> str:
        if self.fault is not None:
            raise self.fault
        self.done.append((what, about))
        return json.dumps({"by": self.name})

    def adopt(self, notice: Notice) -> None:
        self.notice = max(self.notice, notice, key=lambda each: each.made)

    def stop_here(self) -> None:
        self.stops += 1


class Cluster:
    """Nodes whose frames arrive at once, but for those that are cut off."""

    def __init__(self, **tokens: str | None) -> None:
        self.cut: set[str] = set()
        self.nodes = {name: RemoteOperators(self._send(name), self._others(name)) for name in tokens}
        self.operators = {name: Operator(name) for name in tokens}
        for name, token in tokens.items():
            if token is not None:
                self.nodes[name].connect(self.operators[name], token)  # type: ignore[arg-type]

    def _send(self, sender: str) -> Callable[[str, bytes], None]:
        def send(to: str, frame: bytes) -> None:
            assert b"\n" not in frame
            if to in self.nodes and not self.cut & {sender, to}:
                self.nodes[to].receive(sender, frame)

        return send

    def _others(self, name: str) -> Callable[[], list[str]]:
        return lambda: [each for each in self.nodes if each != name]

    async def act(self, on: str, what: str = "kick", **about: str) -> Mapping[str, Any]:
        """Have an act carried out on all nodes but `on`; return what came of it."""
        async with trio.open_nursery() as nursery:
            for each in self.nodes.values():
                nursery.start_soon(each.run)
            found = await self.nodes[on].act(what, about)
            nursery.cancel_scope.cancel()
        return {node: json.loads(text) for node, text in found.items()}


async def test_act_is_carried_out_on_all_other_nodes_and_what_came_of_it_is_told() -> None:
    cluster = Cluster(a="sesame", b="sesame", c="sesame")
    assert await cluster.act("a", "ban", who="eve", notes="x") == {"b": {"by": "b"}, "c": {"by": "c"}}
    assert cluster.operators["b"].done == [("ban", {"who": "eve", "notes": "x"})]
    assert cluster.operators["a"].done == []


async def test_node_with_another_token_or_none_is_named_and_does_nothing() -> None:
    cluster = Cluster(a="sesame", b="other", c=None)
    assert await cluster.act("a", who="eve") == {each: {"error": OTHER_TOKEN} for each in "bc"}
    assert cluster.operators["b"].done == []


async def test_node_that_does_not_answer_or_is_lost_is_named(autojump_clock: trio.abc.Clock) -> None:
    cluster = Cluster(a="sesame", b="sesame", c="sesame")
    cluster.cut.add("b")
    assert await cluster.act("a", who="eve") == {"b": {"error": NO_ANSWER}, "c": {"by": "c"}}
    assert trio.current_time() == PATIENCE
    cluster.cut = {"b", "c"}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(cluster.act, "a")
        await trio.testing.wait_all_tasks_blocked()
        for node in "bc":
            cluster.nodes["a"].lost(node)
    assert trio.current_time() == PATIENCE


async def test_node_that_fails_is_named() -> None:
    cluster = Cluster(a="sesame", b="sesame")
    cluster.operators["b"].fault = NotDoneError("no such network")
    assert await cluster.act("a", who="eve") == {"b": {"error": "no such network"}}


def test_notice_reaches_those_that_are_there_and_those_that_come() -> None:
    cluster = Cluster(a="sesame", b="sesame", c="other")
    notice = Notice("Round 2", True, 5.0)
    cluster.operators["a"].notice = notice
    cluster.nodes["a"].notify(notice)
    assert [cluster.operators[node].notice for node in "bc"] == [notice, Notice()]
    cluster.operators["b"].notice = Notice()
    cluster.nodes["a"].joined("b")
    assert cluster.operators["b"].notice == notice
    late = Operator("b")
    cluster.nodes["b"].connect(late, "sesame")  # type: ignore[arg-type]
    assert late.notice == notice


def test_all_nodes_with_the_token_stop() -> None:
    cluster = Cluster(a="sesame", b="sesame", c="other", d=None)
    cluster.nodes["a"].stop()
    assert [cluster.operators[node].stops for node in "abcd"] == [0, 1, 0, 0]


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"[]",
        b"{}",
        b'{"mac": 1, "body": "[]"}',
        b'{"mac": "", "body": "{"}',
        b"\xff",
        b"[" * 99_999,
    ],
)
def test_what_is_no_frame_is_an_error(frame: bytes) -> None:
    with pytest.raises(ValueError):
        Cluster(a="sesame").nodes["a"].receive("b", frame)


@pytest.mark.parametrize(
    "body", [["stop"], ["notice", "x", True, 1.0], ["done", 1, "{}"], ["frob"], [], {}, 1]
)
def test_frame_without_the_code_changes_nothing(body: object) -> None:
    cluster = Cluster(a="sesame")
    for mac in ("", "0" * 64, "\u00e9"):
        cluster.nodes["a"].receive("b", json.dumps({"mac": mac, "body": json.dumps(body)}).encode())
    operator = cluster.operators["a"]
    assert (operator.stops, operator.notice) == (0, Notice())


@pytest.mark.parametrize(
    ("what", "about"), [("frob", {}), ("kick", {"what": "x"}), ("kick", {"who": 1}), ("pause", {"who": "x"})]
)
def test_act_that_there_is_not_is_an_error(what: str, about: dict[str, object]) -> None:
    body = json.dumps(["ask", 1, what, about])
    frame = {"mac": hmac.new(b"sesame", body.encode(), sha256).hexdigest(), "body": body}
    with pytest.raises(ValueError, match="no act"):
        Cluster(a="sesame").nodes["a"].receive("b", json.dumps(frame).encode())


async def test_acts_that_wait_are_bounded() -> None:
    cluster = Cluster(a="sesame", b="sesame")
    found = []

    async def ask() -> None:
        found.append(await cluster.nodes["a"].act("kick", {"who": "eve"}))

    async with trio.open_nursery() as nursery:
        for _ in range(MOST + 1):
            nursery.start_soon(ask)
        await trio.testing.wait_all_tasks_blocked()
        assert found == [{"b": '{"error": "too many acts wait"}'}]
        nursery.cancel_scope.cancel()
