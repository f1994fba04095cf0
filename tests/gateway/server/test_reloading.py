"""What is read again at SIGHUP."""

import logging
from threading import get_ident

import pytest

from gateway.server.reloading import InLoop, reload_all


@pytest.fixture(autouse=True)
def whole_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [(record.levelno, record.getMessage()) for record in caplog.records]


async def test_everything_is_reloaded_in_order(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []
    reloads = {"the players": lambda _: done.append("players"), "the bans": lambda _: done.append("bans")}
    await reload_all(reloads)
    await reload_all(reloads)
    assert done == ["players", "bans"] * 2
    assert told(caplog) == [(logging.INFO, "reloaded: the players, the bans")] * 2


async def test_file_that_cannot_be_used_is_one_error_and_all_others_are_reloaded(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: InLoop) -> None:
        raise ValueError("players.txt, line 3: no hash\nand more")

    def missing(_: InLoop) -> None:
        raise FileNotFoundError(2, "No such file or directory", "cert.pem")

    await reload_all({"the players": broken, "the certificate": missing, "the bans": lambda _: None})
    assert told(caplog) == [
        (
            logging.ERROR,
            "the players: not reloaded, what was read before stays: players.txt, line 3: no hash and more",
        ),
        (
            logging.ERROR,
            "the certificate: not reloaded, what was read before stays: cert.pem: No such file or directory",
        ),
        (logging.INFO, "reloaded: the bans"),
    ]
    assert [getattr(record, "event", "") for record in caplog.records] == [
        "not_reloaded",
        "not_reloaded",
        "reloaded",
    ]


async def test_mistake_of_ours_ends_neither_the_reload_nor_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def mistaken(_: InLoop) -> None:
        raise ZeroDivisionError

    await reload_all({"the players": mistaken, "the bans": lambda _: None})
    assert [level for level, _ in told(caplog)] == [logging.ERROR, logging.INFO]


async def test_thread_does_the_work_and_the_loop_what_it_is_given() -> None:
    threads: list[int] = []

    def reload(in_loop: InLoop) -> None:
        threads.append(get_ident())
        threads.append(in_loop(get_ident))

    await reload_all({"the players": reload})
    assert threads[0] != threads[1] == get_ident()


async def test_where_nothing_can_be_reloaded_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    await reload_all({})
    assert told(caplog) == [(logging.INFO, "reloaded: nothing")]
