"""What to change after a fault, in the words of the rules of the dialect."""

import pytest

from adapters.client.remedies import GENERAL, remedies
from adapters.client.rules import Requirements, Topic
from adapters.dialects import DIALECTS
from gateway.game.board import Board
from gateway.game.events import Objection
from gateway.game.results import FAULT_WORDS

REQUIREMENTS = [each.requirements() for each in DIALECTS]
dialects = pytest.mark.parametrize("requirements", REQUIREMENTS, ids=[each.name for each in DIALECTS])


def test_every_fault_has_general_advice() -> None:
    assert [*GENERAL] == [*FAULT_WORDS]


@dialects
@pytest.mark.parametrize("fault", FAULT_WORDS)
def test_every_fault_has_advice_with_clauses_of_the_dialect(fault: str, requirements: Requirements) -> None:
    rules = {(rule.change, rule.clause) for rule in requirements.rules.values()}
    found = remedies(fault, requirements, Board(), None)
    assert (GENERAL[fault], "") in found
    assert {each for each in found if each[1]} <= rules


@dialects
def test_refused_text_has_the_advice_of_the_rule_that_it_breaks_and_no_other(
    requirements: Requirements,
) -> None:
    rule = requirements.rules[Topic.WORDS]
    found = remedies("time", requirements, Board(), ("?", Objection.UNREADABLE))
    assert found == [(rule.change, rule.clause)]


def test_player_of_an_unknown_dialect_has_general_advice() -> None:
    refused = "?", Objection.UNREADABLE
    assert remedies("crash", None, Board(), refused) == [(GENERAL["crash"], "")]
