"""Functions that carry out the operator's acts in the process that plays, and that disconnect banned players.

Knows the hub, the names and the bans; does not know tokens or the audit log, which the web process handles.
Files are read and written in threads. The event loop handles only a few players per turn.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

import trio

from gateway.access.accounts import Accounts
from gateway.access.bans import Bans, ban, bans_of, target, unban
from gateway.game.commands import AtTable, Leave, folded
from gateway.hub.hub import Hub
from gateway.hub.seats import PlayingElsewhere, Seat, Seated, Waiting
from gateway.options.terminal import in_one_line
from gateway.runtime.files import InLoop
from gateway.server.acts import (
    DIRECTOR,
    DRAIN,
    TOURNAMENT,
    WHO,
    NotDoneError,
    Notice,
    Outcome,
    Parameters,
    announcement,
    seconds_of,
)

AT_ONCE = 5
"""The number of players that are checked per turn of the event loop when banned players are disconnected."""
LOOKED_AT = 20
"""The number of players that are described per turn of the event loop."""
MOST = 500
"""The maximum number of players in one answer."""
MOST_CHARACTERS = 50_000
"""The maximum number of characters of names and tables in one answer."""
LATER = 1e-3
"""The minimum difference between the times of two notices, in seconds."""

logger = logging.getLogger(__name__)


class Tournaments(Protocol):
    """The tournaments of this server, for their directors."""

    async def act(self, parameters: Parameters) -> Outcome:
        """Carry out an act. Raises NotDoneError."""

    def view(self, name: str) -> Outcome:
        """Return what the director of a tournament sees on this node. Raises NotDoneError."""


class Others(Protocol):
    """The other nodes of a cluster."""

    async def act(self, what: str, parameters: Parameters) -> Mapping[str, str]:
        """Carry out an act on the other nodes with the same token; return each node's result as JSON."""

    def notify(self, notice: Notice) -> None:
        """Send this node's notice to the other nodes. The latest notice is in force on all nodes."""

    def stop(self) -> None:
        """Begin the drain on the other nodes."""


class Operator:
    """Carries out the operator's acts on this node, and on the other nodes of its cluster."""

    def __init__(
        self, hub: Hub, accounts: Accounts, drain: Callable[[int], None], node: str | None = None
    ) -> None:
        """Set the objects on which acts are carried out; `node` is this server's name in its cluster.

        `drain(seconds)` sets the time that games may take when the server stops. `drain(0)` begins the stop.
        """
        self.others: Others | None = None
        """The other nodes of the cluster; None without a cluster."""
        self.tournaments: Tournaments | None = None
        """The tournaments; None if no results are kept."""
        self.notice = Notice()
        self._noticed = trio.Event()
        self._hub = hub
        self._accounts = accounts
        self._drain = drain
        self._node = node

    async def everywhere(self, what: str, parameters: Parameters) -> Mapping[str, str]:
        """Carry out an act on this node, then on the other nodes; return each node's result as JSON.

        The keys are the names of the nodes; this node has the empty name. Raises NotDoneError if the act
        fails on this node; the other nodes are not asked then.
        """
        outcomes = {"": await self.act(what, parameters)}
        if self.others is None or what == TOURNAMENT:
            return outcomes
        return {**outcomes, **await self.others.act(what, parameters)}

    def stop(self) -> None:
        """Begin the requested drain on all nodes."""
        if self.others is not None:
            self.others.stop()
        self.stop_here()

    def stop_here(self) -> None:
        """Begin the requested drain on this node."""
        if not self._hub.is_draining:
            self._drain(0)

    async def next_notice(self, known: Notice) -> Notice:
        """Wait until the notice differs from `known`, and return it."""
        while self.notice == known:
            await self._noticed.wait()
        return self.notice

    def adopt(self, notice: Notice) -> None:
        """Put a notice in force if it is later than the current one."""
        if notice.made > self.notice.made:
            self.notice = notice
            self._hub.pause(is_paused=notice.paused)
            self._noticed.set()
            self._noticed = trio.Event()

    async def act(self, what: str, parameters: Parameters) -> str:
        """Carry out an act on this node; return the result as JSON. Raises NotDoneError."""
        try:
            if what == WHO:
                return await self._who(parameters)
            if what in (TOURNAMENT, DIRECTOR):
                return json.dumps(await self._direct(what, parameters))
            return json.dumps(await self._outcome(what, parameters))
        except NotDoneError:
            raise
        except (OSError, ValueError) as error:
            raise NotDoneError(in_one_line(error)) from error
        except Exception as error:
            fields = {"event": "act_failed", "act": what}
            logger.exception("an act of the operator's failed", extra=fields)
            raise NotDoneError("internal error; the log has it") from error

    async def _direct(self, what: str, parameters: Parameters) -> Outcome:
        """Carry out `TOURNAMENT` or `DIRECTOR`. Raises NotDoneError."""
        if self.tournaments is None:
            raise NotDoneError("this server keeps no results, and so has no tournaments")
        if what == DIRECTOR:
            return self.tournaments.view(parameters["name"])
        return await self.tournaments.act(parameters)

    async def _who(self, parameters: Parameters) -> str:
        """Return the connected players as JSON. Handles a few players in each turn of the event loop."""
        wanted = bans_of(parameters["who"]) if "who" in parameters else None
        rows, characters, more = list[str](), 0, 0
        for number, seat in enumerate(self._hub.seats(), 1):
            if number % LOOKED_AT == 0:
                await trio.lowlevel.checkpoint()
            if seat.is_gone or seat.is_remote or seat.is_relayed or seat.manners.house:
                continue
            if wanted is not None and not is_meant(wanted, seat):
                continue
            row = {**described(seat, trio.current_time()), "node": self._node}
            characters += sum(len(row[key] or "") for key in ("name", "against", "table"))
            if len(rows) < MOST and characters < MOST_CHARACTERS:
                rows.append(json.dumps(row))
            else:
                more += 1
        return f'{{"players": [{", ".join(rows)}], "more": {more}}}'

    async def _outcome(self, what: str, parameters: Parameters) -> Outcome:
        """Carry out an act that changes something. Raises OSError, ValueError, NotDoneError."""
        file = self._accounts.bans_file
        match what:
            case "kick":
                return {"kicked": await trio.to_thread.run_sync(self._hang_up, bans_of(parameters["who"]))}
            case "ban":
                change = partial(ban, file, target(parameters["who"]), parameters.get("notes", ""))
                return await trio.to_thread.run_sync(self._change, change)
            case "unban":
                change = partial(unban, file, target(parameters["who"]))
                outcome = await trio.to_thread.run_sync(self._change, change)
                return {key: value for key, value in outcome.items() if key != "kicked"}
            case "announce":
                return self._notify(announcement(parameters.get("text", "")), is_paused=self.notice.paused)
            case "pause" | "resume":
                return self._notify(self.notice.text, is_paused=what == "pause")
            case "drain":
                if self._hub.is_draining:
                    raise NotDoneError("the server drains already")
                seconds = seconds_of(parameters.get("seconds", str(DRAIN)))
                self._drain(seconds)
                return {"seconds": seconds}
            case _:
                raise NotDoneError(f"there is no act {what!r}")

    def _notify(self, text: str, *, is_paused: bool) -> Outcome:
        if (text, is_paused) != (self.notice.text, self.notice.paused):
            self.adopt(Notice(text, is_paused, max(time.time(), self.notice.made + LATER)))
            if self.others is not None:
                self.others.notify(self.notice)  # also to the requesting node: its notice may be older
        return {"announcement": text or None, "paused": is_paused}

    def _change(self, change: Callable[[], bool]) -> Outcome:
        """Change the file of bans, read it again, and disconnect banned players; return their number.

        An error after the change is returned as ``fault`` and not raised, so that the audit log has the
        change.
        """
        outcome = {"changed": change()}
        try:
            in_loop = trio.from_thread.run_sync
            kicked = reload_players(self._accounts, self._hub, trio.current_time, in_loop)
            return {**outcome, "kicked": kicked}
        except (OSError, ValueError) as error:
            return {**outcome, "kicked": 0, "fault": in_one_line(error)}

    def _hang_up(self, wanted: Bans) -> int:
        return hang_up(self._hub, wanted, trio.current_time, trio.from_thread.run_sync)


def described(seat: Seat, now: float) -> Outcome:
    """Return the description of a connected player for the operator."""
    doing, against, table = "idle", None, None
    match seat.situation:
        case Waiting():
            doing = "waits"
        case Seated() | PlayingElsewhere() as situation:
            doing, against = "plays" if seat.plays else "between games", situation.names[1]
            if seat.absence is not None:
                doing = "is away"
    if seat.name is not None and isinstance(seat.place, AtTable):
        table = seat.place.name
    return {
        "name": seat.name,
        "kind": seat.manners.kind,
        "address": seat.origin,
        "seconds": round(max(0.0, now - seat.came), 1),
        "doing": doing,
        "against": against,
        "table": table,
    }


def reload_players(accounts: Accounts, hub: Hub, clock: Callable[[], float], in_loop: InLoop) -> int:
    """Call `Accounts.reload`, then disconnect banned players; return their number.

    Call this in a thread.
    """
    try:
        accounts.reload(in_loop)
    except (OSError, ValueError):
        hang_up(hub, accounts.bans, clock, in_loop)
        raise
    return hang_up(hub, accounts.bans, clock, in_loop)


def hang_up(hub: Hub, bans: Bans, clock: Callable[[], float], in_loop: InLoop) -> int:
    """Disconnect all banned players, which ends their games; return how many of them are on this node.

    Call this in a thread.
    """

    def among(seats: Sequence[Seat]) -> int:
        meant = [
            seat for seat in seats if not seat.manners.house and not seat.is_gone and is_meant(bans, seat)
        ]
        for seat in meant:
            hub.submit(seat, Leave(), clock())
        return sum(not (seat.is_remote or seat.is_relayed) for seat in meant)

    seats, count = in_loop(hub.seats), 0
    for start in range(0, len(seats), AT_ONCE):
        count += in_loop(partial(among, seats[start : start + AT_ONCE]))
    return count


def is_meant(bans: Bans, seat: Seat) -> bool:
    """Whether a player is banned by its address, by its name, or by the name that it has asked for."""
    return any(bans.hold(folded(name), seat.origin) for name in seat.names)
