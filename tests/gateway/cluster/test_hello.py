"""Nodes that would not agree refuse each other, in words that say what to do."""

from dataclasses import replace

import pytest

from gateway.cluster.channel import VERSION, HelloError, Identity, check

OURS = Identity("ant", 1, {"clock": 42.0})


def test_nodes_that_agree_go_together() -> None:
    check(OURS, replace(OURS, node="bee", run=2))


@pytest.mark.parametrize(
    ("theirs", "words"),
    [
        (replace(OURS, node="bee", version=VERSION + 1), "upgrade one of them"),
        (replace(OURS, run=2), "--node"),
        (replace(OURS, node="bee", rules={"clock": 41.0}), "--clock differs"),
        (replace(OURS, node="bee", rules={}), "--clock differs"),
        (replace(OURS, node="bee", rules={"clock": 42.0, "idle": 1.0}), "--idle differs"),
    ],
)
def test_node_that_differs_is_told_in_what(theirs: Identity, words: str) -> None:
    with pytest.raises(HelloError, match=words):
        check(OURS, theirs)
