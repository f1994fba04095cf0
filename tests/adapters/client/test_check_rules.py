"""What each dialect asks of its clients stands in its PROTOCOL.md, and is told as a sentence."""

import re

import pytest
from forking import ROOT

from adapters.check.scenarios import SCENARIOS
from adapters.client.rules import ENDINGS, PROHIBITIONS, Topic
from adapters.dialects import DIALECTS
from gateway.game.manners import Afterwards


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_each_rule_names_a_clause_of_the_protocol(dialect):
    text = (ROOT / "adapters" / dialect.name / "PROTOCOL.md").read_text()
    clauses = set(re.findall(r"^\*\*(\d+\.\d+)\*\*", text, re.MULTILINE))
    assert {rule.clause for rule in dialect.requirements().rules.values()} <= clauses


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
def test_each_dialect_has_a_rule_for_what_every_bot_has_to_do(dialect):
    rules = dialect.requirements().rules
    every = {Topic.ENTRY, Topic.OPENING, Topic.REPLY, Topic.CLOSE, Topic.FULL, Topic.TURN}
    manners = dialect.requirements().translator(dialect.options(), "", False).manners
    every |= {Topic.NEXT} if manners.afterwards is not Afterwards.ONE_GAME else set()
    assert every | {*ENDINGS} <= rules.keys()
    assert all(rule.behind is None or rule.behind in rules for rule in rules.values())


def test_each_topic_is_seen_by_a_game_or_in_passing():
    by_game = {each.topic for each in SCENARIOS}
    entering = {Topic.TRANSPORT, Topic.ENTRY, Topic.NAME, Topic.AGAIN, Topic.REFUSED}
    assert {*Topic} == by_game | entering | {*PROHIBITIONS} | {Topic.PING, Topic.CLOSE}
