"""What a server says in whole games, in every dialect and encoding, and what a bot answers."""

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.boards import arena_cells, arena_moves, nac4_board
from conformance.dialects.frames import frame
from conformance.dialects.script import DRAWN, LEFT, Game


@dataclass(frozen=True)
class Told:
    """A message, and the column that it makes a bot answer."""

    message: bytes
    column: str | None = None


def entered(kind: str) -> list[Told]:
    """Return what a player hears before its first game."""
    words = {"droidcon": [b"SUCCESS"] * 2, "nac4": [b"connected hello me\r\n"]}
    words["rpi"] = [b"CONNECT:ACK", b"READY:ACK"]
    words["tutorial"] = [b'{"type": "init", "join": "t", "watch": "w"}']
    return [Told(word) for word in words.get(kind, [])]


def game(kind: str, played: Game = DRAWN, *, opens: bool) -> list[Told]:
    """Return all that one of the two players hears of a game."""
    match kind:
        case "droidcon":
            return list(_droidcon(played, opens=opens))
        case "nac4":
            return list(_nac4(played, opens=opens))
        case "rpi":
            return list(_rpi(played, opens=opens))
        case "tutorial":
            return list(_tutorial(played, opens=opens))
        case _:
            return list(_arena(played, opens=opens, edn=kind == "arena-edn"))


def move(kind: str, column: str) -> bytes:
    """Return the bytes of a bot's move."""
    text = {
        "droidcon": f"PUT {column}\n",
        "nac4": f"playmove {column}\r\n",
        "rpi": f"PLAY:{column}",
        "tutorial": f'{{"type": "play", "column": {column}}}',
        "arena-edn": f'{{:type "move", :move {column}}}',
    }.get(kind, f'{{"type":"move","move":{column}}}')
    return text.encode() if kind == "droidcon" else frame(text.encode())


def _moves(played: Game, *, opens: bool) -> Iterator[tuple[str, str | None, bool]]:
    """Yield the moves so far, the next one, and whether it is the bot's; None where that leaves instead."""
    columns = [*played.moves, *([None] if played.reason == LEFT else [])]
    for discs, column in enumerate(columns):
        yield played.moves[:discs], column, opens == (discs % 2 == 0)


def _droidcon(played: Game, *, opens: bool) -> Iterator[Told]:
    yield Told(b"NEW_GAME")
    for _, column, is_own in _moves(played, opens=opens):
        if is_own:
            yield Told(b"YOUR_MOVE", column)
        elif column is not None:
            yield Told(f"PUT {column}".encode())
    own = played.winner if opens else (3 - played.winner) % 3
    yield Told((b"DRAW", b"YOU_WON", b"YOU_LOST")[own])


def _nac4(played: Game, *, opens: bool) -> Iterator[Told]:
    color = "R" if opens else "Y"
    yield Told(b"newgame me you\r\n" if opens else b"newgame you me\r\n")
    for before, column, is_own in _moves(played, opens=opens):
        if is_own:
            yield Told(f"genmove {nac4_board(before)} {color} Play{color} 42.0\r\n".encode(), column)
    status = ("Tie", "WinR", "WinY")[played.winner]
    battle = "Disconnected" if played.reason == LEFT else "Ok"
    yield Told(f"endgame {nac4_board(played.moves)} {color} {status} {battle}\r\n".encode())


def _rpi(played: Game, *, opens: bool) -> Iterator[Told]:
    *moves, last = _moves(played, opens=opens)
    columns = [(None, opens), *((column, not is_own) for _, column, is_own in [*moves, last])]
    for (told, is_told), (_, column, is_own) in zip(columns, [*moves, last], strict=False):
        words = f"GAME:START:{opens:d}" if told is None else f"OPPONENT:{told}"
        if told is None or is_told:
            yield Told(words.encode(), column if is_own else None)
    own = played.winner if opens else (3 - played.winner) % 3
    unwon = b"GAME:TERMINATED" if played.reason == LEFT else b"GAME:DRAW"
    yield Told((unwon, b"GAME:WINS", b"GAME:LOSS")[own])
    yield Told(b"TOURNAMENT:END")
    yield Told(b"READY:ACK")


def _tutorial(played: Game, *, opens: bool) -> Iterator[Told]:
    colors, moves = ("red", "yellow"), played.moves
    init = '{"type": "init", "join": "t", "watch": "w"%s}'
    yield Told((init % f', "player": "{colors[not opens]}"').encode(), moves[0] if opens else None)
    for discs, column in enumerate(moves, 1):
        row = moves[: discs - 1].count(column)
        said = f'"player": "{colors[discs % 2 == 0]}", "column": {column}, "row": {row}'
        is_own = discs < len(moves) and opens == (discs % 2 == 0)
        yield Told(f'{{"type": "play", {said}}}'.encode(), moves[discs] if is_own else None)
    if played.winner:
        yield Told(b'{"type": "win", "player": "%s"}' % colors[played.winner - 1].encode())
    yield Told((init % "").encode())


def _arena(played: Game, *, opens: bool, edn: bool) -> Iterator[Told]:
    for discs in range(len(played.moves) + 1):
        columns, is_over = played.moves[:discs], discs == len(played.moves)
        is_ended = is_over and played.reason != LEFT
        fields = {
            "type": '"state"',
            "turn": "0" if is_ended else str(1 + discs % 2),
            "you": "1" if opens else "2",
            "moves": arena_moves(columns),
            "state": arena_cells(columns),
            **({"last-move": columns[-1]} if columns else {}),
            **({"winner": str(played.winner)} if is_ended else {}),
        }
        is_own = not is_over and opens == (discs % 2 == 0)
        yield Told(_map(fields, edn=edn), played.moves[discs] if is_own else None)
    yield Told(_map({"type": '"disconnected"' if played.reason == LEFT else '"end"'}, edn=edn))


def _map(fields: dict[str, str], *, edn: bool) -> bytes:
    if edn:
        return ("{" + ", ".join(f":{key} {value}" for key, value in fields.items()) + "}").encode()
    return ("{" + ",".join(f'"{key}":{value}' for key, value in fields.items()) + "}").encode()
