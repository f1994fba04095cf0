"""While the operator has paused pairing, nobody new is paired, and nothing else changes."""

from worlds.hub import HANGING_UP, STANDING_BY, TABLE, World, wishing


def test_players_come_and_wait_and_are_paired_after_it_in_their_order() -> None:
    world = World()
    world.hub.pause(is_paused=True)
    first, second, third = (world.nac4(name) for name in ("ann", "bob", "cid"))
    world.wait(3)
    assert [each.games for each in (first, second, third)] == [0, 0, 0]
    assert [each.name for each in world.hub.snapshot(world.now).players] == ["ann", "bob", "cid"]
    assert len(world.hub.snapshot(world.now).waiting) == 3
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert first.opponent in ("bob", "cid")


def test_game_that_is_on_goes_on_and_its_players_wait_afterwards() -> None:
    world = World()
    ann, bob = world.nac4("ann"), world.nac4("bob")
    world.hub.pause(is_paused=True)
    world.play("0101010", (ann, bob))
    world.wait(3)
    assert (ann.games, ann.plays, ann.gone) == (1, False, False)
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert (ann.games, bob.games) == (2, 2)


def test_series_that_is_on_has_all_its_games() -> None:
    world = World()
    ann, bob = world.droidcon("ann"), world.droidcon("bob")
    world.hub.pause(is_paused=True)
    for _ in range(HANGING_UP.rounds or 0):
        world.play("0101010", (ann, bob))
    assert (ann.games, ann.gone, bob.gone) == (4, True, True)


def test_tables_wishes_and_those_who_left_wait_too() -> None:
    world = World()
    world.hub.pause(is_paused=True)
    pairs = [
        (world.arena("ann", TABLE), world.arena("bob", TABLE)),
        (world.arena("cid", wishing("dan")), world.arena("dan")),
    ]
    gone = world.arena("eve"), world.arena("fay")
    gone[0].leave()
    world.wait(3)
    assert not any(client.games for pair in pairs for client in (*pair, gone[1]))
    world.hub.pause(is_paused=False)
    world.wait(2.0)
    assert [[client.opponent for client in pair] for pair in pairs] == [["bob", "ann"], ["dan", "cid"]]
    assert gone[1].games == 0


def test_no_other_node_begins_a_series_with_a_player_of_this_one() -> None:
    world = World()
    ann = world.nac4("ann")
    assert world.hub.can_reach(ann.seat.number)
    world.hub.pause(is_paused=True)
    assert not world.hub.can_reach(ann.seat.number)


def test_thousand_players_whom_it_holds_back_are_not_looked_at_in_one_step() -> None:
    world = World()
    world.hub.pause(is_paused=True)
    clients = [world.client(STANDING_BY, f"192.0.2.{number % 250}") for number in range(1000)]
    for number, client in enumerate(clients):
        client.enter(name=f"p{number}")
    world.now += 1.0
    world.hub.pause(is_paused=False)
    most = 0
    while world.now < 2.0:
        before = sum(client.games for client in clients)
        world.now += 0.001
        world.hub.tick(world.now)
        most = max(most, sum(client.games for client in clients) - before)
    assert sum(client.games for client in clients) == 1000
    assert most <= 6
