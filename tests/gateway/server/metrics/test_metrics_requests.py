"""The page's requests, counted in one process and added up in another."""

import pytest

from gateway.server.metrics.requests import Requests, kind_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "page"),
        ("/player/api", "page"),
        ("/no/such/page", "page"),
        ("/api/games", "api"),
        ("/api/live", "live"),
        ("/api/live/events", "live"),
        ("/static/1/live.js", "static"),
        ("/healthz", "health"),
    ],
)
def test_path_is_of_one_of_few_kinds(path: str, kind: str) -> None:
    assert kind_of(path) == kind


def test_what_was_taken_is_added_up_elsewhere_and_taken_once() -> None:
    here, there = Requests(), Requests()
    for _ in range(2):
        here.add("page", 200, 0.25)
        here.add("api", 503, 0.5)
        there.join(here.take())
    assert here.take() == []
    assert {key: (sum(each.counts()), each.total) for key, each in there.delays.items()} == {
        ("page", 200): (2, 0.5),
        ("api", 503): (2, 1.0),
    }


@pytest.mark.parametrize(
    "row", [("/alice", 200, (0,) * 14, 0.0), ("page", 1000, (0,) * 14, 0.0), ("page", 200, (1, 2), 0.0)]
)
def test_what_would_be_a_label_of_its_own_is_refused(row: tuple[str, int, tuple[int, ...], float]) -> None:
    with pytest.raises(ValueError, match=r"neither|shorter"):
        Requests().join([row])
