"""A player whose connection broke comes back to another node than the one that keeps its seat."""

import pytest
from worlds.hub import HANGING_UP, STANDING_BY, STEPPING_OUT, TABLE, Client
from worlds.nodes import Nodes

from gateway.game.commands import AtTable, Enter, Introduce, Leave
from gateway.game.events import (
    Dismissed,
    Ended,
    Entered,
    Introduced,
    Moved,
    Reason,
    Refused,
    Resumed,
    Started,
    ToMove,
    Why,
)
from gateway.game.manners import Manners

GRACE = 10.0
ADDRESS = "192.0.2.7"
NAMES = "abc"
ALL = [(first, second, back) for first in "ab" for second in NAMES for back in NAMES]


@pytest.fixture
def net() -> Nodes:
    return Nodes(*NAMES, grace=GRACE, clock=60.0)


def ask(net: Nodes, node: str, name: str, manners: Manners, origin: str = ADDRESS) -> Client:
    client = net[node].client(manners, origin)
    if manners is HANGING_UP:
        client.say(Introduce(name))
    client.say(Enter(TABLE, None if manners is HANGING_UP else name))
    return client


def enter(net: Nodes, node: str, name: str, manners: Manners, origin: str = ADDRESS) -> Client:
    client = ask(net, node, name, manners, origin)
    net.carry()
    return client


def play(net: Nodes, columns: str, *players: Client) -> None:
    for column in columns:
        mover = next(player for player in players if player.request is not None)
        mover.play(int(column))
        net.carry()


def results(net: Nodes) -> list[tuple[Reason, int | None]]:
    """Return why each game ended, and who won. Both nodes of a lost game may store it."""
    return [(each.reason, each.winner) for node in net.nodes.values() for each in node.results]


@pytest.mark.parametrize(("first", "second", "back"), ALL)
@pytest.mark.parametrize("manners", [STANDING_BY, STEPPING_OUT])
def test_player_goes_on_with_its_game_at_any_node(
    net: Nodes, first: str, second: str, back: str, manners: Manners
) -> None:
    ann, bob = enter(net, first, "ann", manners), enter(net, second, "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.wait(2.0)
    again = enter(net, back, "ann", manners)
    assert again.heard[0] == Entered("ann", resumes=True, table=TABLE.name)
    resumed = again.last(Resumed)
    assert (resumed.game, resumed.board.moves) == (bob.last(Started).game, (3, 3))
    assert again.last(ToMove).board.moves == (3, 3)
    play(net, "0101010", again, bob)
    assert results(net) == [(Reason.FOUR, 0)]
    assert again.last(Ended).winner == bob.last(Ended).winner


@pytest.mark.parametrize(("first", "second", "back"), ALL)
def test_player_that_moved_second_comes_back_at_any_node(
    net: Nodes, first: str, second: str, back: str
) -> None:
    ann, bob = enter(net, first, "ann", STANDING_BY), enter(net, second, "bob", STEPPING_OUT)
    play(net, "33", ann, bob)
    bob.break_off()
    net.carry()
    play(net, "4", ann)
    again = enter(net, back, "bob", STEPPING_OUT)
    assert again.last(Resumed).board.moves == (3, 3, 4)
    play(net, "45", again, ann)
    again.break_off()
    net.carry()
    third = enter(net, "c", "bob", STEPPING_OUT)
    assert third.last(Resumed).board.moves == (3, 3, 4, 4, 5)
    play(net, "5", third)
    assert ann.request is not None


@pytest.mark.parametrize(("first", "second", "back"), ALL)
def test_game_is_played_again_at_any_node(net: Nodes, first: str, second: str, back: str) -> None:
    ann, bob = enter(net, first, "ann", HANGING_UP), enter(net, second, "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.wait(1.0)
    again = enter(net, back, "ann", HANGING_UP)
    assert [type(event) for event in again.heard[1:]] == [Entered, Started, ToMove]
    play(net, "0101010", again, bob)
    assert bob.moves_first
    play(net, "33", again, bob)
    again.break_off()
    net.wait(1.0)
    last = enter(net, first, "ann", HANGING_UP)
    net.wait(1.0)
    assert last.plays
    last.break_off()
    net.wait(1.0)
    assert sorted(str(reason) for reason, _ in results(net)) == sorted(
        map(str, [Reason.REPLAYED, Reason.FOUR, Reason.REPLAYED, Reason.LEFT])
    )


@pytest.mark.parametrize(("first", "second", "back"), ALL)
def test_seat_is_lost_when_the_player_is_late(net: Nodes, first: str, second: str, back: str) -> None:
    ann, bob = enter(net, first, "ann", STANDING_BY), enter(net, second, "bob", STEPPING_OUT)
    play(net, "33", ann, bob)
    ann.break_off()
    net.wait(GRACE + 0.5)
    assert results(net) == [(Reason.LEFT, 1)]
    late = enter(net, back, "ann", STANDING_BY)
    assert late.heard == [Entered("ann", table=TABLE.name)]


@pytest.mark.parametrize("back", NAMES)
def test_returned_player_plays_on_after_its_game(net: Nodes, back: str) -> None:
    """Its seat stays on the node where it was."""
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    again = enter(net, back, "ann", STANDING_BY)
    play(net, "0101010", again, bob)
    assert again.last(Ended).reason is Reason.FOUR
    net.wait(1.0)
    assert again.last(Started).game == bob.last(Started).game != again.last(Resumed).game
    play(net, "33", bob, again)
    again.leave()
    net.carry()
    assert bob.last(Ended).reason is Reason.LEFT


def test_returned_arena_player_starts_its_next_game(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "c", "bob", STEPPING_OUT)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    again = enter(net, "a", "ann", STEPPING_OUT)
    play(net, "0101010", again, bob)
    for player in (bob, again):
        player.enter(TABLE, player.seat.name)
        net.carry()
    assert again.plays
    assert again.last(Started).names == bob.last(Started).names


def test_two_that_come_back_at_two_nodes_do_not_both_get_the_seat(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "c", "bob", STEPPING_OUT)
    play(net, "33", ann, bob)
    clients = [net[node].client(STEPPING_OUT, ADDRESS) for node in "ac"]
    for client in clients:
        client.enter(TABLE, "ann")
    ann.break_off()
    net.carry()
    for client in clients:
        if client.probes:
            net[next(n for n in "ac" if client.seat in net[n].hub.seats())].hub.alive(client.seat, 0.0)
    net.carry()
    assert sorted(client.plays for client in clients) == [False, True]
    assert isinstance(next(each for each in clients if not each.plays).heard[-1], Refused)


@pytest.mark.parametrize("is_lost", ["b", "c"])
def test_returned_client_whose_node_is_lost_may_come_back_again(net: Nodes, is_lost: str) -> None:
    """The client is connected to c, its seat is on b, which also has the opponent."""
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    again = enter(net, "c", "ann", STANDING_BY)
    net.cut("b", "c")
    assert again.last(Dismissed).why is Why.STOPPED
    third = enter(net, "b", "ann", STANDING_BY)
    assert third.last(Resumed).board.moves == (3, 3)


@pytest.mark.parametrize("manners", [STANDING_BY, HANGING_UP])
def test_client_whose_node_is_lost_may_come_back_to_a_game_on_a_third_node(
    net: Nodes, manners: Manners
) -> None:
    """The client is connected to c, its seat is on b, and the game on a."""
    ann, bob = enter(net, "a", "ann", STANDING_BY), enter(net, "b", "bob", manners)
    play(net, "3", ann)
    bob.break_off()
    net.carry()
    enter(net, "c", "bob", manners)
    net.wait(1.0)
    net.cut("b", "c")
    net.carry()
    bob = enter(net, "b", "bob", manners)
    if manners is STANDING_BY:
        assert bob.last(Resumed).board.moves == (3,)
        play(net, "3", bob)
        assert ann.request is not None
    else:
        assert ann.last(Ended).reason is Reason.LEFT  # its second break in the round


def test_thinking_time_counts_when_a_returned_client_breaks_off(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    ann.break_off()
    net.carry()
    for _ in range(3):
        ann = enter(net, "c", "ann", STANDING_BY)
        rest = ann.last(ToMove).rest
        ann.hand()
        net.wait(5.0)
        ann.break_off()
        net.carry()
    again = enter(net, "a", "ann", STANDING_BY)
    assert rest is not None
    assert again.last(ToMove).rest == pytest.approx(rest - 5.0, abs=0.3)
    play(net, "3", again)
    play(net, "3", bob)
    assert again.last(ToMove).rest == pytest.approx(rest - 5.0, abs=0.3)


@pytest.mark.parametrize("back", "bc")
def test_time_that_is_left_is_told_right_at_each_return(net: Nodes, back: str) -> None:
    ann, bob = enter(net, "a", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    play(net, "3", ann)
    bob.hand()
    for seconds in (5.0, 10.0, 15.0):
        net.wait(2.5)
        bob.break_off()
        net.wait(2.5)
        bob = enter(net, back, "bob", STANDING_BY)
        assert bob.last(ToMove).rest == pytest.approx(60.0 - seconds, abs=0.5)
        bob.hand()


def test_break_between_two_rounds_does_not_hold_up_the_next(net: Nodes) -> None:
    """The player's node hears of the end of the round after the break."""
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "c", "bob", HANGING_UP)
    play(net, "010101", ann, bob)
    ann.play(0)
    bob.break_off()
    net.carry()
    ann.enter(TABLE, "ann")
    net.carry()
    bob = enter(net, "c", "bob", HANGING_UP)
    net.wait(1.0)
    ann.enter(TABLE, "ann")
    net.wait(1.0)
    assert ann.plays is bob.plays
    if ann.plays:
        play(net, "33", *((ann, bob) if ann.request else (bob, ann)))


@pytest.mark.parametrize("node", "bc")
def test_game_that_began_during_the_absence_does_not_use_up_the_repetition(net: Nodes, node: str) -> None:
    ann, bob = enter(net, "b", "ann", HANGING_UP), enter(net, node, "bob", HANGING_UP)
    play(net, "3", ann)
    ann.break_off()
    net.carry()
    bob.break_off()
    net.carry()
    ann = enter(net, "b", "ann", HANGING_UP)
    net.wait(1.0)
    for _ in range(2):  # the game of its first return began without it, and counts once
        bob = enter(net, node, "bob", HANGING_UP)
        net.wait(1.0)
        assert bob.plays
        bob.break_off()
        net.carry()
    bob = enter(net, node, "bob", HANGING_UP)
    net.wait(1.0)
    assert bob.plays
    bob.break_off()
    net.carry()
    assert results(net)[-1] == (Reason.LEFT, 0)


def test_claim_of_a_client_that_has_left_is_not_repeated(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "b", "bob", STEPPING_OUT)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    gone = net["c"].client(STEPPING_OUT, ADDRESS)
    gone.enter(TABLE, "ann")
    net.carry_between("c", "a")
    gone.break_off()
    net.wait(GRACE + 3.0)
    assert results(net) == [(Reason.LEFT, 1)]


def test_claim_without_an_answer_is_made_again(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "b", "bob", STEPPING_OUT)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    again = net["c"].client(STEPPING_OUT, ADDRESS)
    again.enter(TABLE, "ann")
    net.carry_between("c", "a")
    net.ways["c", "b"].clear()
    net.wait(3.0)
    assert again.plays


def test_returned_client_is_let_go_after_its_game_when_its_node_drains(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    again = enter(net, "c", "ann", STANDING_BY)
    net["c"].hub.drain()
    net["c"].matchmaker.drain()
    net["c"].games.drain()
    assert not net["c"].hub.let_go(again.seat, 0.0)
    play(net, "0101010", again, bob)
    assert again.last(Ended).reason is Reason.FOUR
    assert again.last(Dismissed).why is Why.STOPPED


def test_game_is_not_played_again_on_a_node_that_drains(net: Nodes) -> None:
    """It would have no result then."""
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "c", "bob", HANGING_UP)
    play(net, "33", ann, bob)
    net["b"].hub.drain()
    bob.break_off()
    net.carry()
    assert results(net) == [(Reason.LEFT, 0)]


def test_name_that_is_too_long_for_another_node_is_refused(net: Nodes) -> None:
    ann, _ = enter(net, "b", "ann", STEPPING_OUT), enter(net, "b", "bob", STEPPING_OUT)
    ann.break_off()
    net.carry()
    again = enter(net, "c", "ann", STEPPING_OUT)
    again.enter(AtTable("x" * 2000), "ann")
    assert isinstance(again.heard[-1], Refused)
    assert again.plays


def test_kicked_client_of_another_node_is_gone(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.carry()
    again = enter(net, "c", "ann", STANDING_BY)
    net["b"].hub.submit(ann.seat, Leave(), 0.0)
    net.carry()
    assert again.last(Dismissed).why is Why.LEFT
    assert bob.last(Ended).reason is Reason.LEFT


def test_time_of_a_returned_player_runs_out(net: Nodes) -> None:
    net = Nodes(*NAMES, grace=GRACE, clock=5.0)
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "b", "bob", STANDING_BY)
    play(net, "33", ann, bob)
    ann.break_off()
    net.wait(1.0)
    again = enter(net, "c", "ann", STANDING_BY)
    again.hand()
    play(net, "4", again)
    play(net, "4", bob)
    again.hand()
    net.wait(4.5)
    assert again.last(Ended).reason is bob.last(Ended).reason is Reason.TIME


def test_nothing_is_left_of_a_returned_player(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", STANDING_BY), enter(net, "c", "bob", HANGING_UP)
    play(net, "33", ann, bob)
    for _ in range(3):
        ann.break_off()
        bob.break_off()
        net.carry()
        ann, bob = enter(net, "a", "ann", STANDING_BY), enter(net, "b", "bob", HANGING_UP)
    ann.leave()
    bob.leave()
    net.wait(1.0)
    assert all(node.games.is_empty for node in net.nodes.values())
    assert all(len(node.hub) == 0 for node in net.nodes.values())


def test_own_move_is_told_once(net: Nodes) -> None:
    """The player is back before its node has heard that its move was made."""
    ann, bob = enter(net, "b", "ann", STEPPING_OUT), enter(net, "c", "bob", STEPPING_OUT)
    play(net, "3", ann)
    bob.play(3)
    bob.break_off()
    again = net["c"].client(STEPPING_OUT, ADDRESS)
    again.enter(TABLE, "bob")
    net.carry_between("c", "a")
    assert again.plays
    net.carry()
    assert [type(event) for event in again.heard] == [Entered, Resumed]
    play(net, "4", ann)
    assert again.last(Moved).board.moves == (3, 3, 4)


def test_game_of_which_the_player_s_node_has_not_heard_is_not_played_again(net: Nodes) -> None:
    """Both come back at once, so that the second finds the game of the first's return already begun."""
    ann, bob = enter(net, "b", "ann", HANGING_UP), enter(net, "c", "bob", HANGING_UP)
    ann.break_off()
    bob.break_off()
    net.carry()
    ann = ask(net, "b", "ann", HANGING_UP)
    net.carry_between("b", "a")
    assert ann.plays
    bob = ask(net, "c", "bob", HANGING_UP)
    net.carry_between("c", "a")
    net.carry()
    assert [type(event) for event in bob.heard] == [Introduced, Entered, Started]
    assert results(net) == [(Reason.REPLAYED, None)]


def test_break_before_the_repetition_is_remembered_on_another_node(net: Nodes) -> None:
    ann, bob = enter(net, "b", "ann", HANGING_UP), enter(net, "c", "bob", HANGING_UP)
    play(net, "3", ann)
    ann.break_off()
    net.carry()
    ann = enter(net, "b", "ann", HANGING_UP)  # the game is played again when bob's move had time to arrive
    bob.break_off()
    net.wait(1.0)
    bob = enter(net, "c", "bob", HANGING_UP)
    net.wait(1.0)
    assert bob.plays
    play(net, "33", ann, bob)
