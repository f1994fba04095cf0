"""The server, as the web's process sees it: questions over the link.

Knows trio and the link. The rule it keeps: each question gets one answer, even if the task that asked has
gone. A withdrawn question does too, because only the server knows whether the withdrawal came in time.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import trio

from adapters.web.link import (
    Act,
    Answer,
    Answered,
    Ask,
    Done,
    Message,
    Messages,
    Reached,
    Watch,
    Withdraw,
)
from gateway.runtime.child import LinkError
from gateway.server.acts import NotDoneError, Parameters
from gateway.server.metrics.requests import Row
from gateway.store import StoreError
from gateway.store.records import Cleared


@dataclass(frozen=True, slots=True)
class Queue:
    """Games that wait to be stored, and how the server is."""

    waiting: int
    behind: bool
    """Whether a game has waited so long that players were told its result unstored."""
    cluster: Mapping[str, Any] | None = None
    draining: bool = False
    """Both as in `adapters.web.link.Answer`."""


@dataclass(eq=False, slots=True)
class _Question:
    """A question, and the task that waits for its answer."""

    answered: trio.Event
    answer: Answer | None = None
    found: dict[str, str] = field(default_factory=dict)
    """What came of an act, by the node."""


class Remote:
    """The server. The task that reads the link hands in its answers."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._numbers = count(1)
        self._questions: dict[int, _Question] = {}

    def settle(self, answer: Answer) -> None:
        """Pass an answer on to the task that asked."""
        if (question := self._questions.get(answer.number)) is not None:
            question.answer = answer
            question.answered.set()

    def note(self, found: Done) -> None:
        """Keep what came of an act on one node, until the answer follows."""
        if (question := self._questions.get(found.number)) is not None:
            question.found[found.node] = found.text

    async def act(self, what: str, about: Parameters) -> Mapping[str, str]:
        """Have an act of the operator's carried out; return what came of it on each node, as JSON.

        The node of this server is the empty text. Raises NotDoneError.
        """
        number = next(self._numbers)
        with self._asked(number) as question:
            await self._say(Act(number, what, about))
            answer = await _answer_to(question)
        if answer.error is not None:
            raise NotDoneError(answer.error)
        return question.found

    async def queue(self) -> Queue:
        """Return what waits to be stored, how the cluster is, and whether the server drains."""
        number = next(self._numbers)
        with self._asked(number) as question:
            await self._say(Ask(number, "queue"))
            answer = await _answer_to(question)
        waiting, behind = answer.figures
        return Queue(waiting, bool(behind), answer.cluster, answer.draining)

    async def clear(self, given_up: trio.Event) -> Cleared:
        """Remove all results, unless `given_up` comes in time. Return what was removed.

        Raises StoreError if nothing was removed.
        """
        number = next(self._numbers)
        with self._asked(number) as question:
            await self._say(Ask(number, "clear"))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._withdraw, number, given_up)
                answer = await _answer_to(question)
                nursery.cancel_scope.cancel()
        if answer.error is not None:
            raise StoreError(answer.error)
        return Cleared(*answer.figures)

    async def watch(self, number: int) -> None:
        """Have the server tell what happens; see `Watch`."""
        await self._say(Watch(number))

    async def reached(self, what: str, times: int) -> None:
        """Tell that clients came up against something so often; see `Reached`."""
        await self._say(Reached(what, times))

    async def answered(self, rows: Sequence[Row]) -> None:
        """Tell of requests that were answered."""
        await self._say(Answered(rows))

    async def _withdraw(self, number: int, given_up: trio.Event) -> None:
        await given_up.wait()
        await self._say(Withdraw(number))

    async def _say(self, message: Message) -> None:
        try:
            await self._messages.send(message)
        except LinkError:
            await trio.sleep_forever()  # the server is gone, and in a moment so is this process

    @contextmanager
    def _asked(self, number: int) -> Iterator[_Question]:
        question = self._questions[number] = _Question(trio.Event())
        try:
            yield question
        finally:
            del self._questions[number]


async def _answer_to(question: _Question) -> Answer:
    await question.answered.wait()
    assert question.answer is not None
    return question.answer
