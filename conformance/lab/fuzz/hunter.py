"""A process in which atheris searches for inputs that take new paths through a reader.

It leaves the inputs that took new paths in a folder, together with the slowest ones. For each place in the
code it keeps the first input that failed there, and continues the search.
"""

import os
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from heapq import heappushpop
from io import StringIO
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, NoReturn

import atheris

from conformance.lab.workers import first_cause, reply

if TYPE_CHECKING:
    from conformance.lab.fuzz.readers import Target

WATCHED = ("adapters", "gateway", "edn_format", "h11", "trio_websocket", "wsproto")
"""Packages that atheris instruments."""
STUCK = 20
"""Seconds that an input may take. After that atheris ends the process."""
_LEFT = ("crash-", "timeout-", "oom-")
"""Prefixes of the files that atheris writes when an input ends the process."""
_SLOWEST = 16
_MOST_FAULTS = 10


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a hunt."""

    tried: int = 0
    seconds: float = 0.0
    faults: dict[str, bytes] = field(default_factory=dict)
    """The first input that caused each fault."""


def hunt(name: str, folder: Path, seed: int, sizes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Hunt once for each of `sizes`, and reply with the result of each hunt.

    A size is a pair: the number of inputs, and the length of the longest input.

    Each hunt runs in a separate process, which ends with the hunt.
    """
    with redirect_stderr(StringIO()), atheris.instrument_imports(include=[*WATCHED]):
        from conformance.lab.fuzz.readers import TARGETS  # noqa: PLC0415  atheris instruments imports
    for is_long, (inputs, longest) in enumerate(sizes):
        pid = os.fork()
        if pid == 0:
            _hunt(TARGETS[name], folder, seed, inputs, longest, is_long=bool(is_long))
        _, status = os.waitpid(pid, 0)
        if status != 0:
            reply(ended(folder, os.waitstatus_to_exitcode(status)))


def _hunt(target: "Target", folder: Path, seed: int, inputs: int, longest: int, *, is_long: bool) -> NoReturn:
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(target.seeds(is_long)):
        (folder / f"seed-{longest}-{number}").write_bytes(data[:longest])
    options = {
        "max_len": longest,
        "len_control": 0 if is_long else 100,
        "seed": seed,
        "timeout": STUCK,
        "rss_limit_mb": 0,
        "verbosity": 0,
        "artifact_prefix": f"{folder}/",
    }
    with _log(folder).open("wb") as log:
        os.dup2(log.fileno(), 2)
    tries = Tries(target.try_, inputs, folder)
    atheris.Setup(["fuzz", *(f"-{name}={value}" for name, value in options.items()), str(folder)], tries.try_)
    atheris.Fuzz()
    os._exit(1)  # Fuzz() never returns


class Tries:
    """The inputs that were tried, and their results."""

    def __init__(self, try_: Callable[[bytes], None], inputs: int, folder: Path) -> None:
        self._try = try_
        self._inputs = inputs
        self._folder = folder
        self._tried = 0
        self._began = perf_counter()
        self._slowest = [(0.0, b"")] * _SLOWEST
        """The slowest inputs, as a heap of (seconds, input)."""
        self.faults: dict[str, bytes] = {}

    def try_(self, data: bytes) -> None:
        """Try an input. After the last input, reply with the results and end the process."""
        began = thread_time()
        try:
            self._try(data)
        except Exception as error:  # any error is a fault
            if len(self.faults) < _MOST_FAULTS:
                self.faults.setdefault(where(error), data)
        spent = thread_time() - began
        if spent > self._slowest[0][0]:
            heappushpop(self._slowest, (spent, data))
        self._tried += 1
        if self._tried == self._inputs:
            for number, (_, slow) in enumerate(self._slowest):
                (self._folder / f"slow-{self._inputs}-{number}").write_bytes(slow)
            reply(Found(self._tried, perf_counter() - self._began, self.faults))
            os._exit(0)  # atheris never returns


def where(error: BaseException) -> str:
    """Return the type of an error and where it was raised, in one line."""
    error = first_cause(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def ended(folder: Path, status: int) -> Found:
    """Return the result of a hunt that ended too early. The input that ended it counts as the fault."""
    inputs = [path.read_bytes() for path in folder.iterdir() if path.name.startswith(_LEFT)]
    said = "" if inputs else " ".join(_log(folder).read_text(errors="replace").split())[-300:]
    what = f"the process ended with status {status} {said}".rstrip()
    return Found(faults={what: b"".join(inputs[:1])})


def _log(folder: Path) -> Path:
    """Return the path of the file for the output of atheris."""
    return folder.with_suffix(".log")
