"""The report for machines, as JSON and as JUnit XML.

A clause without a transcript and a problem with a server count as failures here too, because a program may
read only this file.
"""

import json
import re
from collections.abc import Iterable
from xml.etree import ElementTree as Xml

from conformance.outcome import Failed, Outcome, Passed, Result, Skipped
from conformance.report import Report, verdict
from conformance.steps import Transcript

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]

# Characters that XML 1.0 cannot represent.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_json(report: Report) -> str:
    """Return the report as the text of a JSON object.

    Keys: good, passed, failed, skipped, transcripts, clauses, uncovered, problems, troubles.
    """
    coverage = report.coverage
    document: dict[str, Json] = {
        "good": report.good,
        "passed": report.count(Passed),
        "failed": report.count(Failed),
        "skipped": report.count(Skipped),
        "transcripts": [_transcript(result) for result in report.results],
        "clauses": [
            {
                "dialect": clause.dialect,
                "number": clause.number,
                "verdict": verdict(results),
                "transcripts": [result.id for result in results],
            }
            for clause, results in report.by_clause().items()
        ],
        "uncovered": [str(clause) for clause in coverage.uncovered] if coverage else None,
        "problems": list(coverage.problems) if coverage else None,
        "troubles": list(report.troubles),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def as_junit(report: Report) -> str:
    """Return the report as JUnit XML.

    There is a suite for each folder of transcripts, one for servers if there were problems with any, and one
    for the clause check if it ran.
    """
    root = Xml.Element("testsuites")
    for folder in dict.fromkeys(result.id.partition("/")[0] for result in report.results):
        results = [result for result in report.results if result.id.partition("/")[0] == folder]
        _suite(root, folder, [_case(result) for result in results])
    if report.troubles:
        _suite(root, "servers", [_failure_case("servers", "trouble", trouble) for trouble in report.troubles])
    if report.coverage is not None:
        uncovered = [str(clause) for clause in report.coverage.uncovered]
        cases = [_failure_case("clauses", name, f"no transcript cites {name}") for name in uncovered]
        cases += [_failure_case("clauses", "check", problem) for problem in report.coverage.problems]
        _suite(root, "clauses", cases or [Xml.Element("testcase", classname="clauses", name="check")])
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _transcript(result: Result) -> Json:
    transcript = result.transcript
    described: dict[str, Json] = {
        "id": result.id,
        "file": str(transcript.path),
        "seconds": round(result.seconds, 3),
    }
    if isinstance(transcript, Transcript):
        described["title"] = transcript.title
        described["source"] = transcript.source
        described["clauses"] = [str(clause) for clause in transcript.clauses]
        described["needs"] = list(transcript.needs)
    return described | _outcome(result.outcome)


def _outcome(outcome: Outcome) -> dict[str, Json]:
    match outcome:
        case Passed():
            return {"outcome": "passed"}
        case Skipped(reason):
            return {"outcome": "skipped", "reason": reason}
        case Failed(line, expected, got, why, exchange):
            told: dict[str, Json] = {"outcome": "failed", "line": line, "expected": expected, "got": got}
            return told | {"because": why, "exchange": list(exchange)}


def _case(result: Result) -> Xml.Element:
    folder, _, topic = result.id.partition("/")
    case = Xml.Element("testcase", classname=folder, name=topic, time=f"{result.seconds:.3f}")
    match result.outcome:
        case Passed():
            pass
        case Skipped(reason):
            Xml.SubElement(case, "skipped", message=_writable(reason))
        case Failed(line, expected, got, why, exchange):
            message = f"line {line}: expected: {expected}; got: {got}" + (f"; because: {why}" if why else "")
            failure = Xml.SubElement(case, "failure", message=_writable(message))
            failure.text = _writable("\n".join(exchange))
    return case


def _failure_case(suite: str, name: str, message: str) -> Xml.Element:
    case = Xml.Element("testcase", classname=suite, name=name)
    Xml.SubElement(case, "failure", message=_writable(message))
    return case


def _suite(root: Xml.Element, name: str, cases: Iterable[Xml.Element]) -> None:
    suite = Xml.SubElement(root, "testsuite", name=name)
    suite.extend(cases)
    for attribute, tag in (("tests", "."), ("failures", "./failure"), ("skipped", "./skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in suite)))


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\N{REPLACEMENT CHARACTER}", text)
