"""Scenarios: parts that are measured several times, optionally in comparison with another server."""

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
    """One part of a scenario."""

    measure: Callable[[Namespace, Any], Awaitable[list[Row]]]
    """Measures the part, given the options and what `prepared` yields.

    Raises LoadError or ServerError, which may be in an ExceptionGroup.
    """
    times: int = 1
    """How often the part is measured by default. The medians count."""


@asynccontextmanager
async def nothing(_: Namespace, command: Sequence[str]) -> AsyncIterator[Sequence[str]]:
    """Yield only the command, with which the parts start their own servers."""
    yield command


@dataclass(frozen=True, slots=True)
class Scenario:
    """Parts with common options."""

    text: str
    """What the scenario measures, in one line."""
    parts: Mapping[str, Part]
    options: Callable[[Parser], None]
    """Adds the scenario's options to the command line."""
    prepared: Callable[[Namespace, Sequence[str]], AbstractAsyncContextManager[Any]] = nothing
    """Prepares an object that the parts use, given the command of a gateway. The object exists while the
    parts are measured."""
    wide: bool = False
    """Whether the table has one line for each part, with a column for each figure."""


async def measured(scenario: Scenario, options: Namespace) -> list[Row]:
    """Measure the parts that the options name, one after the other.

    With a second server the two take turns. Every other turn has the reverse order, because the speed of a
    machine drifts. Raises ServerError, which may be in an ExceptionGroup.
    """
    commands: list[Sequence[str]] = [COMMAND]
    if options.beside is not None:
        # -P keeps Python from running the package in the current folder.
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
