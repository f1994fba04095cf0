"""A bot with one deliberate mistake, for the tests of `c4gateway check`: DIALECT ADDRESS MISTAKE.

Without a mistake it plays any column with room, on one connection as long as that lasts. It comes back when
the connection breaks.
"""

import json
import random
import socket
import sys
import time

import websocket as websocket_client

MISTAKES = {
    "droidcon": {
        "no newline": "1.2",
        "one message a packet": "1.4 takes",
        "drops what follows a result": "1.4 takes",
        "no message in two packets": "1.4 puts",
        "an odd command": "2.10",
        "join first": "3.2",
        "waits for nobody": "3.1 waits",
        "join again": "3.4",
        "dies of a draw": "4.5",
        "keeps its board": "4.6",
        "does not hang up": "4.7",
        "dies when left": "4.8 copes with YOU_WON",
        "wants a result": "4.8 copes with NEW_GAME",
        "dies of an illegal move": "5.2 copes with an illegal PUT",
        "a column with a point": "5.4",
        "column 7": "5.5",
        "columns from 1": "5.5",
        "full columns": "5.6",
        "moves twice": "5.7",
        "is impatient": "6.1",
        "does not come back": "8.3",
    },
    "i32cfsp": {
        "columns from 0": "4.5 plays columns 1",
        "no newline": "1.2",
        "one line a packet": "1.4 takes",
        "no line in two packets": "1.4 puts",
        "an odd line": "1.6",
        "asks twice": "1.7 says",
        "waits for nobody": "3.4",
        "full columns": "4.5 plays columns that",
        "pops": "4.6",
        "moves twice": "4.7",
        "does not hang up": "5.1",
        "dies when left": "5.5 copes with WINNER_RED when the opponent leaves",
        "is impatient": "6.1",
    },
    "nac4": {
        "no pong": "1.1",
        "waits for nobody": "4.1",
        "two messages a frame": "1.5",
        "a name with a dot": "3.2",
        "full columns": "5.3 plays columns that",
        "column 7": "5.3 plays columns 0",
        "moves twice": "5.5",
        "dies of a draw": "5.8",
        "knows no Disconnected": "5.10",
        "knows no Timeout": "6.5",
        "does not come back": "8.3",
    },
    "arena": {
        "not JSON": "2.7",
        "waits for nobody": "3.1 waits",
        "a column in quotes": "3.3",
        "never moves second": "4.4",
        "winner 0 is none": "4.7",
        "waits for end": "4.8",
        "an id of a number": "5.3",
        "moves twice": "5.10",
        "full columns": "5.11 plays columns that",
        "needs a last-move": "8.1",
        "does not come back": "10.3",
    },
}
"""By dialect, and by what stands on the command line: the rule that it breaks, as its row begins."""


class Died(Exception):
    """The bot does not cope with something."""


class Board:
    """How many discs are in each column."""

    def __init__(self, mistake: str) -> None:
        self.mistake = mistake
        self.heights = [0] * 7
        self.is_on = False
        self.dropped = 7

    def column(self) -> int:
        if self.mistake == "full columns":
            return random.choice((0, 1))
        free = [column for column in range(7) if self.heights[column] < 6]
        if not free:
            time.sleep(600)
        if self.mistake == "column 7":
            free.append(7)
        return random.choice(free)


def droidcon(address: str, mistake: str) -> None:
    host, port = address.split(":")
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if mistake == "is impatient":
        sock.settimeout(0.2)

    def say(text: str) -> None:
        sock.sendall((text if mistake == "no newline" and text[0] == "P" else text + "\n").encode())

    if mistake == "join first":
        say("JOIN lobby")
    say("NAME robot")
    say("JOIN lobby")
    board, rest = Board(mistake), b""
    while True:
        if mistake == "waits for nobody":
            sock.settimeout(None if board.is_on else 0.5)
        data = sock.recv(4096)
        if not data:
            time.sleep(600 if mistake == "does not hang up" else 0)
            return
        if mistake == "one message a packet":
            line, end, _ = (rest + data).partition(b"\n")
            lines, rest = ([line], b"") if end else ([], line)
        elif mistake == "no message in two packets":
            lines, rest = data.split(b"\n"), b""
        else:
            *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if line == b"Error CHANNEL_IS_FULL":
                return
            hear_line(line.decode(), board, say)
            if mistake == "drops what follows a result" and line in (b"YOU_WON", b"YOU_LOST", b"DRAW"):
                rest = b""
                break


def hear_line(line, board, say) -> None:
    mistake = board.mistake
    if line == "NEW_GAME":
        if board.is_on and mistake == "wants a result":
            raise Died
        board.is_on = True
        if mistake != "keeps its board":
            board.heights = [0] * 7
        if mistake in ("an odd command", "join again"):
            say("HELLO" if mistake == "an odd command" else "JOIN lobby")
    elif line.startswith("PUT "):
        if mistake == "dies of an illegal move" or int(line[4:]) < 7:
            board.heights[int(line[4:])] += 1
    elif line == "YOUR_MOVE":
        column = board.column()
        if column < 7:
            board.heights[column] += 1
        column += mistake == "columns from 1"
        for _ in range(2 if mistake == "moves twice" else 1):
            say(f"PUT {column}.0" if mistake == "a column with a point" else f"PUT {column}")
    elif (mistake, line) == ("dies of a draw", "DRAW"):
        raise Died
    elif line in ("YOU_WON", "YOU_LOST", "DRAW"):
        board.is_on = mistake == "waits for nobody"
    if (mistake, line) == ("dies when left", "YOU_WON") and sum(board.heights) < 7:
        raise Died


def i32cfsp(address: str, mistake: str) -> None:
    """Play one game."""
    host, port = address.split(":")
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.settimeout({"is impatient": 0.4, "waits for nobody": 0.5}.get(mistake))

    def say(text: str) -> None:
        sock.sendall((text if mistake == "no newline" and text[0] == "D" else f"{text}\r\n").encode())

    say("I32CFSP_HELLO robot")
    board, rest = Board(mistake), b""
    while True:
        data = sock.recv(4096)
        if not data:
            time.sleep(600 if mistake == "does not hang up" else 0)
            sock.close()
            return
        if mistake == "one line a packet":
            line, end, _ = (rest + data).partition(b"\r\n")
            lines, rest = ([line], b"") if end else ([], line)
        elif mistake == "no line in two packets":
            lines, rest = data.split(b"\r\n"), b""
        else:
            *lines, rest = (rest + data).split(b"\r\n")
        for line in lines:
            if line == b"READY" and mistake == "waits for nobody":
                sock.settimeout(None)
            hear_i32cfsp(line.decode(), board, say)


def hear_i32cfsp(line, board, say) -> None:
    mistake = board.mistake
    if line.startswith("WELCOME "):
        say("AI_GAME 7 6")
    elif line == "READY":
        if not board.is_on and mistake in ("an odd line", "asks twice"):
            say("HELP" if mistake == "an odd line" else "AI_GAME 7 6")
        board.is_on = True
        board.dropped = board.column()
        if mistake == "pops" and sum(board.heights) > 4:
            board.mistake = ""
            say(f"POP {board.dropped + 1}")
            return
        for _ in range(2 if mistake == "moves twice" else 1):
            say(f"DROP {board.dropped + (mistake != 'columns from 0')}")
    elif line == "OKAY" and board.dropped < 7:
        board.heights[board.dropped] += 1
    elif line.startswith("DROP "):
        board.heights[int(line[5:]) - 1] += 1
    elif line == "WINNER_RED" and mistake == "dies when left" and sum(board.heights) < 6:
        raise Died


def nac4(address: str, mistake: str) -> None:
    ws = websocket_client.create_connection(address)
    ws.send("connect robot.1\r\n" if mistake == "a name with a dot" else "connect robot\r\n")
    while True:
        if mistake == "no pong":
            frame = ws.recv_frame()
            text = frame.data.decode() if frame.opcode == 1 else ""
            if frame.opcode == 8:
                return
        else:
            text = ws.recv()
        words = text.split()
        ws.settimeout(0.5 if (mistake, words[:1]) == ("waits for nobody", ["connected"]) else None)
        if words[:1] == ["genmove"]:
            board = Board(mistake)
            board.heights = [6 - words[1][column::7].count(".") for column in range(7)]
            move = f"playmove {board.column()}\r\n"
            ws.send(move * 2 if mistake == "two messages a frame" else move)
            if mistake == "moves twice":
                ws.send(move)
        elif words[:1] == ["endgame"]:
            known = {
                "dies of a draw": "Tie",
                "knows no Disconnected": "Disconnected",
                "knows no Timeout": "Timeout",
            }
            if known.get(mistake) in words:
                raise Died
        elif not words and mistake != "no pong":
            return


def arena(address: str, mistake: str) -> None:
    ws = websocket_client.create_connection(address)

    def start() -> None:
        ws.send(json.dumps({"type": "start", "id": 7 if mistake == "an id of a number" else "robot"}))

    ends = {"waits for end": ["end"], "winner 0 is none": ["disconnected"]}.get(
        mistake, ["end", "disconnected"]
    )
    start()
    ws.settimeout(0.5 if mistake == "waits for nobody" else None)
    while text := ws.recv():
        ws.settimeout(None)
        told = json.loads(text)
        if told.get("reason") == "Table is full":
            return
        if told["type"] == "state":
            if mistake == "needs a last-move" and told.get("winner") is not None:
                told["last-move"] + 1
            if mistake == "winner 0 is none" and told.get("winner"):
                start()
            if told["turn"] == told["you"] and not (mistake == "never moves second" and told["you"] == 2):
                board = Board(mistake)
                board.heights = [6 - told["state"][6 * column :][:6].count(0) for column in range(7)]
                move(ws, board.column(), mistake)
        elif told["type"] in ends:
            start()


def move(ws: websocket_client.WebSocket, column: int, mistake: str) -> None:
    if mistake == "not JSON":
        ws.send(f"{{'type': 'move', 'move': {column}}}")
        return
    said = json.dumps({"type": "move", "move": str(column) if mistake == "a column in quotes" else column})
    for _ in range(2 if mistake == "moves twice" else 1):
        ws.send(said)


if __name__ == "__main__":
    _, dialect, address, mistake = sys.argv
    is_over = False
    while not is_over:
        try:
            {"droidcon": droidcon, "i32cfsp": i32cfsp, "nac4": nac4, "arena": arena}[dialect](
                address, mistake
            )
            is_over = dialect != "i32cfsp"  # which has one game on a connection
        except ConnectionRefusedError:
            is_over = True
        except (ConnectionResetError, websocket_client.WebSocketConnectionClosedException):
            is_over = mistake == "does not come back"
