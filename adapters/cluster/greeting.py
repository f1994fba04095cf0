"""How two nodes greet each other on a connection, before anything else is said.

Knows wires, and the order of hellos and proofs; what stands in them is in `gateway.cluster.hello`. The rule
it keeps: whoever has not proved that it knows the secret costs little. It chooses no word of the log, has
`GREETING_LIMIT` seconds, and keeps no node out: where too many have dialed and not greeted yet, the oldest of
them has to go.
"""

from collections.abc import Callable

import trio

from adapters.net.wire import Wire
from gateway.cluster.hello import LONGEST, Hello, HelloError, check, decode, is_proof, proof

GREETING_LIMIT = 2.0
"""Seconds for both hellos and proofs."""
MOST_STRANGERS = 32
"""Connections that may have dialed and have not greeted yet."""

NO_PROOF = "it does not know the secret of this cluster"


async def ask(wire: Wire, name: str, ours: Hello, secret: bytes) -> Hello:
    """Greet the node of that name, which was dialed; return its hello. Raises HelloError, TooSlowError."""
    with trio.fail_after(GREETING_LIMIT):
        await wire.send_all(ours.encode())
        theirs, shown = decode(await _line(wire)), await _line(wire)
        if not is_proof(shown, secret, theirs, ours):
            raise HelloError(NO_PROOF)
        await wire.send_all(proof(secret, ours, theirs))  # before the check: so both say what differs
    check(ours.identity, theirs.identity)
    if theirs.identity.node != name:
        raise HelloError(f"it is called {theirs.identity.node}")
    return theirs


class Strangers:
    """Those that have dialed and have not greeted yet."""

    def __init__(self) -> None:
        self._greeting: dict[trio.CancelScope, None] = {}
        """The oldest first."""

    async def answer(
        self, wire: Wire, answer_to: Callable[[Hello], Hello], secret: bytes
    ) -> tuple[Hello, Hello]:
        """Greet a node that has dialed; return its hello, and the answer to it.

        Raises HelloError, TooSlowError.
        """
        with trio.fail_after(GREETING_LIMIT) as scope:
            self._greeting[scope] = None
            if len(self._greeting) > MOST_STRANGERS:
                oldest = next(iter(self._greeting))
                del self._greeting[oldest]
                oldest.cancel()
            try:
                theirs = decode(await _line(wire))
                ours = answer_to(theirs)
                await wire.send_all(ours.encode() + proof(secret, ours, theirs))
                if not is_proof(await _line(wire), secret, theirs, ours):
                    raise HelloError(NO_PROOF)
            finally:
                self._greeting.pop(scope, None)
        check(ours.identity, theirs.identity)
        return theirs, ours


async def _line(wire: Wire) -> bytes:
    """Return what comes up to a newline, with it. Raises HelloError if that is too far."""
    data = b""
    while b"\n" not in data:
        if len(data) > LONGEST or not (more := await wire.receive_some()):
            raise HelloError("it ends within its hello, or that is too long")
        data += more
    line, newline, rest = data.partition(b"\n")
    if rest:
        wire.push_back(rest)
    return line + newline
