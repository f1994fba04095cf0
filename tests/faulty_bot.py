"""A Droidcon bot that plays at random, with one fault: HOST PORT FAULT."""

import os
import random
import socket
import sys
from contextlib import suppress
from typing import TextIO


def main(host: str, port: str, fault: str) -> None:
    if fault == "start":
        raise SystemExit("I do not start")
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rw") as lines:
        lines.write("NAME bot\nJOIN lobby\n")
        lines.flush()
        heights, games = [0] * 7, 0
        for line in lines:
            word, *rest = line.split()
            games += word == "NEW_GAME"
            if word == "NEW_GAME":
                heights = [0] * 7
            elif word == "PUT":
                heights[int(rest[0])] += 1
            elif word == "YOUR_MOVE":
                answer(lines, heights, fault)
            elif word in ("YOU_WON", "YOU_LOST", "DRAW") and fault == "one game":
                return
            if word == "NEW_GAME" and games == 12 and fault == "tells":
                tell()


def tell() -> None:
    """Tell whoever waits at the pipe `ready`; go on at once if nobody does."""
    with suppress(OSError):
        os.close(os.open("ready", os.O_WRONLY | os.O_NONBLOCK))


def answer(lines: TextIO, heights: list[int], fault: str) -> None:
    column = random.choice([each for each in range(7) if heights[each] < 6])
    if sum(heights) >= 4 and fault == "crash":
        raise ValueError("out of ideas")
    heights[column] += 1
    lines.write(f"PUT {column}\n")
    lines.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
