"""What a scenario is: parts, and what stands ready for all of them while they are measured."""

from argparse import Namespace
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from conformance.arguments import Parser
from conformance.lab.report import Row


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
    """Makes what the parts get, for one server's command, for as long as it is measured."""
    wide: bool = False
    """Whether the table has a line for each part."""
    check: Callable[[Namespace], None] = lambda _: None
    """Completes the options. Raises UsageError."""
