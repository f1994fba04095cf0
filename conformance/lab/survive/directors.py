"""Directors of a tournament, who send acts of all kinds, record the answers, and compare both with its log.

They use the API and the commands at the same time. Some acts are sent two at once about the same game or the
same player, some commands are killed, and some requests are given up before the answer. The points of all
players are computed once more from the log and the games, without the gateway's code.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from random import Random
from time import monotonic, time
from typing import Any
from urllib.parse import urlencode

import trio

from conformance.lab.client import HungUp, connected, request
from conformance.lab.servers import Gateway
from conformance.targets import WEB, Address
from gateway.tournament.acts import ACTS, undoable
from gateway.tournament.log import TournamentNews, TournamentResult
from gateway.tournament.pairings import BREAKS, UNDECIDED
from gateway.tournament.report import described
from gateway.tournament.tournament import Tournament

TOKEN = "lab"
"""The admin token."""
_OPTIONS = ("--web", "0", "--admin-token", TOKEN, "--audit")
_ON_GAMES = {"award": 6.0, "void": 2.0, "replay": 5.0}
_WEIGHTS = _ON_GAMES | {
    "withdraw": 2.0, "readmit": 3.0, "enter": 2.0, "house": 1.0, "forbid": 1.5, "test": 2.0,
    "start": 0.5, "pause": 1.0, "resume": 0.5, "next": 2.0, "announce": 2.0, "undo": 4.0,
}  # fmt: skip
"""How often each act is sent, relative to the others. The act that ends a tournament is not among them."""
_PAUSE = 0.6
"""The longest time between two acts of a director, in seconds."""
_BY_COMMAND, _AT_ONCE, _GIVEN_UP = 0.25, 0.3, 0.1
"""The shares of acts that are sent by a command, of those sent two at once, and of those given up."""
_LOOK = 0.01
_PATIENCE = 60.0
"""Seconds to wait for an answer."""
_SETTLED = 15.0
"""Seconds within which a server has to report the state of the database."""
_PASSING = ("next", "undo")
"""The parts of a report that depend on the time."""


def options_of(folder: Path) -> list[str]:
    """Return the options of a server that obeys directors, and has its audit log in a folder."""
    return [*_OPTIONS, str(folder / "{name}.audit")]


@dataclass(slots=True)
class Sent:
    """An act that a director has sent. The reason, `why`, identifies it."""

    act: str
    given: Mapping[str, str]
    by: str
    why: str
    at: float = field(default_factory=monotonic)
    answered: float = inf
    is_done: bool | None = None
    """Whether the answer says that it is done; None without an answer."""
    text: str = ""
    """The words of the answer."""

    def answer(self, text: str, *, is_done: bool) -> None:
        """Record the answer."""
        self.answered, self.is_done, self.text = monotonic(), is_done, text


@dataclass(slots=True)
class Directors:
    """The directors of one tournament."""

    name: str
    """That of the tournament."""
    place: str
    """Its database."""
    look: Callable[[], Tournament]
    """Reads the tournament."""
    gateways: Sequence[Gateway]
    folder: Path
    """Where the audit logs are."""
    lot: Random
    players: Sequence[str]
    """The names of players that may take part."""
    sent: list[Sent] = field(default_factory=list)
    asked: trio.Event = field(default_factory=trio.Event)
    """Set when the next act is sent to a server; then there is another one."""

    async def run(self, who: str, most: int) -> None:
        """Send acts in the name of one director until there were so many, or the tournament is over."""
        tournament = self.look()
        while len(self.sent) < most and tournament.ended is None:
            act, given = self._chosen(tournament)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.send, act, given, who)
                if self.lot.random() < _AT_ONCE:
                    other = act if act not in _ON_GAMES else self.lot.choice([*_ON_GAMES])
                    given = {"to": "draw"} | given if other == "award" else given
                    nursery.start_soon(self.send, other, given, f"{who}, too")
            await trio.sleep(self.lot.uniform(0, _PAUSE))
            tournament = self.look()

    async def until(self, act: str, is_so: Callable[[Tournament], bool], limit: float) -> bool:
        """Repeat an act until a condition holds, at most `limit` seconds; return whether it does."""
        end = monotonic() + limit
        while not (found := is_so(self.look())) and monotonic() < end:
            await self.send(act, {}, "nora")
            await trio.sleep(_PAUSE)
        return found

    async def send(self, act: str, given: Mapping[str, str], by: str) -> None:
        """Send an act in one of all ways, and record the answer."""
        sent = Sent(act, {key: given[key] for key in ACTS[act].parameters if key in given}, by, "")
        sent.why = f"reason {len(self.sent)}"
        self.sent.append(sent)
        is_command = self.lot.random() < _BY_COMMAND
        limit = _PATIENCE
        if self.lot.random() < _GIVEN_UP:
            limit = self.lot.uniform(0, 1.5 if is_command else 0.05)
        with trio.move_on_after(limit):
            await (self._by_command(sent) if is_command else self._by_api(sent))

    def _chosen(self, tournament: Tournament) -> tuple[str, dict[str, str]]:
        """Return an act, often one that is possible, and its parameters."""
        lot, names = self.lot, [each.name for each in tournament.entrants]
        present = [names[number] for number in sorted(tournament.present)]
        absent = [name for name in names if name not in present]
        weights = dict(_WEIGHTS)
        weights["resume"] *= 20 if tournament.is_paused else 1
        weights["withdraw"] *= len(absent) <= len(names) / 4
        weights["readmit"] *= bool(absent)
        weights["next"] *= tournament.stage.format == "swiss"
        [act] = lot.choices([*weights], [*weights.values()])
        given = {"player": lot.choice(present or names), "other": lot.choice(names), "house": "random"}
        match act:
            case "award" | "void" | "replay" if tournament.pairings:
                number = lot.randrange(len(tournament.pairings))
                state, game = tournament.pairings[number], lot.randrange(tournament.settings.games)
                given["to"] = lot.choice([*(names[each] for each in state.players), "draw"])
                given["game"] = f"{number + 1}.{game + 1}"
                if game in state.games and lot.random() < 0.5:
                    given["game"] = str(state.games[game].game)
            case "award" | "void" | "replay":
                given |= {"to": "draw", "game": "1.1"}  # there is none yet
            case "readmit":
                given["player"] = lot.choice(absent)
            case "enter":
                given["player"] = lot.choice([*({*self.players} - {*names}), lot.choice(names)])
            case "house":
                given["player"] = "random"
            case "next":
                free = [names[each] for each in tournament.stage.players if names[each] in present]
                lot.shuffle(free)
                given["pairs"] = ", ".join(
                    " - ".join(free[each : each + 2]) for each in range(0, len(free), 2)
                )
            case "announce":
                given |= {"text": f"line {len(self.sent)}"} if lot.random() < 0.7 else {}
            case "undo":
                last = undoable(tournament, time())
                given |= {} if last is None or lot.random() < 0.3 else {"number": str(last + 1)}
        return act, given

    async def _by_api(self, sent: Sent) -> None:
        while not (up := [each for each in self.gateways if each.is_up]):  # noqa: ASYNC110  as `until`
            await trio.sleep(_LOOK)
        words = urlencode({**sent.given, "by": sent.by, "why": sent.why})
        path = f"/api/tournaments/{self.name}/{sent.act}?{words}"
        self.asked.set()
        self.asked = trio.Event()
        try:
            status, answer = await _asked(self.lot.choice(up).addresses[WEB], path, "POST")
        except (HungUp, ValueError):
            return  # the server was killed
        if status == 200:
            sent.answer(answer["done"], is_done=True)
        elif status != 503:  # otherwise it is not known whether it is done
            sent.answer(f"{status} {answer}", is_done=False)

    async def _by_command(self, sent: Sent) -> None:
        command = [sys.executable, "-m", "gateway", "tournament", sent.act, self.name]
        for name in ACTS[sent.act].parameters:
            value = sent.given.get(name, "")
            command += [value] if name != "number" else ["--number", value] if value else []
        command += ["--db", self.place, "--by", sent.by, "--why", sent.why]
        command += ["--audit", str(self.folder / "commands.audit")]
        done = await trio.run_process(
            command, capture_stdout=True, capture_stderr=True, check=False, deliver_cancel=_kill
        )
        text = done.stderr if done.returncode else done.stdout
        sent.answer(text.decode().strip(), is_done=not done.returncode)

    # What is found at the end.

    def troubles(self, tournament: Tournament) -> dict[str, list[str]]:
        """Compare the answers with the log of the tournament, and with the audit logs."""
        logged = defaultdict[str, list[int]](list)
        for number, (_, signed, _) in enumerate(tournament.log):
            if signed.by:
                logged[signed.reason].append(number)
        text = "".join(file.read_text() for file in self.folder.glob("*.audit"))
        lines = [line.split("\t") for line in text.splitlines()]
        audited = Counter((line[2], *line[-2:]) for line in lines)
        found: dict[str, list[str]] = {
            "acts done, and not in the log": [],
            "acts twice in the log": [],
            "acts refused, and in the log": [],
            "acts logged otherwise": [f"without an act: {why}" for why in {*logged} - {*self.whys}],
            "acts not audited": [],
            "acts refused, and audited": [],
            "acts in another order": self._in_another_order(logged),
        }
        for sent in self.sent:
            numbers = logged[sent.why]
            is_audited = audited[f"tournament {sent.act}", f"by: {sent.by}", f"why: {sent.why}"] == 1
            is_otherwise = False
            for number in numbers:
                _, signed, words = tournament.log[number]
                is_same = (signed.by, signed.entry.word) == (sent.by, sent.act)
                is_otherwise |= not is_same or (sent.is_done is True and words != sent.text)
            for what, is_so in (
                ("acts done, and not in the log", sent.is_done is True and not numbers),
                ("acts twice in the log", len(numbers) > 1),
                ("acts refused, and in the log", sent.is_done is False and bool(numbers)),
                ("acts logged otherwise", is_otherwise),
                ("acts not audited", bool(numbers) and not is_audited),
                ("acts refused, and audited", sent.is_done is False and not numbers and is_audited),
            ):
                found[what] += [f"{sent}, entries {numbers}"] if is_so else []
        return found

    def unanswered(self, tournament: Tournament) -> int:
        """Return how many acts without an answer are in the log."""
        logged = {each.signed.reason for each in tournament.log}
        return sum(each.is_done is None and each.why in logged for each in self.sent)

    @property
    def whys(self) -> set[str]:
        """The reasons of all acts."""
        return {each.why for each in self.sent}

    def _in_another_order(self, logged: Mapping[str, Sequence[int]]) -> list[str]:
        """Return the acts that are in the log before an act that was answered before they were sent."""
        placed = [(each, logged[each.why][0]) for each in self.sent if logged.get(each.why)]
        return [
            f"{later} before {sent}"
            for sent, number in placed
            for later, place in placed
            if sent.answered < later.at and place < number
        ]

    async def reported_otherwise(self, look: Callable[[], Tournament]) -> list[str]:
        """Return how what the servers report differs from the tournament in the database."""
        found = []
        for gateway in self.gateways:
            differing = [f"{gateway}: no answer"]
            with trio.move_on_after(_SETTLED):
                while differing:
                    try:
                        differing = [f"{gateway}: {each}" for each in await self._differing(gateway, look)]
                    except (HungUp, ValueError, KeyError) as error:
                        differing = [f"{gateway}: {error!r}"]
                    await trio.sleep(bool(differing) / 2)
            found += differing
        return found

    async def _differing(self, gateway: Gateway, look: Callable[[], Tournament]) -> list[str]:
        path, web = f"/api/tournaments/{self.name}", gateway.addresses[WEB]
        report, seen = (await _asked(web, path))[1], (await _asked(web, f"{path}/director"))[1]
        tournament = look()
        # The server keeps its own state of the players; all else it reads anew for each report.
        players = [(each["name"], each["faults"], each["in_a_row"]) for each in seen["players"]]
        entrants = [
            (each.name, sum(each.faults.values()), each.faults_in_a_row) for each in tournament.entrants
        ]
        return [
            *differences(report, described(tournament, time())),
            *([] if players == entrants else [f"players {players}, not {entrants}"]),
        ]


def differences(report: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the parts of a report on a tournament that differ from another report."""
    one, two = (json.loads(json.dumps(each)) for each in (report, other))
    return [
        f"{key} {one.get(key)}, not {two[key]}"
        for key in two
        if key not in _PASSING and one.get(key) != two[key]
    ]


async def _asked(web: Address, path: str, method: str = "GET") -> tuple[int, Any]:
    """Request a path with the admin token; return the status, and the JSON. Raises HungUp, ValueError."""
    async with connected(web) as client:
        await client.say(request(path, web, method, f"Authorization: Bearer {TOKEN}"))
        head, _, body = (await client.rest()).partition(b"\r\n\r\n")
        if not head:
            raise HungUp
        return int(head.split()[1]), json.loads(body)


async def _kill(process: trio.Process) -> None:
    process.kill()


# The points once more.


@dataclass(slots=True)
class Recount:
    """What the log and the games of a tournament say, without the gateway's code."""

    points: list[dict[str, tuple[float, float]]] = field(default_factory=lambda: [{}])
    """The match points and the game points of players, for each stage."""
    twice: list[TournamentResult] = field(default_factory=list)
    """The games with a result whose place had a result, or was forfeited, before; but not by an act."""

    def add(self, stage: int, names: Sequence[str], sums: Sequence[float]) -> None:
        """Add a pairing, or a bye, and the game points in it."""
        for name, total in zip(names, sums, strict=False):
            score = float(total == max(sums)) / sums.count(total) if total else 0.0
            old = self.points[stage].get(name, (0.0, 0.0))
            self.points[stage][name] = old[0] + score, old[1] + total

    def differences(self, report: Mapping[str, Any]) -> list[str]:
        """Return how the standings of a report differ."""
        return [
            f"{row['name']} has {found} points in stage {stage['number']}, not {expected}"
            for stage, points in zip(report["stages"], self.points, strict=False)
            for row in stage["standings"]
            if (found := (row["points"], row["tie_breaks"]["game-points"]))
            != (expected := points.get(row["name"], (0, 0)))
        ]


def recount(news: TournamentNews, games: int) -> Recount:  # noqa: PLR0912, PLR0915  a branch for each entry
    """Count the points of a tournament with so many games in each pairing."""
    names, pairings, found = list[str](), list[tuple[int, int, int | None]](), Recount()
    rulings, forfeits = dict[tuple[int, int], Sequence[float]](), set[tuple[int, int]]()
    annulled, replayed = set[str](), set[tuple[int, int]]()
    log = [json.loads(each.entry) for each in news.entries]
    undone = {each["number"] for each in log if each["entry"] == "Undone"}
    for number, entry in enumerate(log):
        if entry["entry"] == "Replayed":
            replayed |= {(entry["pairing"], each) for each in entry["games"]}
        match entry:
            case _ if number in undone:
                pass
            case {"entry": "Entered", "name": name}:
                names.append(name)
            case {"entry": "Begun", "order": order}:
                names = [names[each] for each in order]
            case {"entry": "StageBegun"}:
                found.points.append({})
            case {"entry": "Paired", "pairings": added}:
                pairings += [(len(found.points) - 1, first, second) for first, second, _ in added]
            case {"entry": "Awarded", "pairing": pairing, "game": game, "winner": winner}:
                both = pairings[pairing][1:]
                rulings[pairing, game] = [0.5 if winner is None else float(each == winner) for each in both]
            case {"entry": "Voided", "pairing": pairing, "games": numbers}:
                rulings |= {(pairing, each): (0, 0) for each in numbers}
            case {"entry": "Forbidden", "voided": voided}:
                rulings |= {(pairing, each): (0, 0) for pairing, numbers in voided for each in numbers}
            case {"entry": "Forfeited", "pairing": pairing, "games": numbers, "absent": absent}:
                both = pairings[pairing][1:]
                for each in numbers:
                    rulings.setdefault((pairing, each), [float(player not in absent) for player in both])
                    forfeits.add((pairing, each))
            case {"entry": "Replayed", "pairing": pairing, "games": numbers, "annulled": ids}:
                annulled |= {*ids}
                for each in numbers:
                    rulings.pop((pairing, each), None)
    points, leavings = dict(rulings), defaultdict[object, set[str]](set)
    for result in news.games:
        place = result.pairing, result.number
        if result.pairing >= len(pairings) or result.game in annulled:
            continue
        winner = result.result
        if result.reason in UNDECIDED:
            leavings[place, result.culprit].add(result.game)
            if result.culprit is None or len(leavings[place, result.culprit]) < BREAKS:
                continue
            winner = 2 - result.culprit
        elif place in points and place not in replayed and (place not in rulings or place in forfeits):
            found.twice.append(result)
        first = {0: 0.5, 1: 1.0, 2: 0.0}[winner]
        points.setdefault(place, (1 - first, first) if result.number % 2 else (first, 1 - first))
    for number, (stage, first, second) in enumerate(pairings):
        own = [points[number, game] for game in range(games) if (number, game) in points]
        if second is not None and len(own) < games:
            continue
        sums = [sum(each) for each in zip(*own, strict=True)] if second is not None else [games, 0.0]
        found.add(stage, [names[each] for each in (first, second) if each is not None], sums)
    return found
