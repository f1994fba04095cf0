"""The reports on the checked bots: as text, as JSON, and as JUnit's XML.

Knows checkups and the rules of the dialect. The verdict on a rule that no game tested is `NEVER`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias
from xml.etree import ElementTree as Xml

from adapters.check.checkup import Checkup
from adapters.check.record import Fault
from adapters.client.rules import Rule, Topic
from gateway.game.text import json_text, printable

Failures: TypeAlias = dict[tuple[str, ...], Sequence[str]]
"""The last lines on stderr of processes that failed. The key is how the process ended, and its last line."""
_KINDS = 5
"""The most kinds of strangers that a report shows."""


class Verdict(Enum):
    """The result of checking a bot for one rule."""

    RIGHT = "right"
    WRONG = "WRONG"
    REMARK = "remark"
    NEVER = "never got to"


@dataclass(frozen=True, slots=True)
class Row:
    """A rule, and the verdict on a bot for this rule."""

    rule: Rule
    verdict: Verdict
    faults: Sequence[Fault]


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one bot, with a verdict on each rule."""

    dialect: str
    checkup: Checkup
    rows: Sequence[Row]
    document: str
    """The name of the dialect's reference."""

    @property
    def is_good(self) -> bool:
        """Whether the report is whole and the bot did nothing wrong."""
        return self.is_whole and not self.count(Verdict.WRONG)

    @property
    def is_whole(self) -> bool:
        """Whether the bot has played, was fast enough for all games, and is alone in its report."""
        return self.has_played and not self.checkup.mixed and not self.checkup.is_too_slow

    @property
    def has_played(self) -> bool:
        """Whether the bot has made a legal move."""
        return not self.checkup.rights.isdisjoint((Topic.OPENING, Topic.REPLY))

    def count(self, verdict: Verdict) -> int:
        """Return how many rules have this verdict."""
        return sum(row.verdict is verdict for row in self.rows)


def report_of(
    dialect: str, rules: Mapping[Topic, Rule], checkup: Checkup, document: str = "its PROTOCOL.md"
) -> Report:
    """Return the report on a bot, in the order of the clauses of a document."""
    rows = [_row(topic, rule, checkup) for topic, rule in rules.items()]
    rows.sort(key=lambda row: [int(part) for part in row.rule.clause.split(".")])
    return Report(dialect, checkup, rows, document)


def _row(topic: Topic, rule: Rule, checkup: Checkup) -> Row:
    faults = [fault for fault in checkup.faults if fault.topic is topic]
    if faults:
        grave = any(fault.is_grave for fault in faults)
        return Row(rule, Verdict.WRONG if grave else Verdict.REMARK, faults)
    return Row(rule, Verdict.RIGHT if topic in checkup.rights else Verdict.NEVER, ())


def as_text(report: Report) -> Iterator[str]:
    """Yield lines for people: one line for each rule, then each fault with the exchange before it."""
    checkup = report.checkup
    name = printable(checkup.name)
    yield f"{report.dialect}: {name}, games: {checkup.games}, connections: {checkup.connections}"
    if checkup.mixed:
        yield f"  {checkup.mixed}: it is unknown which bot did what; give each a name of its own, and --bots"
    if checkup.slow:
        yield f"  {_slow(checkup)}"
    if checkup.back_after is not None:
        yield f"  its connection broke: it came back after {checkup.back_after:.1f} s, and played on"
    yield f"  what a bot does, by the clauses of {report.document}:"
    for row in report.rows:
        yield f"  {row.rule.clause:5} {row.verdict.value:13} {row.rule.duty}"
    for row in report.rows:
        if row.faults:
            yield ""
            yield from _explained(row)
    counts = ", ".join(f"{report.count(each)} {each.value.lower()}" for each in Verdict)
    yield f"\n{name}: {counts}"


def as_last_words(failures: Failures) -> Iterator[str]:
    """Yield lines for people about processes that failed."""
    for (how, *_), words in failures.items():
        yield f"\n{printable(how)}, and said {'last:' if words else 'nothing'}"
        yield from (f"    {line}" for line in words)


def as_summary(reports: Sequence[Report], expected: int) -> Iterator[str]:
    """Yield a summary with a line for each bot. Yields nothing if only one bot is expected."""
    if expected == 1:
        return
    yield f"\n{in_numbers(reports, expected)}"
    names = [printable(report.checkup.name) for report in reports]
    width = max(map(len, names), default=0)
    for name, report in zip(names, reports, strict=True):
        wrong, remarks = (_clauses(report, each) for each in (Verdict.WRONG, Verdict.REMARK))
        words = [wrong and f"WRONG {wrong}", remarks and f"remark {remarks}"]
        never = "" if report.has_played else "did not play"
        slow = _slow(report.checkup) if report.checkup.is_too_slow else ""
        words += [never, slow, report.checkup.mixed]
        yield f"  {name:{width}}  {'; '.join(filter(None, words)) or 'good'}"


def in_numbers(reports: Sequence[Report], expected: int) -> str:
    """Return a text that says how many bots came, and how many of them are good."""
    good = sum(report.is_good for report in reports)
    return f"{len(reports)} of {expected} bots came, {good} good"


def _slow(checkup: Checkup) -> str:
    """Return a text that says how slow the bot is."""
    return f"{'too slow' if checkup.is_too_slow else 'slow'}: {checkup.slow}"


def _clauses(report: Report, verdict: Verdict) -> str:
    return ", ".join(dict.fromkeys(row.rule.clause for row in report.rows if row.verdict is verdict))


def _explained(row: Row) -> Iterator[str]:
    fault = row.faults[0]
    times = "" if len(row.faults) == 1 else f" ({len(row.faults)} times; this is the first)"
    yield f"{row.verdict.value} {row.rule.clause}: {row.rule.duty}"
    yield f"  seen:    {printable(fault.seen)}{times}"
    if fault.scenario:
        yield f"  game:    {fault.scenario}"
    kinds = [*dict.fromkeys(each.seen for each in row.faults if not each.exchange)]
    yield from (f"  also:    {printable(words)}" for words in kinds[1:_KINDS])
    yield f"  change:  {row.rule.change}"
    if fault.exchange:
        yield "  what came before; -> said by the bot, <- said to it, in milliseconds since it connected:"
    for line in fault.exchange:
        yield f"    {printable(line)}"


def as_json(reports: Sequence[Report], expected: int = 1) -> str:
    """Return the reports as JSON: an object with `good`, the number `expected`, and a list of `bots`."""
    bots = [
        {
            "dialect": report.dialect,
            "bot": report.checkup.name,
            "good": report.is_good,
            "games": report.checkup.games,
            "connections": report.checkup.connections,
            "mixed": report.checkup.mixed,
            "slow": report.checkup.slow,
            "back_after": report.checkup.back_after,
            "rules": [_row_as_json(row) for row in report.rows],
        }
        for report in reports
    ]
    good = len(reports) >= expected and all(report.is_good for report in reports)
    return json_text({"good": good, "expected": expected, "bots": bots}, indent=2) + "\n"


def _row_as_json(row: Row) -> dict[str, object]:
    said: dict[str, object] = {
        "clause": row.rule.clause,
        "duty": row.rule.duty,
        "verdict": row.verdict.value.lower(),
    }
    if row.faults:
        said["change"] = row.rule.change
        said["faults"] = [
            {"words": each.seen, "game": each.scenario, "exchange": list(each.exchange)}
            for each in row.faults
        ]
    return said


def as_junit(reports: Sequence[Report], expected: int = 1) -> str:
    """Return the reports as JUnit's XML.

    It has a suite for each bot with a case for each rule, and one case for all bots. Texts of bots pass
    through `printable`, because XML cannot express every character.
    """
    root = Xml.Element("testsuites")
    is_whole = len(reports) >= expected
    is_whole = is_whole and all(each.is_whole for each in reports)
    bots = _suite(root, "bots", 1, int(not is_whole))
    case = Xml.SubElement(bots, "testcase", classname="bots", name="all came and played")
    if not is_whole:
        Xml.SubElement(case, "failure", message=in_numbers(reports, expected))
    for report in reports:
        name = f"{report.dialect} {printable(report.checkup.name)}"
        suite = _suite(root, name, len(report.rows), report.count(Verdict.WRONG), report.count(Verdict.NEVER))
        for row in report.rows:
            _case(suite, name, row)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def _suite(root: Xml.Element, name: str, tests: int, failures: int, skipped: int = 0) -> Xml.Element:
    counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": skipped}
    return Xml.SubElement(root, "testsuite", {"name": name, **{key: str(counts[key]) for key in counts}})


def _case(suite: Xml.Element, name: str, row: Row) -> None:
    case = Xml.SubElement(suite, "testcase", classname=name, name=f"{row.rule.clause} {row.rule.duty}")
    match row.verdict:
        case Verdict.WRONG:
            failure = Xml.SubElement(case, "failure", message=printable(row.faults[0].seen))
            failure.text = "\n".join(_explained(row))
        case Verdict.NEVER:
            Xml.SubElement(case, "skipped", message="the bot never got to this")
        case Verdict.REMARK:
            Xml.SubElement(case, "system-out").text = "\n".join(_explained(row))
        case Verdict.RIGHT:
            pass
