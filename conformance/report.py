"""The report for people: one line for each clause, then each failure with the exchange that led to it.

Works on results and clauses only. The last line is always the totals. The readers of a failure are authors of
bots and servers who do not know this code, so its words are those of the protocol.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.clauses import Coverage
from conformance.outcome import Failed, Passed, Result, Skipped
from conformance.steps import Broken, Clause, Transcript


@dataclass(frozen=True, slots=True)
class Report:
    """Everything to report about a run. `coverage` is None if only some transcripts were chosen."""

    results: tuple[Result, ...]
    troubles: tuple[str, ...]
    coverage: Coverage | None

    @property
    def good(self) -> bool:
        covered = self.coverage is None or self.coverage.complete
        return covered and not self.troubles and not self.count(Failed)

    def count(self, kind: type[Passed | Failed | Skipped]) -> int:
        return sum(isinstance(result.outcome, kind) for result in self.results)

    def by_clause(self) -> dict[Clause, list[Result]]:
        """Return the results for each clause, in order; an empty list if no transcript cites the clause."""
        found: dict[Clause, list[Result]] = {c: [] for c in (self.coverage.clauses if self.coverage else ())}
        for result in self.results:
            if isinstance(result.transcript, Transcript):
                for clause in result.transcript.clauses:
                    found.setdefault(clause, []).append(result)
        return dict(sorted(found.items(), key=lambda item: item[0].order))


def verdict(results: Sequence[Result]) -> str:
    """Return the verdict on a clause: a failure outweighs a pass, and a pass outweighs a skip."""
    outcomes = [result.outcome for result in results]
    if any(isinstance(outcome, Failed) for outcome in outcomes):
        return "FAILED"
    if any(isinstance(outcome, Passed) for outcome in outcomes):
        return "passed"
    reasons = dict.fromkeys(outcome.reason for outcome in outcomes if isinstance(outcome, Skipped))
    return f"skipped: {'; '.join(reasons)}" if reasons else "no transcript cites it"


def readable(report: Report) -> str:
    """Return the whole report as text. Its last line has the totals."""
    sections = [
        *_clause_sections(report),
        *_skipped_section(report.results),
        *("\n".join(_failure(result)) for result in report.results if isinstance(result.outcome, Failed)),
        *(f"TROUBLE: {trouble}" for trouble in report.troubles),
        *coverage_section(report.coverage),
        _sum(report),
    ]
    return "\n\n".join(sections) + "\n"


def coverage_section(coverage: Coverage | None) -> Iterator[str]:
    """Return the lines about problems that the clause check found; none if there are no problems."""
    if coverage is None:
        return
    if coverage.problems:
        yield "\n".join(("The clause check found:", *(f"  {problem}" for problem in coverage.problems)))
    if coverage.uncovered:
        count = len(coverage.uncovered)
        head = "1 clause without a transcript:" if count == 1 else f"{count} clauses without a transcript:"
        yield "\n".join((head, *(f"  {clause}" for clause in coverage.uncovered)))


def listing(transcripts: Iterable[Transcript | Broken]) -> str:
    """List the transcripts: id, source, required options, clauses and title."""
    blocks = []
    for transcript in transcripts:
        if isinstance(transcript, Broken):
            blocks.append(f"{transcript.id}\n    broken: line {transcript.number}: {transcript.message}")
            continue
        cited = ", ".join(str(clause) for clause in transcript.clauses)
        needs = f"; needs {' '.join(transcript.needs)}" if transcript.needs else ""
        blocks.append(f"{transcript.id}\n    {transcript.title}\n    {transcript.source}; {cited}{needs}")
    return "\n".join(blocks) + "\n" if blocks else ""


def where(path: Path) -> str:
    """Return a path as text, relative to the current folder if the path is inside it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def _clause_sections(report: Report) -> Iterator[str]:
    by_clause = report.by_clause()
    width = max((len(clause.number) for clause in by_clause), default=0)
    for dialect in dict.fromkeys(clause.dialect for clause in by_clause):
        lines = [dialect]
        for clause, results in by_clause.items():
            if clause.dialect == dialect:
                ids = f"  ({', '.join(result.id for result in results)})" if results else ""
                lines.append(f"  {clause.number:{width}}  {verdict(results)}{ids}")
        yield "\n".join(lines)


def _skipped_section(results: Iterable[Result]) -> Iterator[str]:
    """List the skipped transcripts. Their clauses may have been tested by other transcripts."""
    lines = [f"  {r.id}: {r.outcome.reason}" for r in results if isinstance(r.outcome, Skipped)]
    if lines:
        yield "\n".join(("Skipped:", *lines))


def _failure(result: Result) -> Iterator[str]:
    """Return the lines about one failed transcript."""
    failed, transcript = result.outcome, result.transcript
    assert isinstance(failed, Failed)
    place = f"{where(transcript.path)}:{failed.line}"
    if isinstance(transcript, Broken):
        yield f"FAILED {result.id}: not a transcript"
        yield f"  {place}: {failed.got}"
        return
    yield f"FAILED {result.id}: {transcript.title}"
    yield f"  at        {place}"
    yield f"  clauses   {', '.join(str(clause) for clause in transcript.clauses)} ({transcript.source})"
    yield f"  expected  {failed.expected}"
    yield f"  got       {failed.got}"
    if failed.why:
        yield f"  because   {failed.why}"
    yield "  the exchange so far, in seconds:"
    yield from (f"  {line}" for line in failed.exchange)


def _sum(report: Report) -> str:
    return f"{report.count(Passed)} passed, {report.count(Failed)} failed, {report.count(Skipped)} skipped"
