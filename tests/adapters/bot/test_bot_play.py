"""Playing on one connection, and on one after another, with servers that say what the test says."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise

import pytest
import trio
import trio.testing

from adapters.bot.bot import LONGEST_PAUSE, RETURN_LIMIT, Bot, Server
from adapters.bot.choosers import (
    Chooser,
    EndOfInput,
    EngineChooser,
    EngineFailed,
    Keyboard,
    Person,
    budget,
    objection_to,
)
from adapters.bot.play import BACK_LIMIT, Ending, Kind, Play, hint
from adapters.bot.screen import Screen, Totals, Waiting
from adapters.client.contract import PeerGone, WireError
from adapters.client.talk import Asked, Began, News, Over, Refused, Result, Spent
from gateway.engines import EngineError
from gateway.game.board import FIRST, SECOND, Board, Side

WON = Over(Result.WON, Board(), FIRST)
QUIET = Screen(shows_games=False)


class FakeLine:
    """A line to a server that the test speaks for."""

    def __init__(self) -> None:
        self.may_end = False
        self.understood = True
        self.replays = False
        self.has_farewell = False
        self.recalled = Board()
        self.said: list[object] = []
        self.moved = trio.Event()
        self._give, self._take = trio.open_memory_channel[list[News] | Exception](100)

    def tells(self, *news: News) -> None:
        self._give.send_nowait([*news])

    def fails(self, error: Exception) -> None:
        self._give.send_nowait(error)

    def recall(self, board: Board) -> None:
        self.recalled = board

    async def hello(self) -> None:
        self.said.append("hello")

    async def hear(self) -> list[News]:
        told = await self._take.receive()
        if isinstance(told, Exception):
            raise told
        return told

    async def move(self, column: int) -> None:
        self.said.append(column)
        self.moved.set()

    async def again(self) -> None:
        self.said.append("again")


class FakePlayer:
    """Plays the first column; or thinks for ever."""

    def __init__(self, *, thinks: bool = False) -> None:
        self.asked: list[Asked] = []
        self.dropped = 0
        self._thinks = thinks

    async def choose(self, asked: Asked) -> int:
        self.asked.append(asked)
        if self._thinks:
            try:
                await trio.sleep_forever()
            finally:
                self.dropped += 1
        return 0


def saying(
    *told: News | Exception, may_end: bool = False, replays: bool = False, has_farewell: bool = False
) -> FakeLine:
    """Return a line on which this is told, each by itself."""
    found = FakeLine()
    found.may_end, found.replays, found.has_farewell = may_end, replays, has_farewell
    for each in told:
        if isinstance(each, Exception):
            found.fails(each)
        else:
            found.tells(each)
    return found


@asynccontextmanager
async def playing(
    player: Chooser, wanted: int = 1
) -> AsyncIterator[tuple[FakeLine, Totals, trio.CancelScope]]:
    """Play on a connection to the end; give the line, the totals, and what stops the player."""
    line, totals = FakeLine(), Totals(wanted)
    with trio.CancelScope() as stopping:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Play(line, player, totals, QUIET, Waiting({}, QUIET.warn)).run)
            yield line, totals, stopping


async def played(line: FakeLine, player: Chooser | None = None) -> tuple[Ending, Totals]:
    """Play on a connection on which everything has been told; return how that ended."""
    totals = Totals(1)
    play = Play(line, player or FakePlayer(), totals, QUIET, Waiting({}, QUIET.warn))
    return await play.run(), totals


# One connection.


async def test_game_is_played_until_the_games_are_played() -> None:
    async with playing(FakePlayer(), 2) as (line, totals, _):
        line.tells(Began(FIRST), Asked(Board()))
        await line.moved.wait()
        line.tells(WON)
        line.tells(Began(FIRST))
        line.tells(WON)
    assert line.said == ["hello", 0, "again"]
    assert (totals.played, totals.cut_off) == (2, 0)


async def test_thought_is_dropped_when_its_game_is_over() -> None:
    player = FakePlayer(thinks=True)
    async with playing(player) as (line, totals, _):
        line.tells(Began(FIRST), Asked(Board()))
        await trio.testing.wait_all_tasks_blocked()
        assert player.asked == [Asked(Board())]
        line.tells(WON)
    assert player.dropped == 1
    assert line.said == ["hello"]
    assert "mean time" not in totals.summary()


async def test_board_that_is_thought_about_is_not_thought_about_twice() -> None:
    player = FakePlayer(thinks=True)
    async with playing(player) as (line, _, _):
        line.tells(Began(FIRST), Asked(Board()))
        line.tells(Asked(Board()))
        await trio.testing.wait_all_tasks_blocked()
        assert len(player.asked) == 1
        line.tells(Asked(Board().drop(0)))
        await trio.testing.wait_all_tasks_blocked()
        assert (len(player.asked), player.dropped) == (2, 1)
        line.tells(WON)


async def test_move_that_was_not_taken_is_made_again() -> None:
    async with playing(FakePlayer()) as (line, _, _):
        for _ in range(2):
            line.tells(Asked(Board()))
            await trio.testing.wait_all_tasks_blocked()
        line.tells(WON)
    assert line.said == ["hello", 0, 0]


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (PeerGone(), Kind.LOST, "the server hung up"),
        (Refused("ann is banned"), Kind.REFUSED, "the server refused: ann is banned"),
        (Refused("ann already used", passes=True), Kind.LOST, "the server refused: ann already used"),
    ],
)
async def test_connection_that_ends_early_is_an_ending_with_words(
    error: Exception, kind: Kind, words: str
) -> None:
    ending, totals = await played(saying(Began(FIRST), error, has_farewell=True))
    assert (ending.kind, ending.words) == (kind, words)
    assert totals.cut_off == 1


async def test_server_of_another_dialect_is_refused() -> None:
    line = saying(WireError("what?"))
    line.understood = False
    ending, _ = await played(line)
    assert (ending.kind, ending.words) == (Kind.REFUSED, f"the server speaks another dialect. {hint()}")


async def test_message_that_is_none_is_warned_of_and_passed_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending, _ = await played(saying(WireError("no \x1b message"), WON))
    assert ending.kind is Kind.PLAYED
    assert capsys.readouterr().err == r"c4bot: cannot understand the server: no \x1b message" + "\n"


@pytest.mark.parametrize(
    ("error", "kind"), [(EndOfInput(), Kind.LEFT), (EngineFailed("the engine failed"), Kind.FAILED)]
)
async def test_player_that_cannot_go_on_ends_the_play(error: Exception, kind: Kind) -> None:
    class Leaving:
        async def choose(self, asked: Asked) -> int:
            raise error

    ending, totals = await played(saying(Began(FIRST), Asked(Board())), Leaving())
    assert (ending.kind, ending.words, totals.cut_off) == (kind, str(error), 1)


# Engines.


@pytest.mark.parametrize(
    ("left", "think", "seconds"),
    [
        (None, None, 7.0),
        (None, 0.5, 0.5),
        (42.0, None, 2.1),
        (42.0, 0.5, 0.5),
        (1.0, 0.5, 0.05),
        (0.0, None, 0.001),
    ],
)
def test_engine_gets_a_20th_of_what_is_left_and_never_more(
    left: float | None, think: float | None, seconds: float
) -> None:
    assert budget(left, think, 7.0) == pytest.approx(seconds)


@pytest.mark.parametrize("column", [7, -1, None, "3", 0])
async def test_engine_that_chooses_what_cannot_be_played_has_failed(column: object) -> None:
    board = Board()
    for _ in range(6):
        board = board.drop(0)
    with pytest.raises(EngineFailed, match="cannot be played"):
        await EngineChooser(lambda _board, _seconds: column).choose(Asked(board))  # type: ignore[arg-type,return-value]


class Three:
    """A number of another library's."""

    def __index__(self) -> int:
        return 3


class Mute:
    """Neither a column nor anything that can be shown."""

    def __index__(self) -> int:
        raise ValueError

    def __repr__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("choice", "shown"),
    [(Mute(), "a Mute"), ([3] * 1000, f"[{'3, ' * 33}..."), ("3\n4", r"'3\n4'")],
)
async def test_choice_of_any_class_is_shown_in_short(choice: object, shown: str) -> None:
    with pytest.raises(EngineFailed) as failed:
        await EngineChooser(lambda _board, _seconds: choice).choose(Asked(Board()))  # type: ignore[arg-type,return-value]
    assert str(failed.value).startswith(f"the engine chose {shown}, which cannot be played; ")


@pytest.mark.parametrize(("chosen", "column"), [(True, "1"), (Three(), "3")])
async def test_engine_may_choose_by_any_whole_number(chosen: object, column: str) -> None:
    player = EngineChooser(lambda _board, _seconds: chosen)  # type: ignore[arg-type,return-value]
    assert str(await player.choose(Asked(Board()))) == column


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ZeroDivisionError("by\nzero"), "the engine failed: ZeroDivisionError: by zero"),
        (SystemExit(3), "the engine failed: SystemExit: 3"),
    ],
)
async def test_engine_that_raises_has_failed_at_a_place_and_in_a_position(
    error: BaseException, words: str
) -> None:
    def engine(board: Board, seconds: float) -> int:
        raise error

    with pytest.raises(EngineFailed) as raised:
        await EngineChooser(engine).choose(Asked(Board().drop(3).drop(0)))
    assert str(raised.value) == f"{words}; columns so far: 30 (position 41); to move: X, moving first"
    top, place, code, *_ = raised.value.report.splitlines()
    assert top == "Traceback (most recent call last):"
    assert place.endswith(", in engine")  # and of nothing that called it
    assert code.strip() == "raise error"


async def test_engine_that_is_no_code_of_ours_has_failed_at_no_place() -> None:
    def engine(board: Board, seconds: float) -> int:
        raise EngineError("./bot ended")

    with pytest.raises(EngineFailed) as raised:
        await EngineChooser(engine).choose(Asked(Board()))
    assert str(raised.value).startswith("the engine failed: ./bot ended; columns so far: none; to move: X")
    assert raised.value.report == ""


async def test_where_the_engine_failed_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def engine(board: Board, seconds: float) -> int:
        raise ValueError("\x1b[2J")

    ending, _ = await played(saying(Began(FIRST), Asked(Board())), EngineChooser(engine))
    assert ending.kind is Kind.FAILED
    err = capsys.readouterr().err
    assert "in engine\n" in err
    assert "ValueError: \\x1b[2J\n" in err


# Leaving.

EARLY = "c4gateway counts no game that is left before both have moved, another server may count it as lost\n"


async def test_game_that_the_server_begins_behind_the_last_one_is_left_without_a_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ending, totals = await played(line := saying(WON, Began()))
    assert ending.kind is Kind.PLAYED
    assert capsys.readouterr().err == ""
    assert (totals.played, totals.cut_off) == (1, 0)
    assert line.said == ["hello"]


@pytest.mark.parametrize(
    ("board", "said"),
    [
        (Board(), f"c4bot: left a game: {EARLY}"),
        (Board().drop(3), f"c4bot: left a game: {EARLY}"),
        (Board().drop(3).drop(3), "c4bot: left in the middle of a game, which counts as lost\n"),
    ],
)
async def test_who_is_stopped_says_what_the_game_counts_as(
    board: Board, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with playing(FakePlayer(thinks=True)) as (line, _, stopping):
        line.tells(Began(), Asked(board))
        await trio.testing.wait_all_tasks_blocked()
        stopping.cancel()
    assert capsys.readouterr().err == said


async def test_who_is_stopped_after_the_last_move_has_left_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    almost = Board()
    for column in (0, 1, 0, 1, 0, 1):
        almost = almost.drop(column)
    async with playing(FakePlayer()) as (line, _, stopping):
        line.tells(Began(), Asked(almost))
        await line.moved.wait()
        stopping.cancel()
    assert capsys.readouterr().err == ""


# People.


def typing(*chunks: bytes) -> Keyboard:
    left: Iterator[bytes] = iter(chunks)
    return Keyboard(lambda: next(left, b""))


async def asked_of_person(keyboard: Keyboard, asked: Asked) -> tuple[int, str]:
    shown: list[str] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keyboard.run)
        column = await Person(keyboard.line, shown.append).choose(asked)
        nursery.cancel_scope.cancel()
    return column, "".join(shown)


async def test_person_is_told_what_is_wrong_until_the_column_is_right() -> None:
    board = Board()
    for _ in range(6):
        board = board.drop(0)
    column, shown = await asked_of_person(typing(b"x\r\n7\n\n", b"0\n ", b"3 "), Asked(board, 41.96))
    assert column == 3
    assert shown == (
        "your column (0 to 6, 42.0 s left): "
        "type the number of a column, 0 to 6: "
        "type the number of a column, 0 to 6: "
        "type the number of a column, 0 to 6: "
        "column 0 is full, choose 1, 2, 3, 4, 5 or 6: "
    )


@pytest.mark.parametrize("error", [None, OSError()])
async def test_end_of_input_is_told(error: OSError | None) -> None:
    def read() -> bytes:
        if error is not None:
            raise error
        return b""

    keyboard = Keyboard(read)
    await keyboard.run()
    with pytest.raises(EndOfInput):
        await keyboard.line()


@pytest.mark.parametrize("text", ["", "x", "7", "-1", "03", "3 3", "\u0663", "\u00b3"])
def test_what_is_no_column_is_objected_to(text: str) -> None:
    assert objection_to(text, Board()) == "type the number of a column, 0 to 6"


# One connection after another.


class FakeServer:
    """Servers that come one after another, at an address that the bot dials."""

    def __init__(self, *lines: FakeLine | Exception) -> None:
        self.lines = [*lines]
        self.dialled: list[float] = []
        self.closed = 0
        self.answers_after = 0.0

    @asynccontextmanager
    async def dial(self):  # type: ignore[no-untyped-def]
        self.dialled.append(trio.current_time())
        await trio.sleep(self.answers_after)
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        yield line
        await trio.lowlevel.checkpoint()  # a good-bye would not get through where all is cancelled
        self.closed += 1


def bot(server: FakeServer, wanted: int = 1, player: Chooser | None = None) -> Bot:
    place = Server("host:1", server.dial, "ann", "nac4", "'bob'")
    return Bot(place, player or FakePlayer(), Totals(wanted), QUIET)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(111, "Connection refused"), "Connection refused"),
        (PeerGone(), "does not speak websocket"),
        (UnicodeError("idna"), "not the name of a host"),
    ],
)
async def test_server_that_is_not_there_is_said_to_be_so(error: Exception, words: str) -> None:
    ending = await bot(FakeServer(error)).run(reconnect=False)
    assert ending.kind is Kind.LOST
    assert ending.words.startswith("no server at host:1: ")
    assert words in ending.words


@pytest.mark.parametrize(
    ("told", "understood", "said"),
    [
        (None, False, ["waits for host:1 to answer; is it the port for nac4? " + hint()]),
        ([], False, ["waits for host:1 to send anything; is it the port for nac4? " + hint()]),
        ([[]], True, ["ann waits at host:1 for 'bob'"]),
        ([[Began(FIRST)]], True, []),
        ([[Began(FIRST)], [WON]], True, ["ann waits at host:1 for 'bob'"]),
    ],
)
async def test_bot_says_what_it_waits_for(
    told: list[list[News]] | None,
    understood: bool,
    said: list[str],
    autojump_clock: object,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = FakeServer(TimeoutError() if told is None else (waited := saying()))
    if told is None:
        server.answers_after = 6.0
    else:
        waited.understood = understood
        for news in told:
            waited.tells(*news)
    with trio.move_on_after(6.5):
        await bot(server, 2).run(reconnect=False)
    assert capsys.readouterr().err == "".join(f"c4bot: {each}\n" for each in said) + (
        f"c4bot: left a game: {EARLY}" if told and not said else ""
    )


async def test_series_of_games_goes_on_over_as_many_connections_as_it_takes() -> None:
    server = FakeServer(saying(WON, PeerGone(), may_end=True), saying(WON, Spent()), saying(WON))
    assert (await bot(server, 3).run(reconnect=False)).kind is Kind.PLAYED
    assert server.closed == 3


async def test_server_that_is_away_is_tried_again_after_growing_pauses(autojump_clock: object) -> None:
    server = FakeServer(*[OSError("away")] * 8, saying(WON))
    assert (await bot(server).run(reconnect=True)).kind is Kind.PLAYED
    times = server.dialled
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses == pytest.approx([1, 2, 4, 8, 16, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE])


async def test_pauses_begin_anew_after_a_game(autojump_clock: object) -> None:
    away = OSError("away")
    server = FakeServer(away, away, saying(WON, PeerGone()), saying(WON))
    assert (await bot(server, 2).run(reconnect=True)).kind is Kind.PLAYED
    assert server.dialled == pytest.approx([server.dialled[0] + since for since in (0, 1, 3, 4)])


async def test_refused_name_is_the_end_unless_it_was_let_in_before(autojump_clock: object) -> None:
    refused = Refused("no")
    assert (await bot(FakeServer(saying(refused))).run(reconnect=True)).kind is Kind.REFUSED
    server = FakeServer(saying(Began(FIRST), PeerGone(), has_farewell=True), saying(refused), saying(WON))
    assert (await bot(server).run(reconnect=True)).kind is Kind.PLAYED


async def test_name_in_use_is_tried_again_also_by_who_never_was_let_in(autojump_clock: object) -> None:
    taken = Refused("ann already used", passes=True)
    assert (await bot(FakeServer(saying(taken))).run(reconnect=False)).kind is Kind.LOST
    server = FakeServer(saying(taken), saying(taken), saying(WON))
    assert (await bot(server).run(reconnect=True)).kind is Kind.PLAYED
    assert len(server.dialled) == 3


@pytest.mark.parametrize("told", [[], [Began(FIRST), Asked(Board())]])
async def test_who_is_stopped_leaves_in_good_order(told: list[News]) -> None:
    server = FakeServer(saying(*told))
    stopped = bot(server, player=FakePlayer(thinks=True))
    async with trio.open_nursery() as nursery:

        async def run() -> None:
            assert (await stopped.run(reconnect=True)).kind is Kind.LEFT

        nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked()
        stopped.stop()
    assert server.closed == 1


async def test_who_is_stopped_between_two_tries_is_gone() -> None:
    stopped = bot(FakeServer(OSError("away")))
    async with trio.open_nursery() as nursery:

        async def run() -> None:
            assert (await stopped.run(reconnect=True)).kind is Kind.LEFT

        nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked()
        stopped.stop()


# Coming back to a game.


def board(*columns: int) -> Board:
    made = Board()
    for column in columns:
        made = made.drop(column)
    return made


AT_BREAK, LATER = board(1, 2, 3, 4), board(1, 2, 3, 4, 0, 5)
BEGAN, ASKED = Began(FIRST, "bob"), Asked(AT_BREAK)
BREAKS = "c4bot: the connection broke in the middle of a game; trying to come back\n"
IS_OVER = "the game whose connection broke is over, and its result is not known\n"


def counting(server: FakeServer, player: Chooser | None = None) -> tuple[Bot, Totals]:
    """Return a bot that plays one game, and its totals."""
    totals = Totals(1)
    return Bot(Server("host:1", server.dial, "ann"), player or FakePlayer(), totals, QUIET), totals


async def came_back(*lines: FakeLine | Exception) -> tuple[FakeServer, Totals]:
    """Play until a game is played, on lines of which the first one breaks in the middle of a game."""
    playing, totals = counting(server := FakeServer(*lines))
    assert (await playing.run(reconnect=True)).kind is Kind.PLAYED
    return server, totals


@pytest.mark.parametrize("news", [[ASKED], [Asked(LATER)], []], ids=["lost move", "next move", "no move"])
async def test_game_whose_connection_broke_goes_on_at_once_and_counts_once(
    news: list[News], capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    back = saying(BEGAN, *news, Over(Result.WON, LATER, FIRST))
    server, totals = await came_back(saying(BEGAN, ASKED, PeerGone()), back)
    assert server.dialled == [server.dialled[0]] * 2
    assert back.recalled == AT_BREAK
    assert (totals.played, totals.cut_off) == (1, 0)
    assert capsys.readouterr().err == f"{BREAKS}c4bot: back after 0.0 s; the game goes on\n"


@pytest.mark.parametrize(
    ("news", "said"),
    [
        ([Began(SECOND, "bob")], "back after 0.0 s"),
        ([Began(FIRST, "carl")], "back after 0.0 s"),
        ([BEGAN, Asked(Board())], "another game has begun"),
        ([BEGAN, Asked(board(1, 2, 3, 3))], "another game has begun"),
        ([BEGAN, Over(Result.LOST, board(1, 1, 1), FIRST)], "another game has begun"),
    ],
    ids=["side", "opponent", "empty board", "board", "end"],
)
async def test_other_game_after_the_break_leaves_the_first_one_without_a_result(
    news: list[News], said: str, capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    _, totals = await came_back(saying(BEGAN, ASKED, PeerGone()), saying(*news, WON), saying(WON))
    assert (totals.played, totals.cut_off) == (1, 1)
    assert f"c4bot: {said}; {IS_OVER}" in capsys.readouterr().err


async def test_game_that_the_original_ends_without_a_word_after_the_break_counts_once(
    autojump_clock: object,
) -> None:
    back = saying(BEGAN, Over(Result.CUT_OFF, Board()), BEGAN, WON)
    _, totals = await came_back(saying(BEGAN, ASKED, PeerGone()), back)
    assert (totals.played, totals.cut_off) == (1, 1)


@pytest.mark.parametrize(("side", "cut_off"), [(FIRST, 0), (SECOND, 1)])
async def test_game_that_is_played_again_from_the_start_counts_once(
    side: Side, cut_off: int, capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    back = saying(Began(), Asked(board(*[3] * side)), WON, replays=True)
    _, totals = await came_back(saying(Began(), ASKED, PeerGone(), replays=True), back)
    assert (totals.played, totals.cut_off) == (1, cut_off)
    assert "c4bot: back after 0.0 s; a game begins, which counts as the same one\n" in capsys.readouterr().err


async def test_game_is_played_again_only_once(autojump_clock: object) -> None:
    def line() -> FakeLine:
        return saying(Began(), Asked(Board()), PeerGone(), replays=True)

    server, totals = await came_back(line(), line(), saying(WON, replays=True))
    assert (totals.played, totals.cut_off) == (1, 1)
    assert server.dialled[2] == server.dialled[1] + 1.0


async def test_game_that_does_not_go_on_soon_after_the_return_is_over(
    capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    back = FakeLine()
    async with trio.open_nursery() as nursery:

        async def begin_late() -> None:
            await trio.sleep(BACK_LIMIT + 1)
            back.tells(BEGAN)
            back.tells(WON)

        nursery.start_soon(begin_late)
        _, totals = await came_back(saying(BEGAN, ASKED, PeerGone()), back)
    assert (totals.played, totals.cut_off) == (1, 1)
    assert f"c4bot: back after 0.0 s; {IS_OVER}" in capsys.readouterr().err


async def test_return_is_tried_at_once_and_soon_again_until_the_server_lets_the_player_in(
    capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    taken = Refused("ann already used", passes=True)
    server, totals = await came_back(
        saying(BEGAN, ASKED, PeerGone()),
        *[OSError("away")] * 6,
        saying(taken),
        saying(Refused("no")),
        saying(BEGAN, Asked(LATER), WON),
    )
    pauses = [later - earlier for earlier, later in pairwise(server.dialled)]
    assert pauses == pytest.approx([0, 0.2, 0.4, 0.8, 1.6, 2, 2, 2, 2])
    assert (totals.played, totals.cut_off) == (1, 0)
    assert capsys.readouterr().err == (f"{BREAKS}c4bot: back after 11.0 s; the game goes on\n")


async def test_game_is_given_up_when_the_server_stays_away_and_the_player_waits_for_another(
    capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    class Away(FakeServer):
        """Is away for two minutes after the first connection."""

        @asynccontextmanager
        async def dial(self):  # type: ignore[no-untyped-def]
            if self.dialled and trio.current_time() < self.dialled[0] + 120:
                self.lines.insert(0, OSError("away"))
            async with super().dial() as line:
                yield line

    playing, totals = counting(Away(saying(BEGAN, ASKED, PeerGone()), saying(WON)))
    assert (await playing.run(reconnect=True)).kind is Kind.PLAYED
    assert (totals.played, totals.cut_off) == (1, 1)
    given_up = f"c4bot: not back within {RETURN_LIMIT:g} s; the game counts as cut off\n"
    told = capsys.readouterr().err
    assert told.startswith(f"{BREAKS}{given_up}c4bot: no server at host:1: away; next try in 1 s\n")
    assert "back" not in told.removeprefix(f"{BREAKS}{given_up}")


async def test_server_that_breaks_every_connection_is_not_run_into(autojump_clock: object) -> None:
    lines = [saying(BEGAN, ASKED, PeerGone()) for _ in range(4)]
    later = saying(BEGAN, Asked(LATER), PeerGone())
    server, totals = await came_back(*lines, later, saying(BEGAN, WON))
    pauses = [later - earlier for earlier, later in pairwise(server.dialled)]
    assert pauses == pytest.approx([0, 0.2, 0.4, 0.8, 0])  # the game had gone on before the last one
    assert totals.played == 1


async def test_connection_that_breaks_is_the_end_without_reconnect() -> None:
    playing, totals = counting(FakeServer(saying(BEGAN, ASKED, PeerGone())))
    ending = await playing.run(reconnect=False)
    assert ending == Ending(Kind.BROKEN, "the connection broke in the middle of a game")
    assert (totals.played, totals.cut_off) == (0, 1)


@pytest.mark.parametrize(
    "back", [OSError("away"), saying(), saying(BEGAN)], ids=["away", "back", "in a game"]
)
async def test_who_is_stopped_while_it_comes_back_has_left_one_game(
    back: FakeLine | Exception, capsys: pytest.CaptureFixture[str], autojump_clock: object
) -> None:
    stopped, totals = counting(FakeServer(saying(BEGAN, ASKED, PeerGone()), back))
    async with trio.open_nursery() as nursery:

        async def run() -> None:
            assert (await stopped.run(reconnect=True)).kind is Kind.LEFT

        nursery.start_soon(run)
        await trio.sleep(0.1)
        stopped.stop()
    assert (totals.played, totals.cut_off) == (0, 1)
    assert capsys.readouterr().err.endswith("c4bot: left in the middle of a game, which counts as lost\n")


async def test_person_is_asked_again_after_the_return(autojump_clock: object) -> None:
    type_, typed = trio.open_memory_channel[str](10)
    shown: list[str] = []
    back = saying(BEGAN, ASKED)
    server = FakeServer(saying(BEGAN, ASKED, PeerGone()), back)
    playing, _ = counting(server, Person(typed.receive, shown.append))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(playing.run, reconnect=True))
        await trio.testing.wait_all_tasks_blocked()
        type_.send_nowait("6")
        await back.moved.wait()
        back.tells(WON)
    assert shown == ["your column (0 to 6): "] * 2
    assert back.said == ["hello", 6]
