"""What the operator asks of a running server, carried out in the process that plays.

Knows the hub, the names and the bans. Does not know how an act is asked for, or who may: the web's process
looks at the token and writes the audit log. The rule it keeps: files are read and written by threads, and a
step that looks at players is short, however many there are.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import trio

from gateway.game.commands import AtTable, folded
from gateway.hub.remote import Away
from gateway.hub.seat import Seat, Seated, Waiting
from gateway.server.accounts import Accounts, bans_beside, reload_players
from gateway.server.acts import About, Found, NotDoneError
from gateway.server.bans import Bans, HubForBans, ban, bans_of, hang_up, target, unban

LOOKED_AT = 100
"""Players whom one turn of the event loop describes."""
MOST = 1_000
"""Players that one answer lists."""
MOST_CHARACTERS = 50_000
"""Characters of their names and tables together."""


class Others(Protocol):
    """The other nodes of a cluster."""

    async def act(self, what: str, about: About) -> Mapping[str, str]:
        """Have an act carried out on those that have the same token; return what came of it on each."""


class Operator:
    """Carries out what the operator of this server asks for."""

    def __init__(self, hub: HubForBans, accounts: Accounts, node: str | None = None) -> None:
        """`node` is the name of this server among those of its cluster."""
        self.others: Others | None = None
        """The other nodes of its cluster, if it is in one."""
        self._hub = hub
        self._accounts = accounts
        self._node = node
        self._acts: Mapping[str, Callable[[About], Awaitable[Found]]] = {
            "who": self._who,
            "kick": self._kick,
            "ban": self._ban,
            "unban": self._unban,
        }

    async def everywhere(self, what: str, about: About) -> Mapping[str, str]:
        """Carry out an act on all nodes; return what came of it on each, as JSON. Raises NotDoneError.

        This node is the empty text. Where it is not done here it is done nowhere.
        """
        found = {"": await self.act(what, about)}
        return found if self.others is None else {**found, **await self.others.act(what, about)}

    async def act(self, what: str, about: About) -> str:
        """Carry out an act here; return what came of it, as JSON. Raises NotDoneError."""
        try:
            found = await self._acts[what](about)
        except (OSError, ValueError) as error:
            raise NotDoneError(str(error)) from error
        return await trio.to_thread.run_sync(json.dumps, found)  # 1,000 players take some milliseconds

    async def _who(self, about: About) -> Found:
        wanted = bans_of(about["who"]) if "who" in about else None
        rows, characters, more = list[Found](), 0, 0
        for number, seat in enumerate(self._hub.seats(), 1):
            if number % LOOKED_AT == 0:
                await trio.lowlevel.checkpoint()
            if seat.is_gone or seat.is_visiting or seat.manners.house:
                continue
            if wanted is not None and not wanted.hold(folded(seat.name or ""), seat.origin):
                continue
            row = {**described(seat, trio.current_time()), "node": self._node}
            characters += sum(len(row[key] or "") for key in ("name", "against", "table"))
            if len(rows) < MOST and characters < MOST_CHARACTERS:
                rows.append(row)
            else:
                more += 1
        return {"players": rows, "more": more}

    async def _kick(self, about: About) -> Found:
        return {"kicked": await trio.to_thread.run_sync(self._hang_up, bans_of(about["who"]))}

    async def _ban(self, about: About) -> Found:
        def change() -> Found:
            is_new = ban(bans_beside(self._accounts.file), target(about["who"]), about.get("notes", ""))
            return {"changed": is_new, "kicked": self._reload()}

        return await trio.to_thread.run_sync(change)

    async def _unban(self, about: About) -> Found:
        def change() -> Found:
            was = unban(bans_beside(self._accounts.file), target(about["who"]))
            self._reload()
            return {"changed": was}

        return await trio.to_thread.run_sync(change)

    def _reload(self) -> int:
        return reload_players(self._accounts, self._hub, trio.current_time, trio.from_thread.run_sync)

    def _hang_up(self, wanted: Bans) -> int:
        return hang_up(self._hub, wanted, trio.current_time, trio.from_thread.run_sync)


def described(seat: Seat, now: float) -> Found:
    """Return what the operator sees of a player."""
    doing, against, table = "idle", None, None
    match seat.situation:
        case Waiting():
            doing = "waits"
        case Seated() | Away() as situation:
            doing, against = "plays" if seat.plays else "between games", situation.names[1]
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
