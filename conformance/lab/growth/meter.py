"""CPU time of a process, finer than in ticks where the system tells it: an idle server uses so little."""

from pathlib import Path

from conformance.lab.meters import PROC, NoSuchProcess, used_by


def cpu_seconds(pid: int, proc: Path = PROC) -> float | None:
    """Return what all threads of a process have used; None where nothing is known. Raises NoSuchProcess."""
    used = used_by(pid, proc)
    if used is None:
        return None
    try:
        tasks = [(task / "schedstat").read_text() for task in (proc / str(pid) / "task").iterdir()]
    except FileNotFoundError:  # the system does not tell, or a thread has just ended
        return used.cpu
    except ProcessLookupError:
        raise NoSuchProcess(f"there is no process {pid}") from None
    return sum(int(text.split()[0]) for text in tasks) / 1e9 or used.cpu
