"""Games of matches, for tests of what is made of them."""

from game_records import DRAW, FOUR, game

from gateway.game.events import Reason
from gateway.match.journal import Played

LATE = "32"


def played(number: int, points: float = 1.0, pairing: int = 0, **about: object) -> Played:
    """Return a game between a and b, for which the first mover got so many points."""
    names = ("a", "b") if number % 2 == 0 else ("b", "a")
    winner = {1.0: 0, 0.5: None, 0.0: 1}[points]
    usual: dict[str, object] = {"moves": FOUR, "winner": winner}
    if points == 0.5:
        usual |= {"moves": DRAW, "reason": Reason.FULL}
    if points == 0.0:
        usual |= {"moves": "60101010"}
    return Played(pairing, number, 0, game(*names, **(usual | {"game": str(number + 1)} | about)))
