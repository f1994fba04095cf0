"""`python -m conformance measure`: measure a scenario, optionally in comparison with another checkout."""

import shutil
from argparse import ArgumentTypeError
from collections.abc import Sequence
from inspect import getdoc

import trio

from conformance.arguments import Parser, choice, count
from conformance.lab.measure import beside, moves
from conformance.lab.measure.scenario import measured
from conformance.lab.report import finish

SCENARIOS = moves.SCENARIOS | beside.SCENARIOS


def main(argv: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    name = choice("measure", argv, {name: scenario.text for name, scenario in SCENARIOS.items()})
    if name is None:
        return 0
    scenario = SCENARIOS[name]
    docs = {
        part: getdoc(getattr(each.measure, "func", each.measure)) for part, each in scenario.parts.items()
    }
    parser = Parser.of(f"measure {name}", scenario.text, *dict.fromkeys(docs.values()))
    scenario.options(parser)
    parser.only(docs)
    parser.add_argument("--times", type=count, metavar="N", help="how often each part is measured")
    text = "the Python of another environment with a gateway, which is measured beside this one"
    parser.add_argument("--beside", type=_python, metavar="PYTHON", help=text)
    parser.report()
    options = parser.parse_args(argv[1:])
    rows = trio.run(measured, scenario, options)
    if scenario.wide and options.beside is None:
        return finish(f"measure {name}", [], options, wide=rows)
    return finish(f"measure {name}", rows, options)


def _python(text: str) -> str:
    program = shutil.which(text)
    if program is None:
        raise ArgumentTypeError(f"{text!r} is no program")
    return program
