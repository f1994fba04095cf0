"""`python -m conformance measure`: what does something cost, here, and beside another checkout?

Measures the parts of a scenario one after the other, each several times, with both servers in turns where
there are two, because machines drift.
"""

import shutil
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import trio

from conformance.arguments import Parser, choice, count
from conformance.lab import meters
from conformance.lab.measure.beside import HOUSE, PAGE, READERS
from conformance.lab.measure.moves import BENCH, CLUSTER, GROWTH, STORE
from conformance.lab.measure.scenario import Part, Scenario
from conformance.lab.report import Row, counted, finish, medians
from conformance.lab.workers import LoadError, first_cause, say
from conformance.launch import COMMAND

SCENARIOS = {
    "bench": BENCH,
    "store": STORE,
    "web": READERS,
    "page": PAGE,
    "growth": GROWTH,
    "house": HOUSE,
    "cluster": CLUSTER,
}


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    name = choice("measure", argv, {name: scenario.text for name, scenario in SCENARIOS.items()})
    if name is None:
        return 0
    scenario = SCENARIOS[name]
    parser = Parser.of(f"measure {name}", scenario.text)
    scenario.options(parser)
    parser.only(scenario.parts)
    parser.add_argument("--times", type=count, metavar="N", help="how often each part is measured")
    parser.add_argument(
        "--beside", type=_python, metavar="PYTHON", help="the Python of another environment with a gateway"
    )
    parser.report()
    options = parser.parse_args(argv[1:])
    scenario.check(options)
    if not meters.has_proc():
        print("There is no /proc here: the server's CPU and memory are not known.")
    rows = trio.run(measured, scenario, options)
    if scenario.wide and options.beside is None:
        return finish(f"measure {name}", [], options, wide=rows)
    return finish(f"measure {name}", rows, options)


async def measured(scenario: Scenario, options: Namespace) -> list[Row]:
    """Measure the parts that the options name. Raises ServerError, wrapped."""
    commands: list[Sequence[str]] = [COMMAND]
    if options.beside is not None:
        # Without -P the package in the current folder would be run.
        commands.append((options.beside, "-P", *COMMAND[1:]))
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        stages = [
            await stack.enter_async_context(scenario.prepared(options, command)) for command in commands
        ]
        for name in options.only:
            part = scenario.parts[name]
            runs: list[list[list[Row]]] = [[] for _ in stages]
            for turn in range(options.times or part.times):
                say(f"measuring {name} ...")
                for number in range(len(stages))[:: 1 if turn % 2 == 0 else -1]:
                    runs[number].append(await _rows(name, part, options, stages[number]))
            rows += medians(*runs)
    return rows


async def _rows(name: str, part: Part, options: Namespace, stage: Any) -> list[Row]:
    """Return what a part came to: one row that misses its goal where it came to nothing."""
    rows = [counted(name, "could not be measured", None, 0)]
    try:
        rows = await part.measure(options, stage)
    except* LoadError as errors:
        print(f"conformance: {first_cause(errors)}", file=sys.stderr)
    return rows


def _python(text: str) -> str:
    program = shutil.which(text)
    if program is None:
        raise ArgumentTypeError(f"{text!r} is no program")
    return program
