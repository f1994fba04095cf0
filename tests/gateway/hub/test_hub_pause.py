"""While the operator has paused pairing, nobody new is paired, and nothing else changes."""

from worlds.hub import FIRST_WINS, HANGING_UP, STANDING_BY, TABLE, World, wishing


def test_players_come_and_wait_and_are_paired_after_it() -> None:
    world = World()
    world.hub.pause(is_paused=True)
    pairs = [
        (world.nac4("ann"), world.nac4("bob")),
        (world.arena("cid", TABLE), world.arena("dan", TABLE)),
        (world.arena("eve", wishing("fay")), world.arena("fay", wishing("eve"))),
    ]
    gone = world.arena("gus")
    gone.leave()
    world.wait(3)
    assert not any(client.games for pair in pairs for client in pair)
    assert len(world.hub.snapshot(world.now).waiting) == 6
    assert not any(world.hub.can_reach(client.seat.number) for pair in pairs for client in pair)
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert [one.opponent == two.seat.name for one, two in pairs] == [True] * 3
    assert world.hub.can_reach(pairs[0][0].seat.number)
    assert gone.games == 0


def test_series_that_is_on_has_all_its_games_and_its_players_wait_afterwards() -> None:
    world = World()
    one_game, series = world.pair(STANDING_BY, STANDING_BY, TABLE), [world.droidcon(name) for name in "cd"]
    world.hub.pause(is_paused=True)
    world.play(FIRST_WINS, one_game)
    for _ in range(HANGING_UP.rounds or 0):
        world.play(FIRST_WINS, series)
    world.wait(3)
    assert [(each.games, each.gone) for each in (*one_game, *series)] == [(1, False)] * 2 + [(4, True)] * 2
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert [each.games for each in one_game] == [2, 2]


def test_many_players_whom_it_holds_back_are_not_looked_at_in_one_step() -> None:
    world = World()
    world.hub.pause(is_paused=True)
    clients = [world.nac4(f"p{number}") for number in range(200)]
    world.now += 1.0
    world.hub.pause(is_paused=False)
    steps = []
    while world.now < 2.0:
        before = sum(client.games for client in clients)
        world.now += 0.005
        world.hub.tick(world.now)
        steps.append(sum(client.games for client in clients) - before)
    assert sum(steps) == 200
    assert max(steps) <= 8
