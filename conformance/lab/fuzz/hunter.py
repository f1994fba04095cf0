"""A process in which atheris looks for bytes that take new paths through a reader.

Each line of stdin says what to do, in JSON, and each line of stdout what came of it. The inputs that took new
paths are left in a folder, and with them those that took longest. Of faults the first one of each place in
the code is kept, and the hunt goes on.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from heapq import heappushpop
from io import StringIO
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NoReturn

import atheris

from conformance.lab.jobs import first_cause

if TYPE_CHECKING:
    from conformance.lab.fuzz.targets import Target

WATCHED = ("adapters", "gateway", "edn_format", "h11", "trio_websocket", "wsproto")
"""Packages whose paths are watched."""
STUCK = 20
"""Seconds for one input after which atheris ends the process."""
_LEFT = ("crash-", "timeout-", "oom-")
"""How files begin that atheris leaves when an input ends the process."""
_SLOWEST = 16
_MOST_FAULTS = 10


class Hunt:
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
        """The first input for each fault."""

    def try_(self, data: bytes) -> None:
        """Try an input. The last one ends the process."""
        began = thread_time()
        try:
            self._try(data)
        except Exception as error:  # the very thing that is looked for
            self._note(error, data)
        spent = thread_time() - began
        if spent > self._slowest[0][0]:
            heappushpop(self._slowest, (spent, data))
        self._tried += 1
        if self._tried == self._inputs:
            self._end()

    def _note(self, error: Exception, data: bytes) -> None:
        if len(self.faults) < _MOST_FAULTS:
            self.faults.setdefault(where(error), data)

    def _end(self) -> None:
        for number, (_, data) in enumerate(self._slowest):
            (self._folder / f"slow-{self._inputs}-{number}").write_bytes(data)
        faults = {what: data.hex() for what, data in self.faults.items()}
        found = {"tried": self._tried, "seconds": perf_counter() - self._began, "faults": faults}
        print(json.dumps(found), flush=True)
        os._exit(0)  # atheris never returns


def where(error: BaseException) -> str:
    """Return what an error is and where it was raised, in one line."""
    error = first_cause(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}"


def main() -> None:
    """Hunt for what each line of stdin says, one hunt after the other, each in a process of its own."""
    with redirect_stderr(StringIO()), atheris.instrument_imports(include=[*WATCHED]):
        from conformance.lab.fuzz.targets import TARGETS  # noqa: PLC0415  the import is what is watched
    for line in sys.stdin:
        words: Any = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _hunt(TARGETS[words["name"]], words)
        _, status = os.waitpid(pid, 0)
        if status != 0:
            print(json.dumps(ended(Path(words["folder"]), os.waitstatus_to_exitcode(status))), flush=True)


def _hunt(target: "Target", words: Any) -> NoReturn:
    folder, longest = Path(words["folder"]), words["longest"]
    folder.mkdir(exist_ok=True)
    for number, data in enumerate(target.seeds(words["is_long"])):
        (folder / f"seed-{longest}-{number}").write_bytes(data[:longest])
    options = {
        "max_len": longest,
        "len_control": 0 if words["is_long"] else 100,
        "seed": words["seed"],
        "timeout": STUCK,
        "rss_limit_mb": 0,
        "verbosity": 0,
        "artifact_prefix": f"{folder}/",
    }
    with _log(folder).open("wb") as log:
        os.dup2(log.fileno(), 2)
    hunt = Hunt(target.try_, words["inputs"], folder)
    atheris.Setup(["fuzz", *(f"-{name}={value}" for name, value in options.items()), str(folder)], hunt.try_)
    atheris.Fuzz()
    os._exit(1)  # it never returns


def ended(folder: Path, status: int) -> dict[str, object]:
    """Return what is told of a hunt that has ended too early: the input that did it is the fault."""
    inputs = [path.read_bytes() for path in folder.iterdir() if path.name.startswith(_LEFT)]
    said = "" if inputs else " ".join(_log(folder).read_text(errors="replace").split())[-300:]
    what = f"the process ended with status {status} {said}".rstrip()
    return {"tried": 0, "seconds": 0.0, "faults": {what: b"".join(inputs[:1]).hex()}}


def _log(folder: Path) -> Path:
    """Return where a hunt says what atheris says."""
    return folder.with_suffix(".log")


if __name__ == "__main__":
    main()
