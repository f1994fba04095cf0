"""Play one transcript against running servers.

Handles the clients, time and the effect of each step on the wire. Must not know how servers are started or
how a failure is reported. Every wait ends after `patience`. It is a failure if a client receives something
that no line expects. All clients leave at the end, after a failure too, because a remaining client would
disturb the next transcript.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

import trio

from conformance import steps
from conformance.connection import CannotConnect, CannotSend, Connection, connect
from conformance.inbox import Data, End, LineInbox, Received, Text, notation, short
from conformance.outcome import Failed, Outcome, Passed
from conformance.payloads import Expected, ExpectedBytes, ExpectedText, complaint, expectation, outgoing
from conformance.placeholders import USUAL_CLOCK, Names, expand, filled, span
from conformance.steps import Client, Form, Line, Step, Transcript
from conformance.targets import Address

# Seconds to wait after the last step for a message that no line expects.
SETTLE = 0.05
# Seconds that the server has to close its side after all clients have left.
GOODBYE = 2.0


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how transcripts are played. Times are in seconds.

    `patience`: the longest wait for anything expected. `clock`: the time that the servers give a player for a
    game. `delay`: how long a client waits after its websocket handshake before it sends anything.
    """

    addresses: Mapping[str, Address]
    patience: float
    clock: float = USUAL_CLOCK
    delay: float = 0.0


class StepFailed(Exception):
    """A step did not go as the transcript says."""

    def __init__(self, expected: str, got: str, why: str = "") -> None:
        super().__init__(expected)
        self.expected, self.got, self.why = expected, got, why


async def play(transcript: Transcript, setting: Setting, suffix: str) -> Outcome:
    """Play a transcript. The setting must have an address for each of its dialects.

    `suffix`, of letters and digits, is added to every name. No other transcript on the server may use it.
    """
    async with trio.open_nursery() as nursery:
        playback = _Playback(transcript, setting, suffix, nursery)
        outcome = await playback.run()
        await playback.good_bye()
        nursery.cancel_scope.cancel()
    return outcome


class _Playback:
    def __init__(self, transcript: Transcript, setting: Setting, suffix: str, nursery: trio.Nursery) -> None:
        self._transcript = transcript
        self._setting = setting
        self._suffix = suffix
        self._nursery = nursery
        self._clients = {client.name: client for client in transcript.clients}
        self._roles = {name: name for name in self._clients}
        self._connections: dict[str, Connection] = {}
        self._kept: dict[str, str] = {}
        self._exchange: list[str] = []
        self._began = trio.current_time()

    async def run(self) -> Outcome:
        number = 0
        try:
            for line in self._transcript.lines:
                number = line.number
                await self._step(line)
            await self._nothing_left()
        except StepFailed as failure:
            return Failed(number, failure.expected, failure.got, failure.why, tuple(self._exchange))
        return Passed()

    async def good_bye(self) -> None:
        """Make all clients leave at once, and wait for the server to close its side."""
        async with trio.open_nursery() as nursery:
            for connection in self._connections.values():
                nursery.start_soon(self._see_off, connection)
        for connection in self._connections.values():
            await connection.drop()

    async def _see_off(self, connection: Connection) -> None:
        """Leave, unless the client has left; then wait at most 2 s for the server to close its side."""
        with trio.move_on_after(GOODBYE):
            if not connection.left:
                await connection.leave()
            await connection.server_gone()

    async def _step(self, line: Line) -> None:
        step: Step = line.step
        match step:
            case steps.Wait(text):
                await trio.sleep(span(text, self._setting.clock))
            case steps.Lot():
                await self._draw(step)
            case steps.Connects(who):
                await self._connected(who)
            case steps.Sends():
                await self._send(step)
            case steps.Hears():
                await self._hear(step)
            case steps.Silent(who, text):
                await self._silence(await self._connected(who), span(text, self._setting.clock))
            case steps.Leaves(who):
                connection = await self._connected(who)
                self._note(f"{connection.client.name} leaves")
                await self._see_off(connection)
            case steps.Resets(who):
                connection = await self._connected(who)
                self._note(f"{connection.client.name} resets")
                await connection.reset()
            case steps.Closed(who, code):
                await self._closed(await self._connected(who), code)
            case steps.IgnoresTheRest(who):
                (await self._connected(who)).ignoring = True
            case _:
                assert_never(step)

    async def _connected(self, who: str) -> Connection:
        """Return the client's connection; connect first if there is none."""
        name = self._roles[who]
        if name not in self._connections:
            self._connections[name] = await self._connect(self._clients[name])
        return self._connections[name]

    async def _connect(self, client: Client) -> Connection:
        path = None if client.path is None else expand(client.path, self._names())
        expected = f"{client.name} connects" + (f" to {path}" if path else "")
        self._note(expected)
        address = self._setting.addresses[client.dialect]
        try:
            with trio.fail_after(self._setting.patience):
                connection = await connect(client, address, path, self._hearing(client))
        except CannotConnect as error:
            raise StepFailed(expected, str(error)) from None
        except trio.TooSlowError:
            raise StepFailed(expected, self._nothing()) from None
        self._nursery.start_soon(connection.read_on)
        if client.manner.websocket:
            await trio.sleep(self._setting.delay)
        return connection

    async def _send(self, step: steps.Sends) -> None:
        connection = await self._connected(step.who)
        name = connection.client.name
        said = self._written(connection, ">", step)
        if connection.left:
            raise StepFailed(said, f"{name} has left")
        self._note(said)
        try:
            with trio.fail_after(self._setting.patience):
                manner = connection.client.manner
                await connection.send(outgoing(manner, step.form, step.payload, self._names()))
        except CannotSend:
            if not connection.hangup_expected:
                raise StepFailed(said, "it could not be sent: the server had hung up") from None
        except trio.TooSlowError:
            limit = self._setting.patience
            raise StepFailed(said, f"the server did not read it within {limit:g} s") from None

    async def _hear(self, step: steps.Hears) -> None:
        connection = await self._connected(step.who)
        expected = expectation(connection.client.manner, step.form, step.payload, self._names())
        wanted = self._written(connection, "<", step)
        received = await self._next(connection, expected, wanted)
        why = complaint(expected, received)
        if why is not None:
            raise StepFailed(wanted, self._told(connection, received), why)
        if isinstance(expected, ExpectedText) and isinstance(received, Text):
            self._kept |= expected.pattern.kept(received.text)
        if isinstance(connection.inbox, LineInbox) and isinstance(received, Data):
            connection.inbox.take_piece(len(received.data))
        else:
            connection.inbox.take()

    async def _next(self, connection: Connection, expected: Expected | None, wanted: str) -> Received:
        """Return the next item that the connection received, without removing it from the inbox."""
        look = connection.inbox.first
        if isinstance(expected, ExpectedBytes) and isinstance(connection.inbox, LineInbox):
            size, inbox = len(expected.data), connection.inbox

            def look() -> Received | None:
                return inbox.piece(size)

        try:
            with trio.fail_after(self._setting.patience):
                return await connection.received(look)
        except trio.TooSlowError:
            pieces = connection.inbox.rest()
            begun = f"only {self._told(connection, pieces[0])}, then " if pieces else ""
            raise StepFailed(wanted, begun + self._nothing()) from None

    async def _silence(self, connection: Connection, seconds: float) -> None:
        began = trio.current_time()
        with trio.move_on_after(seconds):
            received = await connection.received(lambda: next(iter(connection.inbox.rest()), None))
            after = trio.current_time() - began
            wanted = f"{connection.client.name} silent {seconds:g}"
            raise StepFailed(wanted, f"{self._told(connection, received)} after {after:.3f} s")

    async def _closed(self, connection: Connection, code: int | None) -> None:
        wanted = f"{connection.client.name} closed" + ("" if code is None else f" {code}")
        received = await self._next(connection, None, wanted)
        if not isinstance(received, End):
            raise StepFailed(wanted, self._told(connection, received))
        reset = received.how == "the connection was reset"
        if (code is not None and received.code != code) or (reset and not connection.client.manner.websocket):
            raise StepFailed(wanted, self._told(connection, received))
        connection.inbox.take()
        connection.hangup_expected = True

    async def _draw(self, step: steps.Lot) -> None:
        one, other = [await self._connected(who) for who in step.clients]
        expected = expectation(one.client.manner, Form.PLAIN, step.payload, self._names())
        first, second = one.client.name, other.client.name
        wanted = f"{first} < (a message to draw the lot by)"
        received = await self._next(one, expected, wanted)
        if isinstance(received, End):
            raise StepFailed(wanted, self._told(one, received))
        if complaint(expected, received) is not None:
            first, second = second, first
        self._roles |= {step.parts[0]: first, step.parts[1]: second}
        self._note(f"lot: {step.parts[0]} is {first}, {step.parts[1]} is {second}")

    async def _nothing_left(self) -> None:
        await trio.sleep(SETTLE)
        for connection in self._connections.values():
            if connection.ignoring:
                continue
            for received in connection.inbox.rest():
                if isinstance(received, End) and connection.left:
                    continue
                wanted = f"nothing more for {connection.client.name}"
                raise StepFailed(wanted, self._told(connection, received), "received but not expected")

    def _names(self) -> Names:
        return Names(self._suffix, self._roles, self._setting.clock, self._kept)

    def _told(self, connection: Connection, received: Received) -> str:
        return f"{connection.client.name} {notation(received, connection.client.manner.ending)}"

    def _written(self, connection: Connection, arrow: str, step: steps.Sends | steps.Hears) -> str:
        """Return a line of the transcript with its placeholders replaced."""
        payload = filled(step.payload, self._names())
        return short(f"{connection.client.name} {arrow}{step.form.value} {payload}".rstrip())

    def _nothing(self) -> str:
        return f"nothing within {self._setting.patience:g} s"

    def _note(self, line: str) -> None:
        self._exchange.append(f"{trio.current_time() - self._began:7.3f}  {line}")

    def _hearing(self, client: Client) -> Callable[[Received], None]:
        def hear(received: Received) -> None:
            self._note(f"{client.name} {notation(received, client.manner.ending)}")

        return hear
