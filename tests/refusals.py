"""A refusal together with the client's message that it answers, as a translator gets it."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from adapters.client.contract import Translator
from gateway.game.events import Event, Objection, Refused

Told: TypeAlias = Event | tuple[Refused, object]


def refused(objections: Objection, message: object) -> tuple[Refused, object]:
    """Return the refusal of a message, or of a text that was none."""
    return Refused(objections, 1), message


def observed(translator: Translator[Any, Any], told: Told) -> Iterable[Any]:
    """Return what a client is told."""
    return translator.observe(*told) if isinstance(told, tuple) else translator.observe(told)
