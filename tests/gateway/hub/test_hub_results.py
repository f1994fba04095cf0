"""What is kept of a game, and when: before anybody hears of its end."""

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

import pytest
from worlds.hub import FIRST_WINS, HANGING_UP, LOBBY, STANDING_BY, STEPPING_OUT, TABLE, Client, World

from gateway.game.commands import AtTable
from gateway.game.events import Ended, Moved, Started, ToMove
from gateway.game.results import Finished


class Watch(World):
    """Makes sure that nobody has heard of the end of a game when its result is kept."""

    def __init__(self) -> None:
        super().__init__(clock=10.0, idle=10.0)
        self.players = self.pair(HANGING_UP, HANGING_UP)

    def keep(self, finished: Finished) -> None:
        told = [len(client.all(Ended)) for client in self.players]
        assert told == [len(self.results)] * 2, "somebody heard of the end before"
        super().keep(finished)


def fall_asleep(world: World, client: Client) -> None:
    client.hand()
    world.wait(11)


WAYS: dict[str, Callable[[Watch], object]] = {
    "four in a row": lambda watch: watch.play(FIRST_WINS, watch.players),
    "leaving": lambda watch: watch.players[1].leave(),
    "time": lambda watch: fall_asleep(watch, watch.players[0]),
    "an illegal move": lambda watch: watch.players[0].play(9),
}


@pytest.mark.parametrize("end", WAYS.values(), ids=WAYS)
def test_result_is_kept_before_its_end_is_told(end: Callable[[Watch], object]) -> None:
    watch = Watch()
    end(watch)
    [result] = watch.results
    assert [[ended.game for ended in client.all(Ended)] for client in watch.players] == [[result.game]] * 2


def test_each_round_is_a_game_of_its_own_which_all_events_name() -> None:
    watch = Watch()
    for now in range(4):
        watch.now = float(now)
        watch.play(FIRST_WINS, watch.players)
    games = [result.game for result in watch.results]
    assert games == sorted({*games})
    for client in watch.players:
        told = [event.game for event in client.heard if isinstance(event, Started | Moved | ToMove | Ended)]
        assert [game for game, _ in groupby(told)] == games
    assert [(each.round, each.series, each.began, each.ended) for each in watch.results] == [
        *((1, 1, 0.0, 0.0), (2, 1, 0.0, 1.0), (3, 1, 1.0, 2.0), (4, 1, 2.0, 3.0))
    ]


def test_who_owed_a_move_gets_no_new_game_before_it_could_hear_of_the_end() -> None:
    world = World()
    world.kept.is_slow = True
    ann, bob = world.pair(STANDING_BY, STEPPING_OUT)
    bob.leave()
    world.arena("cid", TABLE)
    world.wait(1.8)
    assert ann.games == 1
    world.kept.store(world.results[0].game)
    world.wait(0.6)
    assert ann.games == 2


def test_result_has_its_series_the_table_as_the_first_wrote_it_and_the_kinds_of_players() -> None:
    world = World()
    for one_place, two_place in ((AtTable("Round"), AtTable("ROUND")), (LOBBY, LOBBY)):
        players = [
            world.player(replace(manners, kind=kind), kind, place)
            for manners, kind, place in (
                (STANDING_BY, "one", one_place),
                (STEPPING_OUT, "two", two_place),
            )
        ]
        world.play(FIRST_WINS, players)
        for client in players:
            client.leave()
    kept = [each for each in world.results if each.counted]
    assert [(each.table, each.series) for each in kept] == [("Round", 1), (None, 2)]
    assert {player.manners.kind == player.name for each in kept for player in each.players} == {True}
