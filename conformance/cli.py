"""The command line of the runner: which transcripts to play, against which server, and how to report.

Exit status: 0 if everything passed; 1 if something failed or a clause has no transcript; 2 if the command
line is invalid (one line on stderr says why).
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from conformance.arguments import Parser, UsageError, file, seconds, write
from conformance.clauses import Coverage, coverage, protocols_folder
from conformance.dialects import found
from conformance.exports import as_json, as_junit
from conformance.launch import COMMAND
from conformance.library import choose, load
from conformance.placeholders import USUAL_CLOCK
from conformance.report import Report, coverage_section, listing, readable
from conformance.run import Settings, run_all
from conformance.steps import Broken, Transcript
from conformance.targets import Address, parse_target

_USAGE = """\
python -m conformance [TARGET...] [ID...] [options]

Play transcripts against a server and say, clause by clause, whether it does what PROTOCOL.md says.

  TARGET   DIALECT=HOST:PORT, such as droidcon=HOST:PORT, or nac4=ws://HOST:PORT/path;
           without any, the gateway is started here
  ID       nac4/win, or nac4 for all of a folder; without any, all, and the clause check"""

_PATIENCE = "how long anything expected may take (5)"
_CLOCK = "what a target gives a player for a game (42)"
_DELAY = "how long to say nothing behind a handshake with a target (0)"


@dataclass(frozen=True, slots=True)
class Places:
    """Where the runner finds transcripts, protocol documents and the gateway; tests use other places."""

    transcripts: Path = Path(__file__).parent / "transcripts"
    protocols: Path | None = None
    command: Sequence[str] = COMMAND


def main(argv: Sequence[str], places: Places | None = None) -> int:
    """Run the command line; return the exit status."""
    try:
        return _main(argv, places or Places(protocols=protocols_folder()))
    except UsageError as error:
        print(f"conformance: {error} (--help tells more)", file=sys.stderr)
        return 2


def _main(argv: Sequence[str], places: Places) -> int:
    options = _parse(argv)
    wanted = [word for word in options.words if "=" not in word]
    for fault in found().faults:
        print(f"conformance: {fault}", file=sys.stderr)
    everything = load(places.transcripts)
    for folder in found().folders.values():
        everything += load(folder.transcripts)
    try:
        targets = _targets([word for word in options.words if "=" in word])
        chosen = choose(everything, wanted)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if options.list:
        print(listing(chosen), end="")
        return 1 if any(isinstance(transcript, Broken) for transcript in chosen) else 0
    if options.check:
        return _check(everything, places)
    if not chosen:
        raise UsageError(f"there are no transcripts in {places.transcripts}")
    run = trio.run(run_all, chosen, _settings(options, targets, places))
    checked = None if wanted else _coverage(everything, places)
    report = Report(tuple(run.results), tuple(run.troubles), checked)
    print(readable(report), end="")
    write(options.json, as_json(report))
    write(options.junit, as_junit(report))
    return 0 if report.good else 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser(prog="conformance", usage=_USAGE, add_help=True, allow_abbrev=False)
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="list the transcripts chosen, play none")
    parser.add_argument("--check", action="store_true", help="only check that every clause has a transcript")
    parser.add_argument("--patience", type=seconds, default=5.0, metavar="SECONDS", help=_PATIENCE)
    parser.add_argument("--clock", type=seconds, metavar="SECONDS", help=_CLOCK)
    parser.add_argument("--delay", type=seconds, metavar="SECONDS", help=_DELAY)
    parser.add_argument("--junit", type=file, metavar="FILE", help="write a JUnit XML report as well")
    parser.add_argument("--json", type=file, metavar="FILE", help="write a JSON report as well")
    return parser.parse_intermixed_args(argv)


def _settings(options: argparse.Namespace, targets: dict[str, Address], places: Places) -> Settings:
    if not targets and (options.clock or options.delay):
        raise UsageError("--clock and --delay are of a target, and there is none")
    clock = options.clock or USUAL_CLOCK
    return Settings(targets, options.patience, places.command, clock, options.delay or 0.0)


def _targets(words: Sequence[str]) -> dict[str, Address]:
    targets: dict[str, Address] = {}
    for word in words:
        dialect, address = parse_target(word)
        if dialect in targets:
            raise ValueError(f"two targets for {dialect}")
        targets[dialect] = address
    return targets


def _coverage(everything: Sequence[Transcript | Broken], places: Places) -> Coverage:
    plugins = {name: each.protocol for name, each in found().folders.items() if each.protocol.is_file()}
    return coverage(places.protocols, (t for t in everything if isinstance(t, Transcript)), plugins)


def _check(everything: Sequence[Transcript | Broken], places: Places) -> int:
    checked = _coverage(everything, places)
    broken = [f"{t.path}:{t.number}: {t.message}" for t in everything if isinstance(t, Broken)]
    sections = [*broken, *coverage_section(checked)]
    print("\n\n".join(sections) if sections else f"all {len(checked.clauses)} clauses have a transcript")
    return 1 if sections else 0
