"""A process in which atheris looks for bytes that take new paths through a reader.

The inputs that took new paths are left in a folder, and with them those that took longest. Of faults the
first one of each place in the code is kept, and the hunt goes on.
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
"""Packages whose paths are watched."""
STUCK = 20
"""Seconds for one input after which atheris ends the process."""
_LEFT = ("crash-", "timeout-", "oom-")
"""How files begin that atheris leaves when an input ends the process."""
_SLOWEST = 16
_MOST_FAULTS = 10


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a hunt."""

    tried: int = 0
    seconds: float = 0.0
    faults: dict[str, bytes] = field(default_factory=dict)
    """The first input for each fault."""


def hunt(name: str, folder: Path, seed: int, sizes: tuple[tuple[int, int], tuple[int, int]]) -> None:
    """Hunt for inputs of each size: how many to try, and their longest; reply what was found each time.

    Each hunt is in a process of its own, which ends with it.
    """
    with redirect_stderr(StringIO()), atheris.instrument_imports(include=[*WATCHED]):
        from conformance.lab.fuzz.readers import TARGETS  # noqa: PLC0415  the import is what is watched
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
    os._exit(1)  # it never returns


class Tries:
    """How many inputs were tried, and what came of them."""

    def __init__(self, try_: Callable[[bytes], None], inputs: int, folder: Path) -> None:
        self._try = try_
        self._inputs = inputs
        self._folder = folder
        self._tried = 0
        self._began = perf_counter()
        self._slowest = [(0.0, b"")] * _SLOWEST
        """A heap."""
        self.faults: dict[str, bytes] = {}

    def try_(self, data: bytes) -> None:
        """Try an input. The last one ends the process."""
        began = thread_time()
        try:
            self._try(data)
        except Exception as error:  # the very thing that is looked for
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
    """Return what an error is and where it was raised, in one line."""
    error = first_cause(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def ended(folder: Path, status: int) -> Found:
    """Return what is told of a hunt that has ended too early: the input that did it is the fault."""
    inputs = [path.read_bytes() for path in folder.iterdir() if path.name.startswith(_LEFT)]
    said = "" if inputs else " ".join(_log(folder).read_text(errors="replace").split())[-300:]
    what = f"the process ended with status {status} {said}".rstrip()
    return Found(faults={what: b"".join(inputs[:1])})


def _log(folder: Path) -> Path:
    """Return where a hunt says what atheris says."""
    return folder.with_suffix(".log")
