"""What a scribe does: it writes to the database what it is told to, until nobody can tell it anything more.

The program of a process of its own. Knows the pipes, on which it hears and answers, and its sink. Logs
nothing: what goes wrong the server hears of, and knows how to log it.
"""

import gc
import logging
import os
import pickle
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import BinaryIO

from gateway.processes import give_way
from gateway.store.database import open_again
from gateway.store.errors import StoreError
from gateway.store.records import Item
from gateway.store.scribe import Answer, Orders, Question
from gateway.store.sink import DatabaseSink

NICENESS = 10
"""By so much play comes first where a processor is shared, of which 10 % are left then for storing games.
With 5 these are stored 2 ms sooner, and one move in a hundred is late, by 0.4 ms."""


def main() -> None:
    """Serve whoever started this process."""
    give_way(NICENESS)
    logging.disable()
    gc.freeze()
    questions, answers = sys.stdin.buffer, int(sys.argv[1])
    orders = _heard(questions)
    if isinstance(orders, Orders):
        sink = DatabaseSink(open_again(orders.place), orders.keep_wire, orders.boot)
        with suppress(BrokenPipeError):  # then nobody is there any more
            while isinstance(question := _heard(questions), Question):
                items = [item for _ in range(question.items) if isinstance(item := _heard(questions), Item)]
                if len(items) < question.items:
                    break
                os.write(answers, pickle.dumps(answer_to(question, items, sink)))
        sink.database.close()


def answer_to(question: Question, items: Sequence[Item], sink: DatabaseSink) -> Answer:
    """Do what is asked for, and return what came of it."""
    try:
        match question.method:
            case "write":
                sink.write(items)
            case "tidy":
                return Answer(more=sink.tidy())
            case "reconnect":
                sink.reconnect()
    except (StoreError, OSError, MemoryError) as error:
        return Answer(error=str(error) or repr(error), is_passing=True)
    except Exception as error:  # the clerk finds out which game is at fault
        return Answer(error=str(error) or repr(error))
    return Answer()


def _heard(questions: BinaryIO) -> object:
    """Return what was said next; None where whoever spoke is gone, perhaps in the middle of a word."""
    try:
        return pickle.load(questions)
    except (EOFError, pickle.UnpicklingError):
        return None


if __name__ == "__main__":
    main()
