"""The two kinds of processes that a measurement needs beside the server: bots, and floors.

Knows how they are started and what they print; does not know what is measured.
"""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from conformance.lab.bench.plan import Plan, Report, plan_as_json, report_from_json
from conformance.lab.house_load import LoadError
from conformance.targets import Address

WORKER = (sys.executable, "-m", "conformance.lab.bench.worker")
FLOOR = (sys.executable, "-m", "conformance.lab.bench.floors")
STARTING = 15.0
"""Seconds in which a floor has to print its port."""


async def played(plan: Plan) -> Report:
    """Have a process of bots carry out the plan. Raises LoadError."""
    done = await trio.run_process(
        WORKER, stdin=plan_as_json(plan).encode(), capture_stdout=True, capture_stderr=True, check=False
    )
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip()
        raise LoadError(f"the process of bots exited with status {done.returncode}:\n{words}")
    text = done.stdout.decode()
    if "error" in (told := json.loads(text)):
        raise LoadError(told["error"])
    return report_from_json(text)


@asynccontextmanager
async def echoing(transport: str) -> AsyncIterator[tuple[int, Address]]:
    """A floor's process and address, for as long as the block lasts. Raises LoadError."""
    process = await trio.lowlevel.open_process(
        [*FLOOR, transport], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        port = b""
        with trio.move_on_after(STARTING):
            async with process.stdout as stdout:
                async for data in stdout:
                    port += data
                    if port.endswith(b"\n"):
                        break
        if not port.strip().isdigit():
            raise LoadError(f"the {transport} floor did not start")
        yield process.pid, Address("127.0.0.1", int(port))
    finally:
        with trio.CancelScope(shield=True):
            process.kill()
            await process.wait()
