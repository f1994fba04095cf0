"""What a scenario is: parts that are measured several times, beside another server's if asked for."""

import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from conformance.arguments import Parser
from conformance.lab.report import UNKNOWN, Row, counted, medians
from conformance.lab.workers import LoadError, first_cause, say
from conformance.launch import COMMAND


@dataclass(frozen=True, slots=True)
class Part:
    """One thing to measure."""

    measure: Callable[[Namespace, Any], Awaitable[list[Row]]]
    """Gets the options and what the scenario has prepared. Raises LoadError, ServerError, wrapped."""
    times: int = 1
    """How often it is measured where the command line does not say; medians count."""


@asynccontextmanager
async def nothing(_: Namespace, command: Sequence[str]) -> AsyncIterator[Sequence[str]]:
    """Prepare nothing: the parts start servers of their own, by this command."""
    yield command


@dataclass(frozen=True, slots=True)
class Scenario:
    """Parts that have options in common."""

    text: str
    """What it measures, in a line."""
    parts: Mapping[str, Part]
    options: Callable[[Parser], None]
    """Adds its options to the command line."""
    prepared: Callable[[Namespace, Sequence[str]], AbstractAsyncContextManager[Any]] = nothing
    """Prepares what the parts get, by the command of a gateway, for as long as that one is measured."""
    wide: bool = False
    """Whether the table has a line for each part."""


async def measured(scenario: Scenario, options: Namespace) -> list[Row]:
    """Measure the parts that the options name, one after the other. Raises ServerError, wrapped.

    With a server beside ours both are measured in turns, in the one order and then in the other, because
    machines drift.
    """
    commands: list[Sequence[str]] = [COMMAND]
    if options.beside is not None:
        # Without -P the package in the current folder would be run.
        commands.append((options.beside, "-P", *COMMAND[1:]))
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        stages = [
            await stack.enter_async_context(scenario.prepared(options, command)) for command in commands
        ]
        for name in options.only:
            part = scenario.parts[name]
            runs: list[list[list[Row]]] = [[] for _ in stages]
            for turn in range(options.times or part.times):
                say(f"measuring {name} ...")
                for number in range(len(stages))[:: 1 if turn % 2 == 0 else -1]:
                    found = [counted(name, "could not be measured", UNKNOWN, 0)]
                    try:
                        found = await part.measure(options, stages[number])
                    except* LoadError as errors:
                        print(f"conformance: {first_cause(errors)}", file=sys.stderr)
                    runs[number].append(found)
            rows += medians(*runs)
    return rows
