"""Words and sentences for people: how a game ended, what a player does, what standings count.

Pure. A sentence is a list of texts and `Part` values, so that a client's text stays separate from the page's
text. The template macro `text` turns a sentence into HTML. The sentences of scripts are in format.js and
play_state.js.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import quote, urlencode

from adapters.web.live.state import Json
from adapters.web.page.timeline import Timeline
from gateway.game.board import Side
from gateway.game.events import Reason
from gateway.store.games import COUNTED, LOBBY
from gateway.store.presentation import Outcome, Refusal
from gateway.store.records import FAULTS, WORDS, GameRecord, moment
from gateway.store.statistics import Score
from gateway.store.totals import Rating, chance

REASON_TEXTS = {
    "four": "four in a row",
    "full": "full board",
    "time": "time",
    "left": "left",
    "aborted": "aborted",
    "illegal": "illegal move",
    "stopped": "stopped",
    "replayed": "played again",
}
"""For each stored word on how a game ended, the text that people see."""
_RECENT = 14
"""Days after which a time is shown as a date."""


class Part(NamedTuple):
    """A part of a sentence that is not plain text."""

    kind: Literal["name", "player", "linked", "quoted", "game", "play", "code", "strong", "bold", "time"]
    """What the text is, in this order: a name, a player's name, a player's name that links to its page, a
    text from a client, the id of a game, a link to the view Play, code, two kinds of emphasis, a time."""
    text: str


Text: TypeAlias = Sequence[str | Part]


def plain(text: Text) -> str:
    """Return a sentence without its markup."""
    return "".join(each if isinstance(each, str) else each.text for each in text)


# Words.


def number(value: float) -> str:
    """Return a number as ``12,345``."""
    return f"{value:,.0f}"


def how_many(count: int) -> str:
    """Return a number of games from `gateway.store.games.count`, as ``412`` or ``10,000 or more``."""
    return f"{number(count)}{' or more' if count == COUNTED else ''}"


def counted(count: int, word: str) -> str:
    """Return a count as ``1 game`` or ``2 games``."""
    return f"{number(count)} {word}{'' if count == 1 else 's'}"


def signed(value: float) -> str:
    """Return a number with one decimal, and a true minus sign; never a negative zero."""
    return f"{round(value, 1) + 0.0:.1f}".replace("-", "\N{MINUS SIGN}")


def thought(milliseconds: float) -> str:
    """Return a thinking time: ``812 ms``, ``3.9 s`` or ``4:05``."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes}:{seconds:02}"


def age(at: int, now: int) -> str:
    """Return how long ago a time was: ``12 min``, ``3 h``, ``yesterday``, ``5 days`` or the date.

    Both times are in milliseconds of Unix time.
    """
    minutes = max(0, (now - at) // 60_000)
    if minutes < 60:
        return f"{minutes} min"
    hours, days = minutes // 60, minutes // (24 * 60)
    if days >= _RECENT:
        return moment(at)[:10]
    return f"{hours} h" if not days else "yesterday" if days == 1 else f"{days} days"


def ago(at: int, now: int) -> str:
    """Return when a time was, as in a sentence: ``12 min ago``, ``yesterday`` or ``on 2026-11-21``."""
    passed = age(at, now)
    if passed == "yesterday":
        return passed
    return f"on {passed}" if passed == moment(at)[:10] else f"{passed} ago"


def ordinal(place: int) -> str:
    """Return a place as ``1st``, ``22nd`` or ``13th``."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{place}{'th' if place % 100 in (11, 12, 13) else ends.get(place % 10, 'th')}"


def percent(share: float) -> str:
    """Return a share, from 0 to 1, as ``56 %``."""
    return f"{round(100 * share)} %"


def points(score: Score) -> str:
    """Return the points of a score as ``2½``."""
    whole, half = divmod(2 * score.won + score.drawn, 2)
    return f"{whole or ('' if half else 0)}{'½' if half else ''}"


def points_of(score: Score) -> str:
    """Return points as ``2½ of 4``."""
    return f"{points(score)} of {score.games}"


def against(score: Score) -> str:
    """Return the points of both players, those of the score's player first, with a dash between them."""
    return f"{points(score)} \N{EN DASH} {points(score.opposite)}"


def sentence(text: str) -> str:
    """Return text as a sentence: a capital first, a full stop last."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def address(name: str) -> str:
    """Return the part after ``/player/`` in the address of a player.

    Browsers treat ``.`` and ``..`` as folders even when they are encoded, so these names become a parameter.
    """
    quoted = quote(name, safe="", errors="surrogatepass")
    return f"?name={quoted}" if name in {".", ".."} else quoted


def games_address(**filters: str | None) -> str:
    """Return the address of the view Games for games that match these filters; empty ones are left out.

    The filters are those of `adapters.web.query.FILTERS`.
    """
    given = urlencode({name: value for name, value in filters.items() if value}, errors="surrogatepass")
    return f"/games?{given}" if given else "/games"


# A selection of games.

_ENDED = {
    "four": "by four in a row",
    "full": "on a full board",
    "time": "on time",
    "left": "by leaving",
    "aborted": "aborted",
    "illegal": "by an illegal move",
    "stopped": "stopped by the server",
    "replayed": "played again",
}
_SINCE = {"today": "today", "yesterday": "since yesterday", "week": "in the last 7 days"}
_UNITS = {"s": "second", "m": "minute", "h": "hour", "d": "day"}


def since(value: str) -> str:
    """Return the beginning of a span of time, as in an address, in words: ``in the last 2 hours``."""
    count, unit = value[:-1], value[-1:]
    if unit in _UNITS and count.isdigit():
        return f"in the last {counted(int(count), _UNITS[unit])}"
    return _SINCE.get(value, f"since {value}")


def selection(given: Mapping[str, str], count: int, total: int) -> Text:
    """Return a sentence on the games that match the filters of an address.

    `count` is their number as `gateway.store.games.count` returns it, `total` that of all games.
    """
    if not given:
        return (f"{number(total)}, the newest first" if total else "none yet",)
    return (f"{how_many(count)} of {number(total)}: ", *_selected(given))


def _selected(given: Mapping[str, str]) -> Text:
    """Return the filters of an address in words: ``lost by ann against bob since yesterday``."""
    result, words = given.get("result"), list[str | Part]()
    if "player" in given:
        verbs = {"won": "won by ", "drawn": "drawn by ", "lost": "lost by "}
        words += [verbs.get(result or "", "games of "), Part("player", given["player"])]
    elif result is not None:
        winners = {"won": "won by the first mover", "lost": "won by the second mover"}
        words.append(winners.get(result, "drawn"))
    else:
        words.append("games")
    if "moving" in given:
        words.append(f" moving {given['moving']}")
    if "opponent" in given:
        words += [" against ", Part("player", given["opponent"])]
    if "reason" in given:
        ended = _ENDED[given["reason"]]
        is_void = given["reason"] in ("aborted", "stopped", "replayed")
        words.append(f"{',' if is_void else '' if result else ' that ended'} {ended}")
    if given.get("table", "").casefold() == LOBBY:
        words.append(" in the lobby")
    elif "table" in given:
        words += [" at table ", Part("player", given["table"])]
    if "since" in given:
        words.append(f" {since(given['since'])}")
    if "until" in given:
        words.append(f" before {given['until']}")
    if "counted" in given:
        words.append(" that count")
    if "mistake" in given:
        whose = {"lost": " of its own", "won": " of its opponent"} if "player" in given else {}
        verb = ", by" if result else " lost by"
        words.append(f"{verb} a mistake{whose.get(result or '', '')}")
    return words


# A game.


def result_for(record: GameRecord, side: Side) -> Literal["won", "drawn", "lost", ""]:
    """Return the result of a game for one side; empty for a game without a result."""
    if record.winner is None:
        return "drawn" if record.reason is Reason.FULL else ""
    return "won" if record.winner == side else "lost"


def badge(record: GameRecord, side: Side) -> str:
    """Return the word on a side's badge: the side's result, or the reason for that result."""
    result = result_for(record, side)
    if result == "won":
        return "four" if record.reason is Reason.FOUR else result
    return WORDS[record.reason] if result == "lost" and record.reason in FAULTS else result


def headline(names: Sequence[str], outcome: Outcome | None) -> str:
    """Return a headline: who plays, or who won, and how."""
    if outcome is None:
        return f"{names[0]} plays {names[1]}"
    return f"{names[outcome.subject]} {outcome.verb} {names[1 - outcome.subject]} {outcome.how}"


def why(record: GameRecord, lines: Timeline, refusal: Refusal | None, dialect: Callable[[str], str]) -> Text:
    """Return a text on what ended a game, and on the message of the loser that was refused before, if any.

    `dialect` returns the title of a kind of player.
    """
    following = len(record.moves) + 1
    loser = 1 - (record.winner or 0)
    name, kind = Part("name", record.players[loser].name), dialect(record.players[loser].kind)
    refused: Text = ()
    if refusal is not None:
        refused = (" Its message ", Part("quoted", refusal.text), f" had been refused: {refusal.why}.")
    rule = Part("strong", f"A {kind} player loses the game by an illegal move.")
    text: Text
    match record.reason:
        case Reason.FOUR:
            text = (f"Move {following - 1}, in column {record.moves[-1]}, made four in a row.",)
        case Reason.FULL:
            text = ("The board is full, and neither player has four in a row.",)
        case Reason.ILLEGAL if lines.attempt is not None:
            sent = Part("quoted", lines.attempt.text)
            because = f", which was refused: {lines.attempt.why}. "
            text = (f"At move {following} ", name, " sent ", sent, because, rule)
        case Reason.ILLEGAL:
            text = (f"Move {following} of ", name, " was illegal. ", rule)
        case Reason.TIME:
            used = None if lines.attempt is None else lines.attempt.used
            silent = "was silent" if refusal is None else "made no move"
            how = f" ran out of time before move {following}."
            if used is not None and record.moves:
                how = f" {silent} for {thought(used)} after move {following - 1}."
            elif used is not None:
                how = f" {silent} for {thought(used)} at the first move."
            text = (name, how, *refused)
        case Reason.LEFT:
            note = f": {lines.notes[loser]}" if lines.notes[loser] else ""
            text = (name, f" left the game before move {following}{note}.", *refused)
        case Reason.ABORTED:
            text = ("An aborted game has no winner.",)
        case Reason.STOPPED:
            text = ("The server stopped the game, so it has no winner.",)
        case Reason.REPLAYED:
            text = ("A player's connection broke, so the game was played again.",)
    return text if record.counted else (*text, " It does not count in the standings.")


def result_of(record: GameRecord) -> Text:
    """Return a short sentence on a result, with links to both players: ``ann beat bob``."""
    one, other = (Part("linked", player.name) for player in record.players)
    if record.winner is None:
        verb = " drew with " if record.reason is Reason.FULL else " did not finish against "
        return (one, verb, other)
    return (one, " beat ", other) if record.winner == 0 else (other, " beat ", one)


def turning(was: str, became: str, opponent: str) -> Text:
    """Return how a move turned a game: ``gave away a win``, ``gave away a draw`` or ``let bob win``.

    `was` and `became` are results for the side that moved: ``win``, ``draw`` or ``lose``.
    """
    if (was, became) == ("win", "lose"):
        return ("let ", Part("name", opponent), " win")
    return (f"gave away a {was}",)


def unkept(record: GameRecord, *, is_new: bool) -> str:
    """Return a sentence on why no messages of a game are kept."""
    if all(player.house for player in record.players):
        return "The server's own players have no connection, so there is nothing to keep."
    if record.reason is Reason.STOPPED:
        return "Nothing is kept of a game that the server stopped."
    if is_new:
        return "They are stored a moment after the result."
    return "The server keeps them for as long as its option --keep-wire says, 30 days by default."


def by_rating(names: Sequence[str], first: Rating, second: Rating) -> Text:
    """Return a sentence on how often the stronger of two players wins, by their ratings."""
    share = chance(first, second)
    tenths = round(10 * max(share, 1 - share))
    if tenths == 5:
        return ("By rating each of them wins 5 of 10.",)
    stronger = Part("name", names[0 if share > 0.5 else 1])
    often = f"{tenths} of 10" if tenths < 10 else "more than 9 of 10"
    return ("By rating ", stronger, f" wins {often}.")


# A player.


def waiting(table: str | None, since: int, why: Json | None) -> Text:
    """Return a text on where and since when a player waits, and why it has no opponent.

    `since` is in milliseconds of Unix time, and `why` is as in the live stream.
    """
    place: Text = ("in the lobby",) if table is None else ("at table ", Part("player", table))
    reason: Text = ()
    if why is not None:
        name = Part("player", why["name"])
        match why["cause"]:
            case "absent":
                there = () if why["alike"] is None else ("; ", Part("player", why["alike"]), " is")
                reason = (" It wishes for ", name, ", who is not here", *there, ".")
            case "namesake":
                reason = (" Another ", name, " waits too, and two players of one name never meet.")
            case _:
                reason = (" No other player is at that table.",)
    return ("It has waited ", *place, " since ", Part("time", moment(since)), ".", *reason)


def playing(game: Json, name: str) -> Text:
    """Return a text on the game that a player plays, or has just played, and on its opponent.

    `game` is as in the live stream.
    """
    names = [player["name"] for player in game["players"]]
    opponent = Part("linked", names[1 if names[0] == name else 0])
    verb = "plays" if game["reason"] is None else "has just played"
    return (f"It {verb} game ", Part("game", game["game"]), " against ", opponent, ".")


def games_that_count(score: Score) -> str:
    """Return a count as ``1 game that counts``."""
    return f"{counted(score.games, 'game')} that count{'s' if score.games == 1 else ''}"


def results(score: Score) -> str:
    """Return a score as ``3 won, 1 drawn, 2 lost``."""
    return f"{number(score.won)} won, {number(score.drawn)} drawn, {number(score.lost)} lost"


# Standings.


def nobody(least: int, page: int) -> str:
    """Return a sentence on why a page of standings lists no player."""
    if page > 1:
        return "There are fewer players."
    return f"No player has {'one' if least == 1 else f'{number(least)} or more'} of these games."


def places(merit: str, *, is_everything: bool) -> Text:
    """Return a text on what decides the places. `merit` is one of `MERITS`.

    Unless `is_everything`, the text adds that ratings come from all games.
    """
    by: Mapping[str, Text] = {
        "points": (" The place is by ", Part("bold", "points"), ": 1 for a won game, ½ for a drawn one."),
        "share": (" The place is by points a game.",),
    }
    return (*by.get(merit, ()), *(() if is_everything else (" The rating is that of all games.",)))


# A tournament. A report is as `gateway.tournament.report.described` returns it.

FORMAT_TITLES = {
    "round-robin": "Round robin",
    "gauntlet": "Gauntlet",
    "swiss": "Swiss",
    "knockout": "Knockout",
    "ladder": "Ladder",
}
TIE_BREAK_NAMES = {
    "game-points": ("Game pts", "game points", "game points"),
    "direct": ("Direct", "direct encounter", "the pairings of those that are level"),
    "buchholz": ("Buchh.", "Buchholz", "Buchholz (points of all opponents)"),
    "sonneborn-berger": (
        *("Sonneb.", "Sonneborn-Berger"),
        "Sonneborn-Berger (points of those beaten, half of those drawn with)",
    ),
    "faults": ("Faults", "faults", "fewer faults"),
}
"""The title of the column of each tie-break, its name, and its words in the sentence on the order."""
FAULT_TEXTS = {
    "illegal": "illegal move",
    "time": "time",
    "stall": "stall",
    "crash": "crash",
    "walkover": "walkover",
}
_LAST_ROUNDS = (("Final", "Final"), ("Semi-finals", "Semi-final"), ("Quarter-finals", "Quarter-final"))
"""The titles of the last rounds of a knockout, the last one first, and of one of their pairs."""


def quarters(value: float) -> str:
    """Return points as ``8½``. A fraction is rounded to a quarter."""
    whole, part = divmod(round(4 * value), 4)
    return f"{whole or ('' if part else 0)}{('', '¼', '½', '¾')[part]}"


def faults(counts: Mapping[str, int]) -> str:
    """Return the faults of a player as ``illegal move 2, crash 1``."""
    return ", ".join(f"{FAULT_TEXTS[kind]} {count}" for kind, count in counts.items() if count)


def duration(seconds: float) -> str:
    """Return a time as ``45 s``, ``2 min`` or ``1:30 h``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02} h"


def stage_title(report: Json, number: int) -> str:
    """Return the title of a stage of a tournament."""
    if number == 1 and report["groups"]:
        return "Groups"
    return FORMAT_TITLES[report["format" if number == 1 else "then"]]


def stage_titles(report: Json) -> str:
    """Return the titles of all stages as ``Groups, then knockout``. `report` may be a summary, too."""
    titles = [stage_title(report, 1)]
    if report["then"]:
        titles.append(_lower(stage_title(report, 2)))
    return ", then ".join(titles)


def round_title(stage: Json, number: int, *, single: bool = False) -> str:
    """Return the title of a round, such as ``Round 3`` or ``Quarter-finals``; with `single`, of one pair."""
    if stage["format"] == "knockout" and stage["rounds"] is not None and number <= stage["rounds"]:
        following = stage["rounds"] - number
        if following < len(_LAST_ROUNDS):
            return _LAST_ROUNDS[following][single]
        return f"Round of {2 ** (following + 1)}"
    return "Latest pairs" if stage["format"] == "ladder" else f"Round {number}"


def rules(report: Json) -> str:
    """Return the rules of a tournament as ``Swiss, 7 rounds, 2 games of each pair, colours swapped``."""
    settings = report["settings"]
    parts = [_lower(stage_titles(report))]
    if not report["then"]:
        if report["rounds"] is not None and report["format"] == "swiss":
            parts.append(counted(report["rounds"], "round"))
        elif settings["cycles"] > 1:
            parts.append(counted(settings["cycles"], "cycle"))
    return ", ".join([*parts, f"{settings['games']} games of each pair, colours swapped"])


def _lower(title: str) -> str:
    return title if title.startswith("Swiss") else f"{title[0].lower()}{title[1:]}"


def current_round(report: Json, stage: Json) -> int:
    """Return the first round of a stage that is not over; if all are over, the latest one.

    In a knockout a drawn pair is not over, and pairs of the next round are on beside those of this one.
    """
    rounds: list[int]
    if stage["bracket"]:
        slots = enumerate(stage["bracket"], 1)
        rounds = [number for number, each in slots if any(slot["winner"] is None for slot in each)]
    else:
        own = [each for each in report["pairings"] if each["stage"] == stage["number"]]
        rounds = [each["round"] for each in own if each["state"] == "waiting"]
    return min([*rounds, int(stage["round"])])


def progress(report: Json) -> Text:
    """Return a sentence on the state of a tournament."""
    if report["state"] == "over":
        return _winners(report)
    settings = report["settings"]
    if report["state"] == "open":
        begins: Text = ("when it is started",)
        if settings["start"] is not None:
            begins = ("at ", Part("time", moment(round(1000 * settings["start"]))))
        elif settings["players"] is not None:
            begins = (f"when {settings['players']} players are here",)
        entered = counted(report["players"], "player")
        return ("It begins ", *begins, f". {entered} {'has' if report['players'] == 1 else 'have'} entered.")
    stage = report["stages"][report["stage"] - 1]
    latest = [each for each in report["pairings"] if each["stage"] == stage["number"]]
    number = current_round(report, stage)
    place = f"{stage_title(report, stage['number'])}: " if stage["groups"] else ""
    if stage["format"] in ("swiss", "knockout") and not stage["groups"]:
        latest = [each for each in latest if each["round"] == number]
        place = round_title(stage, number)
        place += ": " if stage["format"] == "knockout" else f" of {stage['rounds']}: "
    over, total = sum(each["state"] == "over" for each in latest), len(latest)
    if stage["bracket"] and stage["round"]:  # a drawn pair is played again, as a further pairing
        slots = stage["bracket"][number - 1]
        met = [each for each in slots if number > 1 or None not in each["players"]]
        over, total = sum(each["winner"] is not None for each in met), len(met)
    text = f"{place}{over} of {counted(total, 'pair')} over."
    return (*(("Paused. ",) if report["state"] == "paused" else ()), text)


def following(report: Json) -> str:
    """Return a sentence on when the next round begins; empty if that is not known."""
    coming, settings = report["next"], report["settings"]
    if coming is None or report["state"] == "over":
        return ""
    stage = report["stages"][coming["stage"] - 1]
    if coming["stage"] != report["stage"]:
        what = f"The {_lower(stage_title(report, stage['number']))}"
    else:
        what = round_title(stage, coming["round"], single=True)
        if stage["format"] == "knockout":
            title = _lower(round_title(stage, coming["round"]))
            subject = "The final" if title == "final" else f"Each pair of the {title}"
            return f"{subject} begins when both of its players are known."
    if coming["at"] is not None:
        return f"{what} begins"
    waits_for = coming["waits_for"]
    if len(waits_for) == 1:
        return f"{what} waits for pair {waits_for[0]} only."
    return f"{what} begins {duration(settings['break']) + ' ' if settings['break'] else ''}after the last."


def came_through(report: Json) -> str:
    """Return a sentence on who plays in the second stage of a tournament; empty without one."""
    if not report["then"]:
        return ""
    first, second = report["stages"]
    title = "groups" if report["groups"] else "first stage"
    if second["state"] == "to come":
        following, most = f"the {_lower(stage_title(report, 2))}", report["settings"]["advance"]
        if not most:
            return f"All go on to {following}; the {title} decide{'' if report['groups'] else 's'} the seeds."
        verb = "goes" if most == 1 else "go"
        who = "The first" if most == 1 else f"The first {most}"
        return f"{who} of {'each group' if report['groups'] else 'all'} {verb} on to {following}."
    return (
        f"{second['players']} of {counted(first['players'], 'player')} came through the {title}; "
        "seeded by their place there."
    )


def _winners(report: Json) -> Text:
    if report["begun"] is None:
        return ("It ended before it began.",)
    end = "It was ended early" if report["ended_early"] else "It is over"
    first = [each["name"] for each in report["standings"] if each["rank"] == 1]
    if len(first) > 1:
        return (f"{end}; {len(first)} players share the first place.",)
    return (f"{end}; ", Part("linked", first[0]), " is first." if report["ended_early"] else " won.")


# A server.


def offer(addresses: Sequence[tuple[str, str]], *, plays: bool) -> Text:
    """Return a sentence with the addresses for bots; with `plays`, it also offers to play in the page.

    `addresses` are the URL and the title of each dialect.
    """
    if not addresses:
        return ()
    found = list[str | Part]()
    for place, (url, title) in enumerate(addresses, 1):
        found.append("Point a bot at " if place == 1 else " or " if place == len(addresses) else ", ")
        found += [Part("code", url), f" ({title})"]
    return [*found, *((", or ", Part("play", "play yourself")) if plays else ()), "."]
