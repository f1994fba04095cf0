"""Sends questions from the web process to the server, and passes the answers to the tasks that asked.

Knows trio and the link. The server answers every question, even if the task that asked was cancelled. It also
answers a withdrawn question, because only the server knows whether the withdrawal came in time.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from math import inf

import trio

from adapters.web.link import Act, Answer, Ask, Condition, Done, Failed, Message, Messages, Removed, Withdraw
from gateway.runtime.child import LinkError
from gateway.server.acts import NotDoneError, Parameters
from gateway.store import StoreError
from gateway.store.records import Cleared


class Remote:
    """The server. The task that reads the link passes answers to `hear`."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._numbers = count(1)
        self._questions: dict[int, trio.MemorySendChannel[Answer]] = {}
        """The tasks that wait for answers, by the number of the question."""

    async def send(self, message: Message) -> None:
        """Send the server a message. If the server is gone, wait for the end of this process."""
        try:
            await self._messages.send(message)
        except LinkError:
            await trio.sleep_forever()

    def hear(self, answer: Answer) -> None:
        """Pass an answer to the task that asked."""
        if (asker := self._questions.get(answer.number)) is not None:
            asker.send_nowait(answer)

    async def condition(self) -> Condition:
        """Return the condition of the server, with the number of games that wait to be stored."""
        with self._question() as (number, answers):
            await self.send(Ask(number, "queue"))
            answer = await answers.receive()
        assert isinstance(answer, Condition)
        return answer

    async def act(self, what: str, about: Parameters) -> Mapping[str, str]:
        """Carry out an act of the operator on the server; return the outcome on each node, as JSON.

        The key of this server is the empty string. Raises NotDoneError.
        """
        found = {}
        with self._question() as (number, answers):
            await self.send(Act(number, what, about))
            while isinstance(answer := await answers.receive(), Done) and answer.text is not None:
                found[answer.node] = answer.text
        if isinstance(answer, Failed):
            raise NotDoneError(answer.error)
        return found

    async def clear(self, given_up: trio.Event) -> Cleared:
        """Remove all results, unless `given_up` is set in time. Return how much was removed.

        Raises StoreError if nothing was removed.
        """
        with self._question() as (number, answers):

            async def withdraw() -> None:
                await given_up.wait()
                await self.send(Withdraw(number))

            await self.send(Ask(number, "clear"))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(withdraw)
                answer = await answers.receive()
                nursery.cancel_scope.cancel()
        if isinstance(answer, Failed):
            raise StoreError(answer.error)
        assert isinstance(answer, Removed)
        return Cleared(answer.games, answer.players)

    @contextmanager
    def _question(self) -> Iterator[tuple[int, trio.MemoryReceiveChannel[Answer]]]:
        """Provide the number of a new question, and the channel of its answers."""
        number = next(self._numbers)
        self._questions[number], answers = trio.open_memory_channel[Answer](inf)
        try:
            yield number, answers
        finally:
            del self._questions[number]
