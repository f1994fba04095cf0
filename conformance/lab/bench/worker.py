"""The process in which the bots play: a plan comes in by stdin, a report goes out by stdout, as JSON.

It is kept as lean as Python allows, on a core of its own where there are two, so that the server is what
limits. What goes wrong with the server is said in the report.
"""

import gc
import json
import os
import sys
from time import time_ns

from conformance.lab import meters
from conformance.lab.bench.load import Load
from conformance.lab.bench.plan import Plan, plan_from_json, report_as_json
from conformance.lab.bench.script import OutOfStep


def main() -> None:
    """Carry out the plan."""
    plan = plan_from_json(sys.stdin.read())
    gc.freeze()
    gc.disable()  # what is kept are numbers
    try:
        print(_carried_out(plan))
    except (OutOfStep, meters.NoSuchProcess) as error:
        print(json.dumps({"error": str(error)}))


def _carried_out(plan: Plan) -> str:
    if plan.cores is not None:
        server, own = plan.cores
        os.sched_setaffinity(0, {own})
        if plan.pid is not None:
            meters.pin(plan.pid, server)
    load = Load(plan, f"x{time_ns() % 10**9}")
    try:
        return report_as_json(load.run())
    finally:
        load.close()


if __name__ == "__main__":
    main()
