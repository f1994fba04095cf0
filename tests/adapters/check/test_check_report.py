"""The reports on bots, for people and for machines."""

import json
from xml.etree import ElementTree as Xml

from adapters.check.checkup import Checkup
from adapters.check.record import Fault
from adapters.check.report import as_json, as_junit, as_summary, as_text, report_of
from adapters.client.rules import Rule, Topic

RULES = {
    Topic.FULL: Rule("5.10", "looks", "look at the board", is_grave=False),
    Topic.TURN: Rule("5.9", "waits", "wait"),
    Topic.DRAW: Rule("4.5", "draws", "draw"),
    Topic.REPLY: Rule("4.3", "answers", "answer"),
}


def reported(*faults):
    checkup = Checkup("a\x1b\u202enn", RULES, ())
    checkup.right(Topic.REPLY)
    checkup.faults += faults
    return report_of("nac4", RULES, checkup)


MINOR = Fault(Topic.FULL, "full", "a draw", ("12  ->  x",), is_grave=False)
GRAVE = Fault(Topic.TURN, "out of \x00 turn", "a draw", ("12  ->  \x07",))


def test_rules_come_in_the_order_of_their_clauses_with_a_verdict_each():
    lines = list(as_text(reported(MINOR, GRAVE, GRAVE)))
    assert [line.split(maxsplit=1) for line in lines[2:6]] == [
        ["4.3", "right         answers"],
        ["4.5", "never got to  draws"],
        ["5.9", "WRONG         waits"],
        ["5.10", "remark        looks"],
    ]
    assert lines[-1].endswith("1 right, 1 wrong, 1 remark, 1 never got to")
    assert any("change:  wait" in line for line in lines)
    assert any("2 times" in line for line in lines)


def test_no_text_of_a_bot_s_reaches_the_terminal_with_its_control_characters():
    text = "\n".join(as_text(reported(GRAVE)))
    assert text.replace("\n", "").isprintable()


def test_text_of_a_bot_s_is_visible_in_xml_too():
    """XML has no way to write NUL, half a surrogate pair, or what is no character."""
    odd = Fault(Topic.TURN, "odd \x00\x1b\x85\u202e\ud800\ufffe", "", ("12  ->  \x00\ud800\ufffe",))
    xml = as_junit([reported(odd)])
    assert xml.replace("\n", "").isprintable()
    _, suite = Xml.fromstring(xml)
    assert suite.get("name") == r"nac4 a\x1b\u202enn"
    (message,) = [each.get("message") for each in suite.iter("failure")]
    assert message == r"odd \x00\x1b\x85\u202e\ud800\ufffe"


def test_bot_is_good_that_plays_and_does_nothing_wrong():
    assert reported(MINOR).is_good
    assert not reported(GRAVE).is_good
    assert not report_of("nac4", RULES, Checkup("ann", RULES, ())).is_good


def test_files_say_the_same():
    report = reported(MINOR, GRAVE)
    said = json.loads(as_json([report]))
    assert said["good"] is False
    assert [each["verdict"] for each in said["bots"][0]["rules"]] == [
        "right",
        "never got to",
        "wrong",
        "remark",
    ]
    assert said["bots"][0]["rules"][2]["faults"][0]["exchange"] == ["12  ->  \x07"]
    _, suite = Xml.fromstring(as_junit([report]))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "1", "1")
    assert [[child.tag for child in case] for case in suite] == [[], ["skipped"], ["failure"], ["system-out"]]


def test_class_has_a_line_for_each_bot():
    assert not list(as_summary([reported()], 1))
    lines = list(as_summary([reported(), reported(MINOR, GRAVE, GRAVE)], 3))
    assert lines == [
        "\n2 of 3 bots came, 1 good",
        r"  a\x1b\u202enn  good",
        r"  a\x1b\u202enn  WRONG 5.9; remark 5.10",
    ]


def test_bot_that_did_not_come_fails_a_test_of_its_own():
    report = reported()
    for expected, failures in ((1, "0"), (2, "1")):
        bots, _ = Xml.fromstring(as_junit([report], expected))
        assert bots.get("failures") == failures
        assert json.loads(as_json([report], expected))["good"] is (expected == 1)


def test_report_that_may_be_about_several_bots_is_not_good():
    report = reported()
    report.checkup.mixed = "several connections at once"
    assert not report.is_good
    assert list(as_text(report))[1].startswith("  several connections at once: ")
    assert list(as_summary([report], 2))[1:] == [r"  a\x1b\u202enn  several connections at once"]
    bots, _ = Xml.fromstring(as_junit([report]))
    assert bots.get("failures") == "1"


def test_bot_that_comes_back_hears_after_how_many_seconds():
    report = reported()
    assert json.loads(as_json([report]))["bots"][0]["back_after"] is None
    report.checkup.came_back(0.42)
    assert list(as_text(report))[1] == "  its connection broke: it came back after 0.4 s, and played on"
    assert json.loads(as_json([report]))["bots"][0]["back_after"] == 0.42
