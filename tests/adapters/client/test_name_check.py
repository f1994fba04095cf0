"""Who may be called what, and what is hidden of a token, whatever the dialect."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from worlds.memory_client import MemoryClient, socket_of

from adapters.client.accepted import Accepted
from adapters.client.contract import Farewell
from adapters.client.framing import Lines
from adapters.client.name_check import NameCheck, without_tokens
from gateway.access.accounts import Account, Accounts, digest_of, new_token
from gateway.game.commands import LOBBY, Ask, Command, Denied, Enter, Introduce, Play
from gateway.game.events import Dismissed, Event, Objection, Refused, Why
from gateway.game.manners import Afterwards, Illegal, Manners

pytestmark = pytest.mark.trio

TOKEN = new_token()
AFTER_NAME = re.compile(r"^name \S+ ")
WRONG = Objection.TOKEN_WRONG


@dataclass(frozen=True)
class Message:
    command: Command
    token: object = None


class Translator:
    manners = Manners(kind="toy", illegal=Illegal.RETRY, afterwards=Afterwards.STEP_OUT)

    def receive(self, message: Message, number: int = 0) -> Command:
        return message.command

    def observe(self, event: Event, asked: Message | str | None = None) -> Iterator[str]:
        yield str(asked)

    def farewell(self, dismissed: Dismissed) -> Farewell:
        return Farewell(1000, dismissed.why.value)


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    file = tmp_path / "players"
    file.write_text(f"{Account('ann', digest_of(TOKEN)).line}\n")
    return Accounts(str(file))


def check(accounts: Accounts, token: str | None = None, target: str = "") -> NameCheck[Message, str]:
    """Return the check of a client whose handshake had `token` in a header, and asked for `target`."""
    client = Accepted(socket_of(MemoryClient()), Lines(), target=target, token=token)
    return NameCheck(Translator(), accounts, client, AFTER_NAME)


async def test_texts_of_a_server_that_protects_no_name_stay_as_they_are(tmp_path: Path) -> None:
    text = "name a-name-with-more-than-20-letters secret"
    assert check(Accounts(str(tmp_path / "players"), optional=True)).hide(text) == text


@pytest.mark.parametrize("command", [Enter(LOBBY, "ann", 3, proven=True), Introduce("ANN", to=3)])
async def test_command_that_gives_a_protected_name_needs_its_token(
    accounts: Accounts, command: Command
) -> None:
    checked = check(accounts)
    assert checked.receive(Message(command), 3) == Denied(WRONG, 0.25, 3)
    assert checked.receive(Message(command, "x"), 3) == Denied(WRONG, 0.5, 3)
    assert checked.receive(Message(command, 5), 3) == Denied(WRONG, 1.0, 3)
    assert checked.receive(Message(command, TOKEN), 3) == command
    assert accounts.counts == {("token_wrong", "toy"): 3}


@pytest.mark.parametrize(
    "command", [Play(3), Ask(), Enter(LOBBY, "bob"), Enter(LOBBY), Introduce("bob")], ids=repr
)
async def test_any_other_command_passes_as_it_is(accounts: Accounts, command: Command) -> None:
    assert check(accounts).receive(Message(command)) is command
    assert check(accounts, "x").receive(Message(command, "y")) is command


async def test_token_of_the_handshake_counts_where_the_message_has_none(accounts: Accounts) -> None:
    enter = Enter(LOBBY, "ann", proven=True)
    assert check(accounts, TOKEN).receive(Message(enter)) == enter
    assert check(accounts, TOKEN).receive(Message(enter, "x"), 1) == Denied(WRONG, 0.25, 1)
    assert check(accounts, "x").receive(Message(enter, TOKEN)) == enter


async def test_token_proves_the_name_until_another_is_given(accounts: Accounts) -> None:
    checked = check(accounts)
    for name, token, proven in (("ann", TOKEN, True), ("bob", TOKEN, False)):
        checked.receive(Message(Introduce(name), token))
        assert checked.receive(Message(Enter(LOBBY))) == Enter(LOBBY, proven=proven)


async def test_client_is_told_and_hung_up_on_as_its_dialect_has_it(accounts: Accounts) -> None:
    checked = check(accounts)
    assert checked.manners == Translator.manners
    assert checked.farewell(Dismissed(Why.LEFT)) == Farewell(1000, "left")
    asked = Message(Ask())
    assert [*checked.observe(Refused(WRONG), asked)] == [str(asked)]


async def test_unreadable_text_comes_back_without_a_token(accounts: Accounts) -> None:
    checked = check(accounts)
    assert [*checked.observe(Refused(WRONG), "name ann secret")] == ["name ann ..."]
    assert [*checked.observe(Refused(WRONG), f"nmae ann {TOKEN}!")] == ["nmae ann ...!"]
    assert checked.hide("name ann") == "name ann"
    assert without_tokens(AFTER_NAME, "put 3 of 1234567890") == "put 3 of 1234567890"


@pytest.mark.parametrize(
    ("token", "target", "proven"),
    [
        (None, "/?table=x", False),
        (None, f"/?table=x&token={TOKEN}", True),
        (TOKEN, "/?token=other", True),
        ("other", f"/?token={TOKEN}", False),
    ],
    ids=["none", "in the URL", "in the header", "in both"],
)
async def test_token_in_a_header_goes_before_one_in_the_url(
    accounts: Accounts, token: str | None, target: str, *, proven: bool
) -> None:
    command = check(accounts, token, target).receive(Message(Introduce("ann")), 3)
    assert command == (Introduce("ann") if proven else Denied(WRONG, 0.25, 3))


async def test_token_in_a_url_is_warned_of_without_being_shown_or_flooding_the_log(
    accounts: Accounts, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    check(accounts, TOKEN, "/?token=other")
    assert caplog.records == []
    for _ in range(100):
        check(accounts, target=f"/?table=x&token={TOKEN}")
    (record,) = caplog.records
    assert record.getMessage().startswith("a client at 192.0.2.1 sends its token in the URL")
    assert TOKEN not in repr(vars(record))
