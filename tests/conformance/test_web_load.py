"""`web-load`: what it reads, how it judges, and what it says."""

from collections.abc import Sequence

import pytest
import trio
import trio.testing

from conformance.__main__ import main
from conformance.lab.jobs import LoadError
from conformance.lab.web_load.command import Read, rows
from conformance.lab.web_load.job import _read_one


def stretches(*p99s: float) -> list[Read]:
    """Return quiet stretches and loaded ones in turns, of these p99s."""
    return [
        Read("quiet", 0.2, p99, 20.0) if number % 2 == 0 else Read("20 pages", 0.3, p99, 30.0, 100, 3.5, 64.0)
        for number, p99 in enumerate(p99s)
    ]


@pytest.mark.parametrize(
    ("p99s", "is_missed"),
    [((1.0, 2.9), False), ((1.0, 3.1), True), ((10.0, 14.9), False), ((10.0, 15.1), True)],
)
def test_a_move_may_take_half_as_long_again_or_two_milliseconds_more(
    p99s: Sequence[float], is_missed: bool
) -> None:
    assert [row.what for row in rows(stretches(*p99s)) if row.is_missed] == ["move p99"] * is_missed


def test_medians_are_compared_and_answers_added_up() -> None:
    found = {(row.part, row.what): row for row in rows(stretches(1.0, 2.0, 50.0, 2.5, 1.2, 80.0))}
    quiet, loaded = found["quiet", "move p99"], found["20 pages", "move p99"]
    assert (quiet.found, quiet.most, loaded.found, loaded.most) == (1.2, None, 2.5, 3.2)
    assert found["20 pages", "answers"].found == 300


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    ],
)
async def test_answer_is_read_to_its_end_however_it_is_cut(answer: bytes) -> None:
    for cut in range(1, len(answer)):
        reader, writer = trio.testing.memory_stream_pair()
        got = {"bytes": 0}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_read_one, reader, got)
            for part in (answer[:cut], answer[cut:]):
                await writer.send_all(part)
                await trio.testing.wait_all_tasks_blocked()
        assert got["bytes"] == len(answer)


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.1 503 \r\n\r\n", b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nh"]
)
async def test_answer_that_is_none_is_told(answer: bytes) -> None:
    reader, writer = trio.testing.memory_stream_pair()
    await writer.send_all(answer)
    await writer.aclose()
    with pytest.raises(LoadError):
        await _read_one(reader, {"bytes": 0})


def test_words_that_make_no_sense_are_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["web-load", "--pairs", "0"]) == 2
    assert "--pairs" in capsys.readouterr().err
