"""`python -m conformance sprt`: how often is the test of `c4gateway match --sprt` wrong?

Plays matches that nobody plays, half of them between players who differ by `elo0`, half by `elo1`, until the
test is decided. It uses the gateway's code, as few commands of the laboratory do: what it measures is
arithmetic.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from time import process_time

from conformance.arguments import Parser, write_json
from conformance.lab.sprt_simulation import Kind, errors
from gateway.match.sprt import MODELS, Sprt

GOAL = 0.065
"""Wrong verdicts, as a share, at either hypothesis. The test itself promises a little less."""


def main(argv: Sequence[str]) -> int:
    """Run the command line; returns the exit status."""
    options = _parse(argv)
    report, met = [], True
    for model in options.models:
        test = Sprt(options.elo0, options.elo1, model=model)
        began = process_time()
        zero, one, pairs = errors(test, Kind(), options.times, options.seed)
        met &= max(zero, one) <= GOAL
        print(
            f"{model}: {options.times} at elo0={options.elo0:g}: {zero:.2%} wrong; as many at"
            f" elo1={options.elo1:g}: {one:.2%} (goal {GOAL:.1%}); {pairs:.0f} pairs each;"
            f" {process_time() - began:.0f} s of CPU; seed {options.seed}",
            flush=True,
        )
        report.append({"test": asdict(test), "errors": [zero, one], "pairs": pairs, "times": options.times})
    write_json(options.json, report)
    return 0 if met else 1


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser.of("sprt", __doc__)
    parser.count("--times", 2000, "tests at each of the two")
    parser.add_argument("--elo0", type=float, default=0.0, metavar="ELO", help="(%(default)g)")
    parser.add_argument("--elo1", type=float, default=40.0, metavar="ELO", help="(%(default)g)")
    parser.add_argument(
        "--models", nargs="+", choices=MODELS, default=MODELS[:1], help=f"some of {' '.join(MODELS)}"
    )
    parser.seed()
    parser.report()
    return parser.parse_args(argv)
