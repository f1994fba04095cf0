"""The options about how games are played, and who of the house plays.

Knows the rules by name, and which dialects have them. Does not know what a rule does.
"""

import argparse
import os
from collections.abc import Sequence

from gateway.engines import EngineUnavailable
from gateway.engines.catalogue import engine_named
from gateway.game.commands import HOUSE_PLAYERS
from gateway.options.arguments import Description, listed, number


def add_options(group: argparse._ArgumentGroup, dialects: Sequence[Description]) -> None:
    """Add the rules of play; each help says which dialects' players a rule is about."""

    def who(rule: str) -> str:
        return listed([each.name for each in dialects if rule in each.rules], "or")

    time = number(float, 0.1, 1e6)
    for option, kind, default, metavar, text in (
        ("clock", time, 42.0, "SECONDS", "a player's time for a game, where a {} player takes part"),
        ("penalty", number(float, 0, 1e6), 1.0, "SECONDS", "what an illegal move costs a {} player"),
        ("idle", time, 300.0, "SECONDS", "a player's time for a move in games without a clock"),
        (
            "games_per_pair",
            number(int, 0, 10**9),
            10,
            "N",
            "games that two {} players get, each way round; 0: no limit",
        ),
        ("rejoin", time, 10.0, "SECONDS", "how long the seat of an {} player is kept between two games"),
        ("seed", int, None, "N", "seed of the lot that draws who moves first"),
    ):
        note = "" if default is None else f" ({default})"
        group.add_argument(
            f"--{option.replace('_', '-')}",
            type=kind,
            default=default,
            metavar=metavar,
            help=text.format(who(option)) + note,
        )
    for each in dialects:
        each.add_options(group)


def add_house_options(group: argparse._ArgumentGroup) -> None:
    """Add the options about the house players."""
    group.add_argument(
        "--house",
        type=_house_players,
        default=[],
        metavar="NAMES",
        help=f"who of {', '.join(sorted(HOUSE_PLAYERS))} plays those whom nobody else in the lobby plays",
    )
    group.add_argument(
        "--house-after",
        type=number(float, 0.1, 1e6),
        default=5.0,
        metavar="SECONDS",
        help="how long these wait for another opponent first (5.0)",
    )
    workers = max(1, (os.cpu_count() or 1) - 1)
    group.add_argument(
        "--house-workers",
        type=number(int, 1, 1024),
        default=workers,
        metavar="N",
        help=f"moves of a kind that all of them think about at once ({workers} on this machine)",
    )


def _house_players(text: str) -> list[str]:
    names = [name.strip().casefold() for name in text.split(",")]
    for name in names:
        if name not in HOUSE_PLAYERS:
            known = ", ".join(sorted(HOUSE_PLAYERS))
            raise argparse.ArgumentTypeError(f"{name!r} is none of {known}")
        try:
            engine_named(name)
        except EngineUnavailable as error:
            raise argparse.ArgumentTypeError(str(error)) from error
    return names
