"""Processes of a match or a check: how they end, and what is shown of what they said."""

import signal
from pathlib import Path

import pytest

from gateway.runtime import children


def test_last_words_are_the_last_line_of_this_process_and_control_no_terminal(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"old\n")
    since = children.size(log)
    assert children.last_words(log, since) == "it said nothing"
    with log.open("ab") as file:
        file.write(b"Traceback\n  \x1b[2Jbad \xff\n\n")
    assert children.last_words(log, since) == r"\x1b[2Jbad \\xff"


@pytest.mark.parametrize(("status", "words"), [(3, "ended with status 3"), (-9, "was ended by SIGKILL")])
def test_status_is_told_in_words(status: int, words: str) -> None:
    assert children.how_it_ended(status) == words


@pytest.mark.parametrize(("handler", "is_heeded"), [(signal.SIG_DFL, True), (signal.SIG_IGN, False)])
def test_terminal_that_is_gone_ends_what_was_started_unless_that_is_to_be_ignored(
    handler: signal.Handlers, is_heeded: bool
) -> None:
    before = signal.signal(signal.SIGHUP, handler)
    try:
        assert (signal.SIGHUP in children.ends()) is is_heeded
    finally:
        signal.signal(signal.SIGHUP, before)
