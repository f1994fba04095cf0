"""Plays one transcript against servers that are already there.

Knows the cast, time and what each step means on the wire; does not know how servers come about, nor
what is reported of a failure. The rules it keeps: every wait has an end (`patience`); what a member
received and no line expected is a failure; and nobody is left behind, neither after success nor
after failure, because the next transcript must not meet the ghosts of this one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never

import trio

from conformance import steps
from conformance.actors import Actor, CannotConnect, CannotSend, connect
from conformance.inbox import Data, End, LineInbox, Received, notation, short
from conformance.outcome import Failed, Outcome, Passed
from conformance.payloads import Expected, ExpectedBytes, complaint, expectation, outgoing
from conformance.placeholders import USUAL_CLOCK, Names, expand, filled, span
from conformance.steps import Form, Line, Member, Step, Transcript
from conformance.targets import Address

# How long a message that nobody expects may take to show up once the last step is done.
SETTLE = 0.05
# How long the server may take to close its side when all have left.
GOODBYE = 2.0


@dataclass(frozen=True, slots=True)
class Stage:
    """Where transcripts are played, and all in seconds: `patience`, what anything expected may take;
    `clock`, what the servers give a player for a game; `delay`, how long a member that has shaken hands
    says nothing.
    """

    addresses: Mapping[str, Address]
    patience: float
    clock: float = USUAL_CLOCK
    delay: float = 0.0


class StepFailed(Exception):
    """A step went otherwise than the transcript has it."""

    def __init__(self, expected: str, got: str, why: str = "") -> None:
        super().__init__(expected)
        self.expected, self.got, self.why = expected, got, why


async def play(transcript: Transcript, stage: Stage, suffix: str) -> Outcome:
    """Play a transcript whose dialects are all among the stage's addresses.

    `suffix` goes behind every name: letters and digits, used for no other transcript on that server.
    """
    async with trio.open_nursery() as nursery:
        performance = _Performance(transcript, stage, suffix, nursery)
        outcome = await performance.run()
        await performance.good_bye()
        nursery.cancel_scope.cancel()
    return outcome


class _Performance:
    def __init__(self, transcript: Transcript, stage: Stage, suffix: str, nursery: trio.Nursery) -> None:
        self._transcript = transcript
        self._stage = stage
        self._suffix = suffix
        self._nursery = nursery
        self._members = {member.name: member for member in transcript.cast}
        self._roles = {name: name for name in self._members}
        self._actors: dict[str, Actor] = {}
        self._exchange: list[str] = []
        self._began = trio.current_time()

    async def run(self) -> Outcome:
        number = 0
        try:
            for line in self._transcript.lines:
                number = line.number
                await self._perform(line)
            await self._nothing_left()
        except StepFailed as failure:
            return Failed(number, failure.expected, failure.got, failure.why, tuple(self._exchange))
        return Passed()

    async def good_bye(self) -> None:
        """All leave at once, and wait for the server to see it."""
        async with trio.open_nursery() as nursery:
            for actor in self._actors.values():
                nursery.start_soon(self._see_off, actor)
        for actor in self._actors.values():
            await actor.drop()

    async def _see_off(self, actor: Actor) -> None:
        """Good-bye, if it was not said yet; then a while for the server to close its side too."""
        with trio.move_on_after(GOODBYE):
            if not actor.left:
                await actor.leave()
            await actor.server_gone()

    async def _perform(self, line: Line) -> None:
        step: Step = line.step
        match step:
            case steps.Wait(text):
                await trio.sleep(span(text, self._stage.clock))
            case steps.Lot():
                await self._draw(step)
            case steps.Connects(who):
                await self._present(who)
            case steps.Sends():
                await self._send(step)
            case steps.Hears():
                await self._hear(step)
            case steps.Silent(who, text):
                await self._silence(await self._present(who), span(text, self._stage.clock))
            case steps.Leaves(who):
                actor = await self._present(who)
                self._note(f"{actor.member.name} leaves")
                await self._see_off(actor)
            case steps.Resets(who):
                actor = await self._present(who)
                self._note(f"{actor.member.name} resets")
                await actor.reset()
            case steps.Closed(who, code):
                await self._closed(await self._present(who), code)
            case steps.IgnoresTheRest(who):
                (await self._present(who)).ignoring = True
            case _:
                assert_never(step)

    async def _present(self, who: str) -> Actor:
        """The cast member, connected if it was not yet."""
        name = self._roles[who]
        if name not in self._actors:
            self._actors[name] = await self._connect(self._members[name])
        return self._actors[name]

    async def _connect(self, member: Member) -> Actor:
        path = None if member.path is None else expand(member.path, self._names())
        expected = f"{member.name} connects" + (f" to {path}" if path else "")
        self._note(expected)
        address = self._stage.addresses[member.dialect]
        try:
            with trio.fail_after(self._stage.patience):
                actor = await connect(member, address, path, self._hearing(member))
        except CannotConnect as error:
            raise StepFailed(expected, str(error)) from None
        except trio.TooSlowError:
            raise StepFailed(expected, self._nothing()) from None
        self._nursery.start_soon(actor.read_on)
        if member.manner.websocket:
            await trio.sleep(self._stage.delay)
        return actor

    async def _send(self, step: steps.Sends) -> None:
        actor = await self._present(step.who)
        name = actor.member.name
        said = self._written(actor, ">", step)
        if actor.left:
            raise StepFailed(said, f"{name} has left")
        self._note(said)
        try:
            with trio.fail_after(self._stage.patience):
                await actor.send(outgoing(actor.member.manner, step.form, step.payload, self._names()))
        except CannotSend:
            if not actor.hangup_expected:
                raise StepFailed(said, "it could not be sent: the server had hung up") from None
        except trio.TooSlowError:
            raise StepFailed(said, f"the server did not read it within {self._stage.patience:g} s") from None

    async def _hear(self, step: steps.Hears) -> None:
        actor = await self._present(step.who)
        expected = expectation(actor.member.manner, step.form, step.payload, self._names())
        wanted = self._written(actor, "<", step)
        received = await self._next(actor, expected, wanted)
        why = complaint(expected, received)
        if why is not None:
            raise StepFailed(wanted, self._told(actor, received), why)
        if isinstance(actor.inbox, LineInbox) and isinstance(received, Data):
            actor.inbox.take_piece(len(received.data))
        else:
            actor.inbox.take()

    async def _next(self, actor: Actor, expected: Expected | None, wanted: str) -> Received:
        """What the actor received next, left in its inbox."""
        look = actor.inbox.first
        if isinstance(expected, ExpectedBytes) and isinstance(actor.inbox, LineInbox):
            size, inbox = len(expected.data), actor.inbox

            def look() -> Received | None:
                return inbox.piece(size)

        try:
            with trio.fail_after(self._stage.patience):
                return await actor.received(look)
        except trio.TooSlowError:
            pieces = actor.inbox.rest()
            begun = f"only {self._told(actor, pieces[0])}, then " if pieces else ""
            raise StepFailed(wanted, begun + self._nothing()) from None

    async def _silence(self, actor: Actor, seconds: float) -> None:
        began = trio.current_time()
        with trio.move_on_after(seconds):
            received = await actor.received(lambda: next(iter(actor.inbox.rest()), None))
            after = trio.current_time() - began
            wanted = f"{actor.member.name} silent {seconds:g}"
            raise StepFailed(wanted, f"{self._told(actor, received)} after {after:.3f} s")

    async def _closed(self, actor: Actor, code: int | None) -> None:
        wanted = f"{actor.member.name} closed" + ("" if code is None else f" {code}")
        received = await self._next(actor, None, wanted)
        if not isinstance(received, End):
            raise StepFailed(wanted, self._told(actor, received))
        reset = received.how == "the connection was reset"
        if (code is not None and received.code != code) or (reset and not actor.member.manner.websocket):
            raise StepFailed(wanted, self._told(actor, received))
        actor.inbox.take()
        actor.hangup_expected = True

    async def _draw(self, step: steps.Lot) -> None:
        one, other = [await self._present(who) for who in step.members]
        expected = expectation(one.member.manner, Form.PLAIN, step.payload, self._names())
        first, second = one.member.name, other.member.name
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
        for actor in self._actors.values():
            if actor.ignoring:
                continue
            for received in actor.inbox.rest():
                if isinstance(received, End) and actor.left:
                    continue
                wanted = f"nothing more for {actor.member.name}"
                raise StepFailed(wanted, self._told(actor, received), "received but not expected")

    def _names(self) -> Names:
        return Names(self._suffix, self._roles, self._stage.clock)

    def _told(self, actor: Actor, received: Received) -> str:
        return f"{actor.member.name} {notation(received, actor.member.manner.ending)}"

    def _written(self, actor: Actor, arrow: str, step: steps.Sends | steps.Hears) -> str:
        """A line of the transcript with its placeholders filled in."""
        payload = filled(step.payload, self._names())
        return short(f"{actor.member.name} {arrow}{step.form.value} {payload}".rstrip())

    def _nothing(self) -> str:
        return f"nothing within {self._stage.patience:g} s"

    def _note(self, line: str) -> None:
        self._exchange.append(f"{trio.current_time() - self._began:7.3f}  {line}")

    def _hearing(self, member: Member) -> Callable[[Received], None]:
        def hear(received: Received) -> None:
            self._note(f"{member.name} {notation(received, member.manner.ending)}")

        return hear
