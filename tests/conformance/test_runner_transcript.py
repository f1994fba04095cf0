"""Reading transcripts: what they say, and the words for what they should not say."""

from pathlib import Path

import pytest

from conformance import steps
from conformance.dialects import DIALECTS
from conformance.library import choose, load
from conformance.steps import Clause, Client, Form, Line, Manner, Transcript
from conformance.transcript import TranscriptError, parse

DATA = Path(__file__).parent / "data" / "transcripts"
HEAD = """\
# Title
clause droidcon 3.1
source derived
client a droidcon
client n nac4
client j arena
"""


def read(text: str) -> Transcript:
    return parse(text, "nac4/topic", Path("topic.txt"))


def step(line: str) -> steps.Step:
    return read(HEAD + line).lines[0].step


def test_head_says_who_and_why_and_with_which_options() -> None:
    transcript = read(
        "# Title\n# more\n\nclause nac4 3.1 3.10\nclause arena 2.1\nsource recorded, but for the blanks\n"
        "needs --rounds 1 --clock 2\nneeds --alpha\n"
        "client a nac4 /?against={b}\nclient b arena edn\nclient c nac4 raw\nclient d droidcon\n"
        "\n  wait 0.5  \n"
    )
    assert transcript.title == "Title"
    assert transcript.source == "recorded, but for the blanks"
    assert transcript.clauses == (Clause("nac4", "3.1"), Clause("nac4", "3.10"), Clause("arena", "2.1"))
    assert transcript.needs == ("--alpha", "--clock", "2", "--rounds", "1")
    assert transcript.clients == (
        Client("a", "nac4", Manner.TEXT, "/?against={b}"),
        Client("b", "arena", Manner.EDN),
        Client("c", "nac4", Manner.RAW),
        Client("d", "droidcon", Manner.LINES),
    )
    assert transcript.lines == (Line(14, "wait 0.5", steps.Wait("0.5")),)
    assert transcript.dialects == {"nac4", "arena", "droidcon"}
    assert (transcript.clock, transcript.any_clock) == (2.0, False)


def test_clock_is_an_option_that_a_server_need_not_have() -> None:
    transcript = read(f"clock 1.0\n{HEAD}wait clock-0.4\na silent clock")
    assert transcript.needs == ("--clock", "1.0")
    assert (transcript.clock, transcript.any_clock) == (1.0, True)
    assert [line.step for line in transcript.lines] == [
        steps.Wait("clock-0.4"),
        steps.Silent("a", "clock"),
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a > NAME {a}", steps.Sends("a", Form.PLAIN, "NAME {a}")),
        ("a   >  two", steps.Sends("a", Form.PLAIN, " two")),
        ("a >", steps.Sends("a", Form.PLAIN, "")),
        ("a < PUT 3", steps.Hears("a", Form.PLAIN, "PUT 3")),
        ("a <", steps.Hears("a", Form.PLAIN, "")),
        ("a < a > b", steps.Hears("a", Form.PLAIN, "a > b")),
        (r'a >bytes "NA\xff"', steps.Sends("a", Form.BYTES, r'"NA\xff"')),
        (r'a <bytes "X \n"', steps.Hears("a", Form.BYTES, r'"X \n"')),
        (r"n >binary connect {n}\r\n", steps.Sends("n", Form.BINARY, r"connect {n}\r\n")),
        ('n >text "{x}"'.replace("{x}", r"\x7bx}"), steps.Sends("n", Form.TEXT, r'"\x7bx}"')),
        ('n <text "x "', steps.Hears("n", Form.TEXT, '"x "')),
        ('j < {"type":"end"}', steps.Hears("j", Form.PLAIN, '{"type":"end"}')),
        ('j <edn {:type "end"}', steps.Hears("j", Form.EDN, '{:type "end"}')),
        ("a silent 0.3", steps.Silent("a", "0.3")),
        ("wait 2", steps.Wait("2")),
        ("a connects", steps.Connects("a")),
        ("a leaves", steps.Leaves("a")),
        ("a resets", steps.Resets("a")),
        ("a closed", steps.Closed("a")),
        ("n closed 1008", steps.Closed("n", 1008)),
        ("a ignores the rest", steps.IgnoresTheRest("a")),
    ],
)
def test_steps_read_as_they_are_written(line: str, expected: steps.Step) -> None:
    assert step(line) == expected


def test_lot_gives_two_names_that_may_speak() -> None:
    text = HEAD + "client b arena\nlot p q from j b on {}\np < {}\nq < {}\n"
    assert read(text).lines[0].step == steps.Lot(("p", "q"), ("j", "b"), "{}")


def test_lot_may_be_drawn_again_between_the_same_two() -> None:
    text = HEAD + "client b arena\nlot p q from j b on {}\nlot r s from q p on {}\ns < {}\n"
    assert read(text).lines[1].step == steps.Lot(("r", "s"), ("q", "p"), "{}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x > hello", "there is no client 'x'"),
        ("hello", "there is no client 'hello'"),
        ("a jumps", "not understood: 'a jumps'"),
        ("a silent", "not understood: 'a silent'"),
        ("a silent long", "'long' is no number of seconds, nor clock, nor clock less seconds"),
        ("wait", "'' is no number of seconds, nor clock, nor clock less seconds"),
        ("wait clock+1", "'clock+1' is no number of seconds, nor clock, nor clock less seconds"),
        ("a closed 1008", "not understood: 'a closed 1008'"),
        ("n closed 99", "not understood: 'n closed 99'"),
        ("a >NAME x", "'NAME' behind an arrow means nothing; a blank comes first"),
        ("a >text x", "a is droidcon on plain TCP: >text has no meaning there"),
        ("n <bytes x", "n is nac4 on a websocket: <bytes has no meaning there"),
        ("n <json {}", "n is nac4 on a websocket: <json has no meaning there"),
        ("j >json {}", "j is arena on a websocket: >json has no meaning there"),
        ("a > {tabel}", "unknown placeholder {tabel}"),
        ("a < {p}", "unknown placeholder {p}"),
        ('j < {"type"}', "no JSON: Expecting ':' delimiter: line 1 column 8 (char 7)"),
        ("a >bytes ł", "'ł' is no byte; write its bytes as \\x.."),
        (r"n >text \ud800", "a lone surrogate fits in no text frame"),
        ("lot p q from a", "expected: lot P Q from A B on MESSAGE"),
        ("lot p q from a n on X", "a lot is drawn between two clients who speak the same"),
        ("a leaves\na > X", "a has left; a client that comes back needs a name of its own, and may say {a}"),
        ("wait 1\nclient b nac4", "'client' belongs above the first step"),
    ],
)
def test_step_that_makes_no_sense_is_told_with_its_line(line: str, message: str) -> None:
    with pytest.raises(TranscriptError) as raised:
        read(HEAD + line)
    assert str(raised.value) == message
    assert raised.value.number == 7 + line.count("\n")


@pytest.mark.parametrize(
    ("text", "number", "message"),
    [
        ("clause nac4", 1, "expected a dialect and clause numbers such as: clause nac4 3.1 3.2"),
        ("clause nac4 x", 1, "expected a dialect and clause numbers such as: clause nac4 3.1 3.2"),
        (
            "\nsource hearsay",
            2,
            "a source is 'recorded' (from an original) or 'derived' (from its documents)",
        ),
        ("clock soon", 1, "expected seconds behind --clock, with one decimal at most"),
        ("needs --rounds 1 --clock", 1, "expected seconds behind --clock, with one decimal at most"),
        ("needs rounds", 1, "expected options of the gateway such as: needs --rounds 1"),
        ("client a", 1, f"'' is no dialect; there are {', '.join(DIALECTS)}"),
        ("client", 1, "'' is not a name; a name is a lower case letter, then letters and digits"),
        ("client A nac4", 1, "'A' is not a name; a name is a lower case letter, then letters and digits"),
        ("client table nac4", 1, "nobody may be called 'table'; the word has a meaning of its own"),
        ("client lot nac4", 1, "nobody may be called 'lot'; the word has a meaning of its own"),
        ("client a nac4\nclient a arena", 2, "there is a 'a' already"),
        ("client a nac4 edn", 1, "nac4 is not spoken in a manner called 'edn'"),
        ("client a nac4 / x", 1, "not understood: 'x'"),
        ("client a droidcon /x", 1, "not understood: '/x'"),
        ("client a nac4 /{b}\nclause nac4 1.1\nsource derived\na > x", 1, "unknown placeholder {b}"),
        ("client a nac4\nsource derived\na > x", 3, "it cites no clause; write for example: clause nac4 3.1"),
        ("clause nac4 1.1", 1, "it does not say its source; write: source recorded, or: source derived"),
        ("clause nac4 1.1\nsource derived", 2, "it has no step"),
    ],
)
def test_head_that_makes_no_sense_is_told_with_its_line(text: str, number: int, message: str) -> None:
    with pytest.raises(TranscriptError) as raised:
        read(text)
    assert (raised.value.number, str(raised.value)) == (number, message)


def test_broken_file_does_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "nac4").mkdir()
    (tmp_path / "nac4" / "bad.txt").write_text("nonsense\n")
    (tmp_path / "nac4" / "good.txt").write_text(HEAD + "wait 1\n")
    (tmp_path / "nac4" / "worse.txt").write_bytes(b"\xff")
    bad, good, worse = load(tmp_path)
    assert isinstance(good, Transcript)
    assert bad == steps.Broken("nac4/bad", tmp_path / "nac4/bad.txt", 1, "there is no client 'nonsense'")
    assert worse == steps.Broken("nac4/worse", tmp_path / "nac4/worse.txt", 1, "the file is not UTF-8")


def test_one_is_chosen_by_id_and_many_by_folder() -> None:
    everything = load(DATA)
    assert [t.id for t in choose(everything, [])] == ["arena/lot", "droidcon/rounds", "nac4/opening"]
    assert [t.id for t in choose(everything, ["nac4", "arena/lot"])] == ["arena/lot", "nac4/opening"]


def test_unknown_id_is_told_with_what_may_have_been_meant() -> None:
    with pytest.raises(
        ValueError, match=r"there is no transcript 'nac4/openning'; did you mean nac4/opening\?"
    ):
        choose(load(DATA), ["nac4/openning"])
    with pytest.raises(ValueError, match=r"there is no transcript 'zzz'; --list shows what there is"):
        choose(load(DATA), ["zzz"])
