"""What spectators are told, and when nobody is listened to. Whole games are in the transcripts."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import pytest
import trio
import trio.testing
from worlds.hub import DRAWN, FIRST_WINS, STEPPING_OUT, Client, World

from adapters.tutorial.messages import InitRequest, PlayRequest
from adapters.tutorial.observers import PERIOD, Observers, TutorialConnection
from adapters.tutorial.translator import TutorialTranslator, watch_key
from gateway.game.commands import AtTable
from gateway.game.events import Shown

pytestmark = pytest.mark.trio
KEY = watch_key("green")
WATCH = InitRequest(None, KEY)


class Reader:
    """A client's connection, as far as its front end uses it."""

    def __init__(self, nursery: trio.Nursery, player: Client | None = None) -> None:
        self.texts: list[str] = []
        self.scope = trio.CancelScope()
        self._nursery, self._player = nursery, player

    @property
    def has_name(self) -> bool:
        return self._player is not None

    @property
    def game(self) -> Shown | None:
        return None if self._player is None else self._player.seat.game

    def tell(self, texts: Sequence[str]) -> None:
        self.texts += texts

    def start_soon(self, work: Callable[[], Awaitable[object]]) -> None:
        async def scoped() -> None:
            with self.scope:
                await work()

        self._nursery.start_soon(scoped)

    @property
    def connection(self) -> TutorialConnection:
        return cast("TutorialConnection", self)

    async def news(self) -> str:
        """Return what it was told since the last call, a while later: columns, and words for the end."""
        await trio.sleep(3 * PERIOD)
        news, self.texts = self.texts, []
        return told(news)


def told(texts: Sequence[str]) -> str:
    """Return the columns in messages, and words for other messages."""
    known = map(json.loads, texts)
    words = ((each["type"], each.get("player", ""), each.get("column")) for each in known)
    return "".join(
        str(column) if kind == "play" else f" {kind} {who}".rstrip() for kind, who, column in words
    )


class Story:
    """Two players at a table, and spectators."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.world = World()
        self.observers = Observers(self.world.hub)
        self.nursery = nursery
        self.players = [self.world.client(STEPPING_OUT) for _ in range(2)]
        self.readers = [Reader(nursery, each) for each in self.players]

    def sit(self, *who: int) -> None:
        for number in who:
            self.players[number].enter(AtTable("green"), "ab"[number])
            translator = TutorialTranslator("guest", "green")
            for event in self.players[number].heard:
                [*translator.observe(event)]
            self.observers.add(self.readers[number].connection, translator)

    def play(self, columns: str) -> None:
        self.world.play(columns, (self.players[0], self.players[1]))

    def moves(self, columns: str, since: int = 0) -> None:
        for number, column in enumerate(columns, since):
            self.players[number % 2].play(int(column))

    def watch(self, message: InitRequest = WATCH) -> tuple[Reader, str | None]:
        """Return a spectator, and what it is told at once."""
        reader = Reader(self.nursery)
        self.observers.add(reader.connection, TutorialTranslator("guest", "other"))
        texts = self.observers.answer(message, reader.connection)
        return reader, None if texts is None else told(texts)

    def leave(self, *readers: Reader) -> None:
        for reader in readers:
            self.observers.forget(reader.connection)
            reader.scope.cancel()


async def test_spectator_is_told_the_moves_so_far_and_then_each_once(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0, 1)
        story.moves("010")
        (one, first), (two, second) = story.watch(), story.watch()
        assert (first, second) == ("010", "010")
        story.moves("1", 3)  # before the spectators' tasks have begun
        assert (await one.news(), await two.news()) == ("1", "1")
        story.moves("01", 4)
        late, third = story.watch()
        assert third == "010101"
        assert (await one.news(), await two.news(), await late.news()) == ("01", "01", "")
        story.moves("0", 6)
        assert [await each.news() for each in (one, two, late)] == ["0 win red"] * 3
        story.leave(one, two, late)


async def test_full_board_is_told_by_nothing_else(autojump_clock: trio.testing.MockClock) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0, 1)
        one, _ = story.watch()
        story.play(DRAWN)
        assert await one.news() == DRAWN
        story.leave(one)


async def test_game_that_is_left_is_told_by_the_winner(autojump_clock: trio.testing.MockClock) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0, 1)
        one, _ = story.watch()
        story.moves("01")
        story.players[0].leave()
        story.observers.forget(story.readers[0].connection)
        assert await one.news() == "01 win yellow"
        story.leave(one)


async def test_spectator_waits_for_the_next_game_and_sees_no_other(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0)
        one, first = story.watch()
        assert first == ""
        story.sit(1)
        story.play(FIRST_WINS)
        assert await one.news() == FIRST_WINS + " win red"
        for number in (0, 1):
            story.players[number].enter(AtTable("green"), "ab"[number])
        story.moves("4", 1)
        assert await one.news() == ""
        story.leave(one)


async def test_spectators_that_fell_behind_are_told_that_their_game_is_over_and_no_more(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0, 1)
        one, _ = story.watch()
        for _ in range(250):  # too many facts at once
            others = story.world.pair(STEPPING_OUT, STEPPING_OUT)
            story.world.play(DRAWN, others)
            for each in others:
                each.leave()
        assert await one.news() == " error"
        story.moves("01")
        assert await one.news() == ""
        story.leave(one)


async def test_spectator_that_has_left_waits_for_no_game(autojump_clock: trio.testing.MockClock) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0)
        (one, _), (two, _) = story.watch(), story.watch()
        story.leave(one)
        story.sit(1)
        story.moves("0")
        assert (await two.news(), one.texts) == ("0", [])
        story.leave(two)


async def test_what_a_spectator_says_is_ignored_and_a_player_does_not_watch(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0, 1)
        one, _ = story.watch()
        for message in (WATCH, InitRequest(), PlayRequest(3)):
            assert story.observers.answer(message, one.connection) == ()
        for message in (WATCH, InitRequest(), PlayRequest(3)):
            assert story.observers.answer(message, story.readers[0].connection) is None
        story.leave(one)


@pytest.mark.parametrize("key", ["", "green", "guest", watch_key("other")])
async def test_unknown_key_is_none(key: str, autojump_clock: trio.testing.MockClock) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        story.sit(0, 1)
        assert story.watch(InitRequest(None, key))[1] is None


async def test_nobody_listens_while_nobody_watches(autojump_clock: trio.testing.MockClock) -> None:
    async with trio.open_nursery() as nursery:
        story = Story(nursery)
        feed = story.world.hub.feed
        story.sit(0, 1)
        assert not feed.moves
        (one, _), (two, _) = story.watch(), story.watch()
        story.leave(one)
        assert feed.moves
        story.moves("0")
        assert await two.news() == "0"
        story.leave(two)
        assert not feed.moves
