"""The process of many players who come to several nodes at once, and are timed until all of them play.

`python -m conformance.lab.cluster.crowd` takes from stdin where the nodes are and how many come. In its game
a player makes no move, so that nobody is paired twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, product
from time import perf_counter
from typing import Any, TypeAlias

from conformance.dialects.script import Place, Wish
from conformance.lab.book import Book, Turn
from conformance.lab.bots import PLAIN, Bot, script_of
from conformance.lab.group import Group
from conformance.lab.jobs import from_words, serve, settle_on
from conformance.lab.short_games import COMING_IN, couple
from conformance.targets import Address

ANYONE, WISH = "anyone", "wish"
KINDS = {ANYONE: "take anyone", WISH: "wish for one on another node"}
"""For whom the players come."""
_WISHING = "arena"
"""A dialect in which a player can wish for another by name."""

Nodes: TypeAlias = Sequence[Mapping[str, Address]]


class Comer(Bot):
    """A player that waits for its game, and does nothing there."""

    def __init__(self, book: Book, wish: Wish, address: Address, playing: set[str]) -> None:
        super().__init__(book, wish, address)
        self._playing = playing

    def take(self, turn: Turn, before: Place) -> None:
        if turn.begun:
            self._playing.add(self.wish.name)


def main() -> None:
    """Let them come."""
    serve(come)


def come(words: Any) -> float:
    """Return how many seconds pass until all play, who come in pairs. Raises OutOfStep."""
    crowd, playing = Group[Comer](), set[str]()
    settle_on(words["cores"], *words["pids"])
    nodes = [from_words(each) for each in words["nodes"]]
    books = {dialect: Book(dialect, script_of(kind)) for dialect, kind in PLAIN.items()}
    begun = perf_counter()
    for dialect, wish, node in _comers(words["kind"], len(nodes), words["pairs"]):
        crowd.admit(Comer(books[dialect], wish, nodes[node][dialect], playing))
    crowd.run(lambda: len(playing) == 2 * words["pairs"], COMING_IN)
    seconds = perf_counter() - begun
    crowd.close()
    return seconds


def _comers(kind: str, nodes: int, pairs: int) -> Iterator[tuple[str, Wish, int]]:
    """Yield who comes: a dialect, a wish, and the number of a node. The two of a pair differ in that."""
    places = cycle(product(PLAIN, range(nodes)))
    for number in range(pairs):
        for wish in couple(f"p{number}", at_table=False):
            dialect, node = next(places)
            yield (_WISHING, wish, node) if kind == WISH else (dialect, Wish(wish.name), node)


if __name__ == "__main__":
    main()
