"""The process in which players connect, wait and play, and what it counts.

`python -m conformance.lab.growth.job` takes one of three jobs from stdin: how long many need to come in, what
a short game costs beside those who wait, and what memory the server holds after so and so many games.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, product
from time import perf_counter
from typing import Any

from conformance.lab import meters
from conformance.lab.crowd.crowd import Crowd
from conformance.lab.crowd.job import say, serve, settle_on
from conformance.lab.crowd.speech import Wish
from conformance.lab.growth.meter import cpu_seconds
from conformance.lab.growth.players import Address, Player, Tally, couple

COMING_IN = 60.0
"""Seconds that all together may take to come in."""
WARM_UP = 0.5
"""Seconds at most."""
_WAVE = 200
"""So many fit into the queue of those who are not accepted yet."""
_LONG = 86_400.0
_DIALECTS = ("droidcon", "nac4", "arena")

Maker = Callable[[str, Wish], Player]


def main() -> None:
    """Do one job."""
    jobs: dict[str, Callable[[Any], object]] = {"connect": connect, "wait": wait, "last": last}
    serve(lambda words: jobs[words["job"]](words))


def connect(words: Any) -> object:
    """Return how many seconds pass until so many pairs, who all come at once, are in their games."""
    crowd, tally = Crowd(), Tally()
    settle_on(words["cores"], words["pid"])
    players = list(_pairs(_maker(words, tally), words["pairs"]))
    begun = perf_counter()
    for player in players:
        crowd.admit(player)
    crowd.run(lambda: tally.begun >= len(players), COMING_IN)
    seconds = perf_counter() - begun
    crowd.close()
    return seconds


def wait(words: Any) -> object:
    """Return the server's CPU time for an idle second and for a game, beside so many who wait for nobody."""
    crowd, tally = Crowd(), Tally()
    settle_on(words["cores"], words["pid"])
    _let_wait(crowd, tally, _maker(words, tally), words["waiting"])
    found = {"idle": _cost_of_idling(crowd, words), "wish": None, "lobby": None}
    for kind, players in (("wish", _by_wish), ("lobby", _in_lobby)):
        tally = Tally()
        found[kind] = _cost_of_games(crowd, tally, list(players(_maker(words, tally), words["pairs"])), words)
    crowd.close()
    return found


def last(words: Any) -> object:
    """Return, after each of so many games, the memory that the server holds and how long that took."""
    crowd, tally = Crowd(), Tally()
    settle_on(words["cores"], words["pid"])

    def come_back(player: Player) -> None:
        crowd.dismiss(player)
        crowd.admit(player.next_life())

    maker, pairs = _maker(words, tally), words["pairs"]
    at_tables = _at_tables(_maker(words, tally, come_back), pairs)
    for player in chain(at_tables, _by_wish(maker, pairs), _in_lobby(maker, pairs)):
        crowd.admit(player)
    begun = perf_counter()
    return [_point(crowd, tally, games, words["pid"], begun) for games in words["points"]]


def _point(crowd: Crowd, tally: Tally, games: int, pid: int, begun: float) -> object:
    crowd.run(lambda: tally.ended >= 2 * games, _LONG)
    seconds, memory = perf_counter() - begun, meters.rss_bytes(pid) or 0
    say(f"  {tally.ended // 2} games in {seconds:.0f} s: {memory / 2**20:.1f} MB")
    return {"games": tally.ended // 2, "seconds": seconds, "rss": memory}


def _maker(words: Any, tally: Tally, come_back: Callable[[Player], None] | None = None) -> Maker:
    """Return what makes a player of some dialect with some wish."""
    addresses: dict[str, Address] = {kind: tuple(address) for kind, address in words["addresses"].items()}
    return lambda kind, wish: Player(addresses[kind], kind, wish, tally, come_back)


def _pairs(maker: Maker, number: int) -> Iterator[Player]:
    """Yield so many pairs at tables, every dialect meeting every other."""
    meetings = list(product(_DIALECTS, _DIALECTS))
    for at in range(number):
        yield from map(maker, meetings[at % len(meetings)], couple(f"c{at}", at_table=True))


def _let_wait(crowd: Crowd, tally: Tally, maker: Maker, number: int) -> None:
    """Let so many in, some at a time, who wish for somebody who never comes."""
    for at in range(number):
        crowd.admit(maker("droidcon", Wish(f"w{at}", against=f"absent{at}")))
        if at % _WAVE == 0:
            crowd.run(partial(_has_entered, tally, at + 1), COMING_IN)
    crowd.run(partial(_has_entered, tally, number), COMING_IN)


def _has_entered(tally: Tally, number: int) -> bool:
    return tally.entered >= number


def _at_tables(maker: Maker, pairs: int) -> Iterator[Player]:
    for at in range(pairs):
        yield from map(partial(maker, "droidcon"), couple(f"d{at}", at_table=True))


def _by_wish(maker: Maker, pairs: int) -> Iterator[Player]:
    for at in range(pairs):
        yield from map(partial(maker, "arena"), couple(f"a{at}", at_table=False))


def _in_lobby(maker: Maker, pairs: int) -> Iterator[Player]:
    for at in range(2 * pairs):
        yield maker("nac4", Wish(f"n{at}"))


def _cost_of_idling(crowd: Crowd, words: Any) -> float | None:
    """Return the share of a core that the server uses while nobody says anything."""
    crowd.run_for(min(WARM_UP, words["seconds"]))
    before, begun = cpu_seconds(words["pid"]), perf_counter()
    crowd.run_for(words["seconds"])
    after = cpu_seconds(words["pid"])
    return None if before is None or after is None else (after - before) / (perf_counter() - begun)


def _cost_of_games(crowd: Crowd, tally: Tally, players: Sequence[Player], words: Any) -> float | None:
    """Return the server's CPU seconds for a game of these players, who then go."""
    for player in players:
        crowd.admit(player)
    crowd.run(lambda: tally.ended >= len(players), COMING_IN)
    crowd.run_for(min(WARM_UP, words["seconds"]))
    before, ended = cpu_seconds(words["pid"]), tally.ended
    crowd.run_for(words["seconds"])
    after, games = cpu_seconds(words["pid"]), (tally.ended - ended) / 2
    crowd.close(players)
    return None if before is None or after is None else (after - before) / games


if __name__ == "__main__":
    main()
