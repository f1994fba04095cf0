"""What is read again at SIGHUP."""

import logging

import pytest

from gateway.server.reloading import Reloads


@pytest.fixture
def reloads(caplog: pytest.LogCaptureFixture) -> Reloads:
    caplog.set_level(logging.INFO)
    return Reloads()


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records]


def test_everything_is_reloaded_in_order(reloads: Reloads, caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    reloads.add("the players", lambda: done.append("players"))
    reloads.add("the bans", lambda: done.append("bans"))
    reloads.run()
    reloads.run()
    assert done == ["players", "bans"] * 2
    assert told(caplog) == [(logging.INFO, "reloaded: the players, the bans")] * 2


def test_file_that_cannot_be_used_is_one_warning_and_all_others_are_reloaded(
    reloads: Reloads, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ValueError("players.txt, line 3: no hash\nand more")

    def missing() -> None:
        raise FileNotFoundError(2, "No such file or directory", "cert.pem")

    reloads.add("the players", broken)
    reloads.add("the certificate", missing)
    reloads.add("the bans", lambda: None)
    reloads.run()
    assert told(caplog) == [
        (
            logging.WARNING,
            "the players: not reloaded, what was read before stays: players.txt, line 3: no hash and more",
        ),
        (
            logging.WARNING,
            "the certificate: not reloaded, what was read before stays: cert.pem: No such file or directory",
        ),
        (logging.INFO, "reloaded: the bans"),
    ]
    assert [getattr(record, "event", "") for record in caplog.records] == [
        "not_reloaded",
        "not_reloaded",
        "reloaded",
    ]


def test_mistake_of_ours_ends_neither_the_reload_nor_the_server(
    reloads: Reloads, caplog: pytest.LogCaptureFixture
) -> None:
    def mistaken() -> None:
        raise ZeroDivisionError

    reloads.add("the players", mistaken)
    reloads.add("the bans", lambda: None)
    reloads.run()
    assert [level for level, _ in told(caplog)] == [logging.ERROR, logging.INFO]


def test_where_nothing_can_be_reloaded_the_log_says_so(
    reloads: Reloads, caplog: pytest.LogCaptureFixture
) -> None:
    reloads.run()
    assert told(caplog) == [(logging.INFO, "reloaded: nothing")]
