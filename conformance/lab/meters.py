"""What a process has used, read from /proc, and which core it may run on. Linux only."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


class NoSuchProcess(Exception):
    """The process that was to be measured is not there."""


def has_proc(proc: Path = PROC) -> bool:
    """Return whether processes can be measured here."""
    return (proc / "self" / "stat").is_file()


@dataclass(frozen=True, slots=True)
class Used:
    """What a process has used since it started. In seconds."""

    cpu: float
    """User and system time of all its threads and child processes, in ticks of mostly 10 ms."""
    waited: float
    """How long its first thread was ready to run and had no core; 0 where the kernel does not say."""
    first: float
    """The CPU time of its first thread."""

    def since(self, earlier: "Used") -> "Used":
        """Return what was used since then."""
        return Used(self.cpu - earlier.cpu, self.waited - earlier.waited, self.first - earlier.first)


def used_by(pid: int, proc: Path = PROC) -> Used:
    """Return what a process has used. Raises NoSuchProcess."""
    process = proc / str(pid)
    cpu = _ticks(_read(process / "stat"))
    for child in children_of(pid, proc):
        with suppress(NoSuchProcess):  # it has just ended
            cpu += used_by(child, proc).cpu
    first, waited = _scheduled(process / "task" / str(pid))
    return Used(cpu, waited, first)


def cpu_seconds(pid: int, proc: Path = PROC) -> float:
    """Return the CPU time of the threads that a process has now, to the nanosecond where the kernel says.

    Raises NoSuchProcess.
    """
    _read(proc / str(pid) / "stat")
    return sum(_scheduled(task)[0] for task in (proc / str(pid) / "task").iterdir())


def children_of(pid: int, proc: Path = PROC) -> list[int]:
    """Return the child processes of a process; none where the kernel does not say."""
    found: list[int] = []
    for task in (proc / str(pid) / "task").glob("*/children"):
        with suppress(OSError):  # a thread that has just ended
            found += map(int, task.read_text().split())
    return found


def runs(pid: int, words: bytes, proc: Path = PROC) -> bool:
    """Return whether a process has these words in its command line."""
    try:
        return words in (proc / str(pid) / "cmdline").read_bytes()
    except OSError:  # it has just ended
        return False


def memory_of(pid: int) -> int:
    """Return the bytes of memory that a process and all its descendants hold. Raises NoSuchProcess."""
    total = rss_bytes(pid)
    for child in children_of(pid):
        with suppress(NoSuchProcess):  # it has just ended
            total += memory_of(child)
    return total


def rss_bytes(pid: int, proc: Path = PROC) -> int:
    """Return the bytes of memory that a process holds. Raises NoSuchProcess."""
    for line in _read(proc / str(pid) / "status").splitlines():
        name, _, value = line.partition(":")
        if name == "VmRSS":
            return int(value.split()[0]) * 1024
    raise NoSuchProcess(f"process {pid} has ended")


def stolen(proc: Path = PROC) -> float:
    """Return for how many seconds the host of a virtual machine took the cores, on average over the cores."""
    fields = _read(proc / "stat").split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def two_cores() -> tuple[int, int] | None:
    """Return two cores to use, one for a server and one for its load; None where there is but one."""
    cores = sorted(os.sched_getaffinity(0))
    return (cores[0], cores[1]) if len(cores) > 1 else None


def pin(pid: int, *cores: int, proc: Path = PROC) -> None:
    """Keep the threads of a process, and all that it starts later, on some cores. Raises NoSuchProcess."""
    try:
        for task in (proc / str(pid) / "task").iterdir():
            os.sched_setaffinity(int(task.name), cores)
    except (FileNotFoundError, ProcessLookupError):
        raise NoSuchProcess(f"there is no process {pid}") from None


def _ticks(stat: str) -> float:
    """Return the user and system time that a `stat` file gives."""
    # The name of the program stands in brackets and may have blanks and brackets in it.
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _scheduled(task: Path) -> tuple[float, float]:
    """Return for how long a thread has run, and has waited for a core; both 0 for one that has ended."""
    with suppress(OSError):
        ran, waited, _ = (task / "schedstat").read_text().split()
        return int(ran) / 1e9, int(waited) / 1e9
    with suppress(NoSuchProcess):  # a kernel without these statistics
        return _ticks(_read(task / "stat")), 0.0
    return 0.0, 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        if path.parent.name.isdigit():
            raise NoSuchProcess(f"there is no process {path.parent.name}") from None
        raise NoSuchProcess(f"there is no {path}: processes are measured on Linux alone") from None
