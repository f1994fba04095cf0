"""Policies for PettingZoo's ``connect_four_v3``, whose package is not needed.

A policy is a function, or an object with one of several methods. It takes an observation and the mask of the
columns that can be played, and returns a column. A class is called for each game. Knows the observation, what
a policy's parameters may be called, and `Env`, which stands in for the environment. A policy cannot be
stopped. The name of the file must come from the user's command line, never from the network.
"""

import inspect
from collections.abc import Callable
from random import choice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gateway.engines import UnknownEngine
from gateway.engines.external import after, follows
from gateway.engines.files import call, named, parameters_of, plays, require
from gateway.game.board import COLUMNS, ROWS, Board

METHODS = ("choose_action", "select_action", "determine_action", "get_action", "act", "predict", "policy")
"""The methods that choose a column, in the order in which they are looked for."""
MASKS = ("action_mask", "action_masks", "mask")
"""The parameters for the mask. A policy without one of them gets it with the observation, in a dictionary."""
AGENTS = ("player_0", "player_1")


def policy_in(text: str) -> "Policy":
    """Return the policy of FILE:NAME. Raises UnknownEngine."""
    found = named("pettingzoo", text)
    is_maker = inspect.isclass(found)
    if is_maker:
        require(found, _offers(Board()))
    if not plays(found, *METHODS):
        raise UnknownEngine(
            f"pettingzoo:{text} has none of the methods {', '.join(METHODS)}, and is no function"
        )
    return Policy(found, is_maker=is_maker)


class Policy:
    """An engine that asks a policy."""

    def __init__(self, found: Any, *, is_maker: bool) -> None:
        """Set the policy; with `is_maker`, the class that is called for each game."""
        self._found = found
        self._is_maker = is_maker
        self._policy: Any = found
        self._left: Board | None = None
        """The board after the latest move; None if there is none, or if it was illegal."""

    def __call__(self, board: Board, _budget: float) -> Any:
        """Return the policy's answer. Raises any exception of the policy."""
        offers = _offers(board)
        if self._is_maker and (self._left is None or not follows(self._left, board)):
            self._policy = call(self._found, offers["env"], offers)
        function = _function(self._policy)
        both = {"observation": planes(board), "action_mask": mask(board)}
        seen = Planes.of(both) if set(MASKS) & set(parameters_of(function)) else both
        offers |= {"observation": seen, "obs": seen, **dict.fromkeys(MASKS, both["action_mask"])}
        chosen = call(function, seen, offers)
        if isinstance(chosen, tuple):  # stable-baselines3 also returns the state of a recurrent policy
            chosen = chosen[0]
        if isinstance(chosen, np.ndarray) and chosen.size == 1:
            chosen = chosen.item()
        self._left = after(board, chosen)
        return chosen


class Planes(np.ndarray[Any, np.dtype[np.int8]]):
    """An observation that can also be asked for ``["observation"]`` and ``["action_mask"]``.

    Some policies take the mask as an argument of its own, and have it in the observation all the same.
    """

    parts: dict[str, NDArray[np.int8]]

    @classmethod
    def of(cls, parts: dict[str, NDArray[np.int8]]) -> "Planes":
        """Return the observation of its parts."""
        made = parts["observation"].view(cls)
        made.parts = parts
        return made

    def __getitem__(self, key: Any) -> Any:
        return self.parts[key] if isinstance(key, str) else super().__getitem__(key)


def planes(board: Board) -> NDArray[np.int8]:
    """Return the observation: rows, the top row first, columns, and two planes, the mover's first."""
    made = np.zeros((ROWS, COLUMNS, 2), dtype=np.int8)
    for column, row, side in board.placed():
        made[ROWS - 1 - row, column, int(side != board.turn)] = 1
    return made


def mask(board: Board) -> NDArray[np.int8]:
    """Return 1 for each column that has room, and 0 for the others."""
    return np.array([board.has_room(column) for column in range(COLUMNS)], dtype=np.int8)


def _function(policy: Any) -> Callable[..., Any]:
    """Return the method of a policy that chooses a column; the policy itself if it has none."""
    found: Callable[..., Any] = next(
        (getattr(policy, each) for each in METHODS if callable(getattr(policy, each, None))), policy
    )
    return found


def _offers(board: Board) -> dict[str, Any]:
    """Return what a policy, or its class, may ask for besides the observation, by the names of parameters."""
    agent, env = AGENTS[board.turn], Env(board)
    return {
        "env": env,
        **dict.fromkeys(("agent", "player", "player_name", "name"), agent),
        "action_space": env.action_space(agent),
        "reward": 0.0,
        **dict.fromkeys(("termination", "terminated", "truncation", "truncated", "done"), False),
        "info": {},
    }


class Space:
    """The columns."""

    n = COLUMNS

    def sample(self, mask: Any = None) -> int:
        """Return a random column of those that the mask allows."""
        return choice([column for column in range(COLUMNS) if mask is None or mask[column]])

    def contains(self, column: Any) -> bool:
        """Whether it is a column."""
        return column in range(COLUMNS)


class Env:
    """The environment before a move, for policies that ask it for the observation or a random column."""

    def __init__(self, board: Board) -> None:
        self.possible_agents = self.agents = list(AGENTS)
        self._board = board
        self.agent_selection = AGENTS[board.turn]

    def action_space(self, agent: str) -> Space:
        """Return the columns."""
        return Space()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees. Only the one to move may play."""
        if agent == self.agent_selection:
            return {"observation": planes(self._board), "action_mask": mask(self._board)}
        return {
            "observation": planes(self._board)[..., ::-1],
            "action_mask": np.zeros(COLUMNS, dtype=np.int8),
        }

    def last(self) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Return the observation of the agent to move, and that the game goes on."""
        return self.observe(self.agent_selection), 0.0, False, False, {}
