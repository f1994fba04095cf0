"""The private server of a match: what one client can take from the others."""

import trio

from adapters.match.server import CONNECTIONS, HOST, Server
from adapters.match.tables import Series
from gateway.game.clock import Terms
from gateway.game.ids import GameId, game_ids


class Table:
    """A table that notes who has come, and plays nothing."""

    def __init__(self) -> None:
        self.come = trio.Event()

    def plan(self) -> Series | None:
        return None

    def seated(self, side: int, *, there: bool) -> None:
        self.come.set()

    def started(self, game: GameId, opener: int) -> None:
        raise NotImplementedError

    def moved(self, side: int, seconds: float) -> bool:
        raise NotImplementedError

    def unreadable(self, side: int, text: str) -> None:
        raise NotImplementedError


async def test_player_may_have_a_few_connections_and_leaves_room_for_the_others() -> None:
    server = Server(Terms(), game_ids(1), print, print)
    greedy, other = Table(), Table()
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.run)
            ports = [await server.listen(nursery, str(each), each, 0) for each in (greedy, other)]
            streams = [await trio.open_tcp_stream(HOST, ports[0]) for _ in range(CONNECTIONS + 1)]
            assert await streams[-1].receive_some() == b""
            for stream, table in ((streams[0], greedy), (await trio.open_tcp_stream(HOST, ports[1]), other)):
                await stream.send_all(b"NAME x\nJOIN lobby\n")
                await table.come.wait()
                await stream.aclose()
            for stream in streams:
                await stream.aclose()
            nursery.cancel_scope.cancel()
