"""The process of the players: the bots of the benchmark, who also note when each move was sent."""

from dataclasses import asdict
from time import perf_counter, time_ns
from typing import Any

from conformance.lab.jobs import serve, settle_on
from conformance.lab.load import Load
from conformance.lab.plan import plan_of
from conformance.lab.timed import TimedBot


class NotingBot(TimedBot):
    """Notes its moves at its table, where only the two of a pair ever play."""

    def send(self, move: bytes) -> None:
        assert isinstance(self._group, NotingLoad)
        assert self.wish.table is not None
        super().send(move)
        self._group.sent.setdefault(self.wish.table, []).append(self.sent_at)


class NotingLoad(Load):
    """The bots of a plan, and when each table's moves were sent, in the order of play."""

    bot = NotingBot

    def __init__(self, *plan: Any) -> None:
        super().__init__(*plan)
        self.sent: dict[str, list[float]] = {}


def carry_out(words: Any) -> object:
    """Carry out a plan; the report comes with all moves and the time. Raises OutOfStep, NoSuchProcess."""
    plan = plan_of(words)
    settle_on(plan.cores, plan.pid)
    load = NotingLoad(plan, f"x{time_ns() % 10**9}")
    try:
        report = load.carry_out()
        return {"report": asdict(report), "sent": load.sent, "now": perf_counter()}
    finally:
        load.close()


if __name__ == "__main__":
    serve(carry_out)
