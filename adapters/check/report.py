"""What is told of the bots that were checked: to people, as JSON, and as JUnit's XML.

Knows checkups and the rules of the dialect. A rule that a bot never met is no fault, and told as what it is.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from xml.etree import ElementTree as Xml

from adapters.check.checkup import Checkup
from adapters.check.record import Fault
from adapters.check.rules import Rule, Topic
from gateway.game.text import printable

_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


class Verdict(Enum):
    """What a bot did about a rule."""

    RIGHT = "right"
    WRONG = "WRONG"
    REMARK = "remark"
    NEVER = "never got to"


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, and what a bot did about it."""

    rule: Rule
    verdict: Verdict
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class Report:
    """What is known of one bot."""

    dialect: str
    checkup: Checkup
    rows: Sequence[Row]

    @property
    def is_good(self) -> bool:
        """Whether the bot has played, and did nothing wrong."""
        played = any(self.checkup.rights[topic] for topic in (Topic.OPENING, Topic.REPLY))
        return played and not self.count(Verdict.WRONG)

    def count(self, verdict: Verdict) -> int:
        """Return how many rules have this verdict."""
        return sum(row.verdict is verdict for row in self.rows)


def report_of(dialect: str, rules: Mapping[Topic, Rule], checkup: Checkup) -> Report:
    """Return what is known of a bot, in the order of the clauses."""
    rows = [_row(topic, rule, checkup) for topic, rule in rules.items()]
    rows.sort(key=lambda row: [int(part) for part in row.rule.clause.split(".")])
    return Report(dialect, checkup, rows)


def _row(topic: Topic, rule: Rule, checkup: Checkup) -> Row:
    faults = [fault for fault in checkup.faults if fault.topic is topic]
    if faults:
        grave = any(fault.is_grave for fault in faults)
        return Row(rule, Verdict.WRONG if grave else Verdict.REMARK, faults)
    return Row(rule, Verdict.RIGHT if checkup.rights[topic] else Verdict.NEVER, ())


def as_text(report: Report) -> Iterator[str]:
    """Yield lines for people: a line for each rule, then each fault with its exchange."""
    checkup = report.checkup
    name = printable(checkup.name)
    yield f"{report.dialect}: {name}, games: {checkup.games}, connections: {checkup.connections}"
    for row in report.rows:
        yield f"  {row.rule.clause:5} {row.verdict.value:13} {row.rule.duty}"
    for row in report.rows:
        if row.faults:
            yield ""
            yield from _explained(row)
    counts = ", ".join(f"{report.count(each)} {each.value.lower()}" for each in Verdict)
    yield f"\n{name}: {counts}"


def _explained(row: Row) -> Iterator[str]:
    fault = row.faults[0]
    times = "" if len(row.faults) == 1 else f" ({len(row.faults)} times; this is the first)"
    yield f"{row.verdict.value} {row.rule.clause}: {row.rule.duty}"
    where = f" ({fault.scenario})" if fault.scenario else ""
    yield f"  seen:    {printable(fault.words)}{where}{times}"
    yield f"  change:  {row.rule.change}"
    yield "  -> said by the bot, <- said to it, in milliseconds since it connected:"
    for line in fault.exchange:
        yield f"    {printable(line)}"


def as_json(reports: Sequence[Report]) -> str:
    """Return the reports as JSON: an object with `good`, and a list of `bots`."""
    bots = [
        {
            "dialect": report.dialect,
            "bot": report.checkup.name,
            "good": report.is_good,
            "games": report.checkup.games,
            "connections": report.checkup.connections,
            "rules": [_row_as_json(row) for row in report.rows],
        }
        for report in reports
    ]
    good = bool(reports) and all(report.is_good for report in reports)
    return json.dumps({"good": good, "bots": bots}, indent=2) + "\n"


def _row_as_json(row: Row) -> dict[str, object]:
    said: dict[str, object] = {
        "clause": row.rule.clause,
        "duty": row.rule.duty,
        "verdict": row.verdict.value.lower(),
    }
    if row.faults:
        said["change"] = row.rule.change
        said["faults"] = [
            {"words": each.words, "game": each.scenario, "exchange": list(each.exchange)}
            for each in row.faults
        ]
    return said


def as_junit(reports: Sequence[Report]) -> str:
    """Return the reports as JUnit's XML: a suite for each bot, a case for each rule."""
    root = Xml.Element("testsuites")
    for report in reports:
        name = _writable(f"{report.dialect} {report.checkup.name}")
        suite = Xml.SubElement(root, "testsuite", name=name, tests=str(len(report.rows)))
        suite.set("failures", str(report.count(Verdict.WRONG)))
        suite.set("skipped", str(report.count(Verdict.NEVER)))
        for row in report.rows:
            _case(suite, name, row)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def _case(suite: Xml.Element, name: str, row: Row) -> None:
    case = Xml.SubElement(suite, "testcase", classname=name, name=f"{row.rule.clause} {row.rule.duty}")
    match row.verdict:
        case Verdict.WRONG:
            failure = Xml.SubElement(case, "failure", message=_writable(row.faults[0].words))
            failure.text = _writable("\n".join(_explained(row)))
        case Verdict.NEVER:
            Xml.SubElement(case, "skipped", message="the bot never got to this")
        case Verdict.REMARK:
            Xml.SubElement(case, "system-out").text = _writable("\n".join(_explained(row)))
        case Verdict.RIGHT:
            pass


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
