"""Legal bots with habits of their own, and some that crash: DIALECT ADDRESS HABIT.

They are written as bots of their dialects are, with plain sockets or with websocket-client. They play any
column with room, and go on for ever.
"""

import json
import os
import random
import signal
import socket
import sys
import time
from collections.abc import Callable

import websocket as websocket_client

SLOW = 2.0
"""Seconds."""


def act(habit: str, moment: str) -> None:
    """Do at a moment what the habit is."""
    if habit == moment:
        time.sleep(SLOW)
    if (habit, moment) == ("dies of an error", "moves again"):
        raise LookupError("out of ideas")
    if (habit, moment) == ("dies of a signal", "moves again"):
        os.kill(os.getpid(), signal.SIGKILL)
    if (habit, moment) == ("dies after a game", "starts"):
        raise LookupError("where is the next one?")


def any_of(room: Callable[[int], int], habit: str, *, is_first: bool) -> int:
    act(habit, "moves first" if is_first else "moves again")
    act(habit, "moves")
    return random.choice([column for column in range(7) if room(column)])


def droidcon(address: str, habit: str) -> None:
    host, port = address.split(":")
    while True:
        connection = socket.create_connection((host, int(port)))
        act(habit, "enters")
        connection.sendall(b"NAME robot\nJOIN lobby\n")
        lines = (
            connection.makefile()
        )  # only now the file of the connection before is closed, and that with it
        heights, is_first = [0] * 7, True
        for line in lines:
            word, *rest = line.split()
            if word == "NEW_GAME":
                heights, is_first = [0] * 7, True
            elif word == "PUT" and int(rest[0]) < 7:
                heights[int(rest[0])] += 1
            elif word == "YOUR_MOVE":
                column = any_of(lambda column: heights[column] < 6, habit, is_first=is_first)  # noqa: B023
                heights[column], is_first = heights[column] + 1, False
                connection.sendall(b"PUT %d\n" % column)
            elif word in ("YOU_WON", "YOU_LOST", "DRAW"):
                act(habit, "starts")
            elif word == "Error":
                break
        if habit == "is nc":  # which goes on until its own input ends
            time.sleep(600)
        act(habit, "hangs up")
        connection.close()


def nac4(address: str, habit: str) -> None:
    while True:
        ws = websocket_client.create_connection(address)
        act(habit, "enters")
        ws.send("connect robot\r\n")
        while words := ws.recv().split():
            if words[0] == "genmove":
                cells = words[1]
                is_first = cells.count(".") > 40
                column = any_of(lambda column: cells[column::7].count("."), habit, is_first=is_first)  # noqa: B023
                ws.send(f"playmove {column}\r\n")
            elif words[0] == "endgame":
                act(habit, "starts")
        act(habit, "hangs up")
        ws.close()  # which does nothing behind a close frame: the collector closes the socket


def arena(address: str, habit: str) -> None:
    while True:
        ws = websocket_client.create_connection(address)
        act(habit, "enters")
        ws.send(start := json.dumps({"type": "start", "id": "robot"}))
        while text := ws.recv():
            told = json.loads(text)
            if told["type"] == "state" and told["turn"] == told["you"]:
                tops = told["state"][5::6]
                is_first = len(told["moves"]) < 2
                column = any_of(lambda column: not tops[column], habit, is_first=is_first)  # noqa: B023
                ws.send(json.dumps({"type": "move", "move": column}))
            elif told["type"] in ("end", "disconnected"):
                act(habit, "starts")
                ws.send(start)
            elif told.get("reason") == "Table is full":
                break
        act(habit, "hangs up")
        ws.close()


if __name__ == "__main__":
    {"droidcon": droidcon, "nac4": nac4, "arena": arena}[sys.argv[1]](*sys.argv[2:4])
