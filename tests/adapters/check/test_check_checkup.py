"""What is concluded of a bot: one mistake is one fault."""

from dataclasses import replace

import pytest

from adapters.check.checkup import Checkup
from adapters.check.record import Fault
from adapters.check.scenarios import Conduct, Scenario, beat
from adapters.client.rules import Rule, Topic

RULES = {topic: Rule("1.1", "obeys", "obey") for topic in Topic}
RULES[Topic.LEFT_ASKED] = Rule("1.2", "obeys", "obey", behind=Topic.LEFT)
PLAIN, WIN, LEFT, ASKED, SPLIT = (
    Scenario(topic, topic.name, beat)
    for topic in (Topic.OPENING, Topic.WIN, Topic.LEFT, Topic.LEFT_ASKED, Topic.SPLIT)
)


def checkup(*scenarios: Scenario) -> Checkup:
    made = Checkup("ann", RULES, scenarios)
    made.right(Topic.ENTRY, Topic.OPENING, Topic.REFUSED)
    return made


def fault(topic: Topic) -> Fault:
    return Fault(topic, "it failed")


def fail_twice(made: Checkup, scenario: Scenario) -> None:
    for _ in range(2):
        made.failed(take(made, scenario), fault(scenario.topic), None)


def wrong(made: Checkup) -> set[Topic]:
    made.conclude()
    return {each.topic for each in made.faults if each.is_grave}


def take(made: Checkup, scenario: Scenario, *, is_first: bool = True):
    task = made.next_task(bot_opens=True, is_first=is_first)
    assert task is not None
    assert task.scenario is scenario
    made.began(task)
    return task


def test_games_come_in_their_order_and_the_bot_is_asked_for_the_side_that_they_want():
    second = Scenario(Topic.REPLY, "", beat, bot_opens=False)
    made = checkup(second, PLAIN)
    for is_first in (True, False):
        task = made.next_task(is_first=is_first)
        assert task is not None
        assert not made.opens(task)
    assert take(made, PLAIN)


def test_bot_opens_every_other_game_where_the_scenario_does_not_say():
    made, opens = checkup(PLAIN, WIN, LEFT, SPLIT), []
    while (task := made.next_task(is_first=True)) is not None:
        opens.append(made.opens(task))
        made.began(task)
        made.finished(task, frozenset())
    assert opens == [True, False, True, False]


def test_failure_in_a_first_game_is_what_the_game_is_about():
    made = checkup(SPLIT)
    fail_twice(made, SPLIT)
    assert wrong(made) == {Topic.SPLIT}


def test_bot_that_counts_columns_from_1_is_not_told_that_they_are_full_too():
    made = checkup()
    for topic in (Topic.FULL, Topic.COLUMN):
        made.wrong(fault(topic))
    assert wrong(made) == {Topic.COLUMN}


def test_bot_that_does_not_play_at_all_gets_no_game_while_others_are_checked():
    made = checkup(SPLIT)
    made.wrong(fault(Topic.OPENING))
    assert made.is_over
    assert made.next_task(is_first=True) is None


def test_failure_that_does_not_happen_again_is_remarked():
    made = checkup(SPLIT)
    made.failed(take(made, SPLIT), fault(Topic.SPLIT), None)
    made.finished(take(made, SPLIT), frozenset({Topic.SPLIT}))
    assert wrong(made) == set()
    assert [each.topic for each in made.faults] == [Topic.SPLIT]


@pytest.mark.parametrize("fails_again", [False, True])
def test_failure_in_a_later_game_is_played_again_as_a_first_one(fails_again):
    made = checkup(PLAIN, SPLIT)
    take(made, PLAIN)
    made.failed(take(made, SPLIT, is_first=False), fault(Topic.SPLIT), frozenset())
    assert made.next_task(is_first=False) is None
    again = take(made, SPLIT)
    if fails_again:
        made.failed(again, fault(Topic.SPLIT), None)
    else:
        made.finished(again, frozenset({Topic.SPLIT}))
    assert wrong(made) == ({Topic.SPLIT} if fails_again else {Topic.NEXT})


def test_bot_that_always_leaves_has_done_nothing_wrong():
    made = checkup(WIN, PLAIN)
    made.left(frozenset({Topic.WIN}), fault(Topic.NEXT))
    made.left(frozenset({Topic.LOSS}), fault(Topic.NEXT))
    made.left(frozenset({Topic.WIN}), fault(Topic.NEXT))
    assert wrong(made) == set()


def test_bot_that_leaves_after_one_kind_of_end_alone_does_not_cope_with_that():
    made = checkup(WIN)
    made.finished(take(made, WIN), frozenset({Topic.WIN}))
    made.left(frozenset({Topic.WIN}), fault(Topic.NEXT))
    assert made.next_task(is_first=True) is None
    made.stayed(frozenset({Topic.LOSS}))
    assert take(made, WIN)  # played again, to be sure
    made.left(frozenset({Topic.WIN}), fault(Topic.NEXT))
    assert wrong(made) == {Topic.WIN}


def test_bot_that_left_once_and_stayed_later_left_for_another_reason():
    made = checkup(WIN)
    made.left(frozenset({Topic.WIN}), fault(Topic.NEXT))
    made.stayed(frozenset({Topic.WIN}))
    assert wrong(made) == set()
    assert Topic.WIN in made.rights


def test_who_left_once_and_never_came_again_is_remarked_upon():
    made = checkup(WIN)
    made.stayed(frozenset({Topic.LOSS}))
    made.left(frozenset({Topic.WIN}), fault(Topic.NEXT))
    assert wrong(made) == set()
    assert [(each.topic, each.is_grave) for each in made.faults] == [(Topic.WIN, False)]


def test_what_follows_from_another_mistake_is_not_asked_and_not_held_against_the_bot():
    made = checkup(LEFT, ASKED)
    made.wrong(fault(Topic.LEFT_ASKED))
    fail_twice(made, LEFT)
    assert made.next_task(is_first=True) is None
    assert wrong(made) == {Topic.LEFT}


def test_bot_that_does_not_play_is_given_up():
    made = checkup(PLAIN, WIN)
    fail_twice(made, PLAIN)
    assert made.is_over


def test_game_that_was_cut_short_by_a_mistake_is_played_again_twice_at_most():
    made = checkup(SPLIT)
    for _ in range(3):
        made.spoiled(take(made, SPLIT))
    assert made.next_task(is_first=True) is None


def test_bot_is_refused_once_when_all_games_are_played():
    made = Checkup("ann", RULES, [PLAIN])
    assert not made.wants_refusal
    made.finished(take(made, PLAIN), frozenset())
    assert made.wants_refusal
    made.right(Topic.REFUSED)
    assert made.is_over


def test_bot_that_has_moved_obeys_what_it_never_broke():
    made = checkup()
    made.wrong(fault(Topic.TURN))
    made.conclude()
    assert Topic.COLUMN in made.rights
    assert Topic.TURN not in made.rights


def test_bot_that_cannot_take_merged_messages_may_stall_anywhere():
    made = checkup()
    made.wrong(replace(fault(Topic.SLOW), is_stall=True))
    made.wrong(fault(Topic.MERGED))
    made.wrong(fault(Topic.TURN))
    assert wrong(made) == {Topic.MERGED, Topic.TURN}


LATE = Scenario(Topic.WAIT, "the opponent comes late", beat, conduct=Conduct.COME_LATE)


def test_opponent_comes_late_only_where_a_connection_begins():
    made = checkup(LATE, PLAIN)
    first = made.next_task(is_first=True)
    assert first is not None
    assert first.is_late
    assert take(made, PLAIN, is_first=False)


@pytest.mark.parametrize("times", [1, 2])
def test_bot_that_does_not_wait_for_its_opponent_is_wrong_if_it_does_so_again(times):
    made = checkup(LATE)
    for _ in range(times):
        made.gave_up(fault(Topic.WAIT))
    if times == 1:
        made.finished(take(made, LATE), frozenset({Topic.WAIT}))
    assert wrong(made) == ({Topic.WAIT} if times == 2 else set())


@pytest.mark.parametrize("is_grave", [False, True])
def test_bot_that_fails_at_what_only_the_original_does_is_wrong_where_the_rule_says_so(is_grave):
    quirk = Scenario(Topic.QUIRK, "", beat, as_original=True)
    made = Checkup("ann", RULES | {Topic.QUIRK: replace(RULES[Topic.QUIRK], is_grave=is_grave)}, [quirk])
    fail_twice(made, quirk)
    assert wrong(made) == ({Topic.QUIRK} if is_grave else set())
    assert [each.topic for each in made.faults] == [Topic.QUIRK]


@pytest.mark.parametrize("enters", [False, True])
def test_bot_that_comes_and_goes_is_wrong_if_it_never_asks_for_a_game(enters):
    made = Checkup("ann", RULES, ())
    made.went(fault(Topic.ENTRY))
    if enters:
        made.right(Topic.ENTRY)
    assert wrong(made) == (set() if enters else {Topic.ENTRY})


def test_bot_that_hangs_up_when_another_connection_has_its_late_opponent_ends_no_check():
    made = checkup(LATE)
    take(made, LATE)
    made.gave_up(fault(Topic.WAIT))
    assert wrong(made) == set()


@pytest.mark.parametrize("is_grave", [False, True])
def test_bot_that_leaves_at_each_further_game_is_only_remarked_where_it_may(is_grave):
    made = checkup(SPLIT)
    left = replace(fault(Topic.SPLIT), is_grave=is_grave)
    made.failed(take(made, SPLIT, is_first=False), left, frozenset({Topic.WIN}))
    made.finished(take(made, SPLIT), frozenset({Topic.SPLIT}))
    made.conclude()
    assert [(each.topic, each.is_grave) for each in made.faults] == [(Topic.NEXT, is_grave)]


def test_bot_that_leaves_after_games_of_one_end_only_is_wrong():
    made = checkup()
    made.stayed(frozenset({Topic.LOSS}))
    for _ in range(2):
        made.left(frozenset({Topic.WIN}), replace(fault(Topic.NEXT), is_grave=False))
    assert wrong(made) == {Topic.WIN}


def test_bot_that_leaves_after_what_follows_from_another_such_end_makes_one_mistake():
    made = checkup()
    made.stayed(frozenset({Topic.LOSS}))
    for topic in (Topic.LEFT, Topic.LEFT_ASKED):
        for _ in range(2):
            made.left(frozenset({topic}), fault(Topic.NEXT))
    assert wrong(made) == {Topic.LEFT}


def test_connection_is_cut_in_the_last_game_of_all_when_the_refusal_was_seen():
    cut = Scenario(Topic.BACK, "BACK", beat, conduct=Conduct.CUT)
    made = Checkup("ann", RULES, [cut, PLAIN])
    take(made, PLAIN)
    assert made.next_task(is_first=True) is None
    assert made.wants_refusal
    made.right(Topic.ENTRY, Topic.OPENING, Topic.REFUSED)
    assert not made.is_over
    take(made, cut, is_first=False)
    assert not made.is_over  # until it is known whether the bot comes back
    made.plays_last = False
    assert made.is_over
    assert made.next_task(is_first=True) is None


def test_check_is_not_over_while_its_last_game_is_on():
    made = Checkup("ann", {Topic.OPENING: RULES[Topic.OPENING]}, [PLAIN])
    task = made.next_task(is_first=True)
    made.began(task)
    assert not made.is_over
    made.finished(task, frozenset({Topic.OPENING}))
    assert made.is_over
