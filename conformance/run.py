"""Play many transcripts: choose the server and the order for each, and collect the results.

Transcripts that need the same options share a server, which plays them one after the other. Several servers
may run at once. Must not know the steps of a transcript.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio

from conformance.dialects import DIALECTS, dialects
from conformance.launch import COMMAND, Server, ServerError, start
from conformance.outcome import Failed, Outcome, Result, Skipped
from conformance.placeholders import USUAL_CLOCK, run_token
from conformance.play import Setting, play
from conformance.steps import Broken, Transcript
from conformance.targets import Address

# Servers that run at once. More would slow each other down and disturb the measured times.
_AT_ONCE = 3


@dataclass(slots=True)
class Run:
    """The results of a run. `troubles` are sentences about problems with servers, not with transcripts."""

    results: list[Result] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a run. `targets`: addresses of running servers, by dialect.

    Without targets, `command` starts the servers. `clock` and `delay` are the values of the `Setting` for the
    targets.
    """

    targets: Mapping[str, Address]
    patience: float
    command: Sequence[str] = COMMAND
    clock: float = USUAL_CLOCK
    delay: float = 0.0


async def run_all(chosen: Sequence[Transcript | Broken], settings: Settings) -> Run:
    """Play the chosen transcripts. The results are in the order of `chosen`."""
    broken = [t for t in chosen if isinstance(t, Broken)]
    run = Run([Result(t, Failed(t.number, "a transcript", t.message)) for t in broken])
    transcripts = [t for t in chosen if isinstance(t, Transcript)]
    player = _Player(run, settings)
    if settings.targets:
        setting = Setting(settings.targets, settings.patience, settings.clock, settings.delay)
        await player.play_in(transcripts, setting)
    else:
        await player.on_own_servers(transcripts)
    order = {t.id: i for i, t in enumerate(chosen)}
    run.results.sort(key=lambda result: order[result.id])
    return run


class _Player:
    def __init__(self, run: Run, settings: Settings) -> None:
        self._run = run
        self._settings = settings
        self._token = run_token()
        self._played = 0
        self._room = trio.CapacityLimiter(_AT_ONCE)

    async def on_own_servers(self, transcripts: Iterable[Transcript]) -> None:
        groups: dict[tuple[str, ...], list[Transcript]] = {}
        for transcript in transcripts:
            groups.setdefault(transcript.needs, []).append(transcript)
        async with trio.open_nursery() as nursery:
            for options, group in sorted(groups.items(), key=lambda item: -len(item[1])):
                nursery.start_soon(self._on_own_server, options, group)

    async def _on_own_server(self, options: tuple[str, ...], group: list[Transcript]) -> None:
        async with self._room, trio.open_nursery() as nursery:
            try:
                placed = (*_placed(options, group[0].path), *_ports(group))
                server = await start(nursery, placed, self._settings.command)
            except ServerError as error:
                self._run.troubles.append(str(error))
                for transcript in group:
                    self._run.results.append(Result(transcript, Skipped("its server did not start")))
                return
            try:
                setting = Setting(server.addresses, self._settings.patience, group[0].clock or USUAL_CLOCK)
                await self.play_in(group, setting)
            finally:
                await self._stop(server)
                nursery.cancel_scope.cancel()

    async def _stop(self, server: Server) -> None:
        try:
            with trio.CancelScope(shield=True):
                await server.stop()
        except ServerError as error:
            self._run.troubles.append(str(error))

    async def play_in(self, transcripts: Iterable[Transcript], setting: Setting) -> None:
        """Play transcripts one after the other against running servers."""
        for transcript in transcripts:
            self._played += 1
            began = time.perf_counter()
            suffix = f"{self._token}{self._played}"
            outcome = self._obstacle(transcript) or await play(transcript, setting, suffix)
            self._run.results.append(Result(transcript, outcome, time.perf_counter() - began))

    def _obstacle(self, transcript: Transcript) -> Outcome | None:
        """Return `Skipped` with the reason if the transcript cannot be played at the targets; else None."""
        if not self._settings.targets:
            return None
        missing = sorted(transcript.dialects - self._settings.targets.keys())
        if missing:
            return Skipped(f"needs a target for {' and '.join(missing)}")
        has_clock = transcript.any_clock or transcript.clock == self._settings.clock
        if len(transcript.needs) > (2 if has_clock else 0):
            return Skipped(f"needs a server started with {' '.join(transcript.needs)}")
        return None


def _ports(group: Iterable[Transcript]) -> Iterator[str]:
    """Yield the options of the gateway for the ports of plug-ins whose dialects the transcripts use."""
    for name in sorted({dialect for each in group for dialect in each.dialects} - DIALECTS.keys()):
        yield from dialects()[name].port


def _placed(options: Iterable[str], path: Path) -> tuple[str, ...]:
    """Replace `{transcripts}` in options by the folder of all transcripts; `path` is one of them."""
    folder = path.resolve().parents[1]
    return tuple(option.replace("{transcripts}", str(folder)) for option in options)
