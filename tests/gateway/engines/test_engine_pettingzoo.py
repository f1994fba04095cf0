"""Policies for PettingZoo: what they see, and how they are called.

The expected observations were recorded from connect_four_v3 of PettingZoo 1.27.0, which tests do not need.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from engine_positions import play

from gateway.engines.pettingzoo import Env, mask, planes, policy_in

Write = Callable[..., Path]


def test_observation_is_that_of_the_environment() -> None:
    seen = planes(play("006"))
    assert (seen.shape, seen.dtype) == ((6, 7, 2), np.int8)
    assert seen[:, :, 0].tolist() == [*[[0] * 7] * 4, [1, 0, 0, 0, 0, 0, 0], [0] * 7]
    assert seen[:, :, 1].tolist() == [*[[0] * 7] * 5, [1, 0, 0, 0, 0, 0, 1]]
    assert (mask(play("000000")).tolist(), mask(play("")).dtype) == ([0, 1, 1, 1, 1, 1, 1], np.int8)


SEEN = "return o['observation'][5, :, 0].argmax() + o['action_mask'].sum() - 7"
PARTS = "return o[5, :, 0].argmax() + {}.sum() - 7"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"def policy(o): {SEEN}", "policy"),
        (f"policy = lambda o: {SEEN.removeprefix('return ')}", "policy"),
        (f"def policy(o, agent): assert agent == 'player_0'; {SEEN}", "policy"),
        (f"def policy(o, env, agent): assert env.agent_selection == agent; {SEEN}", "policy"),
        (f"def policy(env, agent):\n    o = env.observe(agent); {SEEN}", "policy"),
        (f"def policy(env):\n    o = env.last()[0]; {SEEN}", "policy"),
        (f"def policy(o, action_mask): {PARTS.format('action_mask')}", "policy"),
        (f"def policy(o, mask): {PARTS.format('mask')}", "policy"),
        (f"def policy(o, action_mask): {SEEN}", "policy"),
        (
            f"class P:\n    def choose_action(self, o, reward=1, info=None, action_mask=None):\n"
            f"        assert (reward, info) == (0.0, {{}}); {PARTS.format('action_mask')}",
            "P",
        ),
        (
            f"class P:\n    def __init__(self, env, player_name=None):\n"
            f"        assert env.action_space(env.agents[0]).n == 7; self.name = player_name\n"
            f"    def act(self, o): assert self.name == 'player_0'; {SEEN}",
            "P",
        ),
        (
            f"class P:\n    def predict(self, o, state=None, deterministic=False, action_masks=None):\n"
            f"        return np.array([{PARTS.format('action_masks').removeprefix('return ')}]), state\n"
            f"import numpy as np\npolicy = P()",
            "policy",
        ),
        (f"class P:\n    def __call__(self, o): {SEEN}", "P"),
    ],
)
def test_policy_is_called_with_what_it_asks_for(text: str, name: str, write: Write) -> None:
    assert policy_in(f"{write(text)}:{name}")(play("30"), 1.0) == 3


def test_class_is_called_for_each_game(write: Write) -> None:
    text = "class P:\n    made = 0\n    def __init__(self): P.made += 1\n    def act(self, o): return P.made"
    policy = policy_in(f"{write(text)}:P")
    assert [policy(play(columns), 1.0) for columns in ("", "12", "", "6")] == [1, 1, 2, 3]


def test_environment_shows_the_other_agent_its_own_discs_first_and_no_move() -> None:
    env = Env(play("006"))
    assert env.agent_selection == "player_1"
    assert env.observe("player_0")["observation"][:, :, 0].tolist() == planes(play("006"))[:, :, 1].tolist()
    assert env.observe("player_0")["action_mask"].tolist() == [0] * 7
    space = env.action_space("player_1")
    assert {space.sample(np.array([0, 1, 0, 0, 0, 1, 0])) for _ in range(60)} == {1, 5}
    assert {space.sample() for _ in range(300)} == {*range(7)}
    assert (space.contains(6), space.contains(7)) == (True, False)
