"""The runner as it is used: a command line, servers that it starts, reports, exit statuses."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest
from worlds.plugins import install

import conformance.__main__
from conformance import launch
from conformance.clauses import protocols_folder
from conformance.cli import Places, main
from conformance.dialects import DIALECTS, found

FAKE = Path(__file__).parent / "data" / "fake_gateway.py"
COMMAND = (sys.executable, str(FAKE), *(word for each in DIALECTS.values() for word in each.port))

GREETED = "a < options {rest}\n"
Write = Callable[..., None]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """An empty project, whose droidcon document has the clauses 1.1 and 1.2, and a fake gateway."""
    document = tmp_path / "adapters" / "droidcon" / "PROTOCOL.md"
    document.parent.mkdir(parents=True)
    document.write_text("# Droidcon\n\n**1.1** One.\n\nNot a clause: **9.9**\n\n**1.2** Two.\n")
    (tmp_path / "transcripts" / "droidcon").mkdir(parents=True)
    return Places(tmp_path / "transcripts", tmp_path / "adapters", COMMAND)


@pytest.fixture
def write(places: Places) -> Write:
    def write_one(topic: str, steps: str, head: str = "", clause: str = "1.1") -> None:
        text = f"# About {topic}.\nclause droidcon {clause}\nsource derived\n{head}client a droidcon\n{steps}"
        (places.transcripts / "droidcon" / f"{topic}.txt").write_text(text)

    return write_one


def test_run_without_words_plays_all_and_counts(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED)
    write("one", "a < options --rounds 1\n", "needs --rounds 1\n", clause="1.2")
    write("two", "a < options --clock 2 --rounds 1\n", "needs --rounds 1 --clock 2\n", clause="1.2")
    assert main([], places) == 0
    captured = capsys.readouterr()
    assert captured.out == (
        "droidcon\n"
        "  1.1  passed  (droidcon/plain)\n"
        "  1.2  passed  (droidcon/one, droidcon/two)\n"
        "\n"
        "3 passed, 0 failed, 0 skipped\n"
    )
    assert captured.err == ""


def test_failure_is_told_with_its_place_and_the_exchange(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(places.transcripts.parent)
    write("wrong", "# a comment\na < options none\n", clause="1.1 1.2")
    assert main([], places) == 1
    out = re.sub(r"[0-9]+\.[0-9]{3}  ", "TIME  ", capsys.readouterr().out)
    assert out == (
        "droidcon\n"
        "  1.1  FAILED  (droidcon/wrong)\n"
        "  1.2  FAILED  (droidcon/wrong)\n"
        "\n"
        "FAILED droidcon/wrong: About wrong.\n"
        "  at        transcripts/droidcon/wrong.txt:6\n"
        "  clauses   droidcon 1.1, droidcon 1.2 (derived)\n"
        "  expected  a < options none\n"
        '  got       a <bytes "options \\n"\n'
        "  because   they differ from character 9 on\n"
        "  the exchange so far, in seconds:\n"
        "    TIME  a connects\n"
        '    TIME  a <bytes "options \\n"\n'
        "\n"
        "0 passed, 1 failed, 0 skipped\n"
    )


def test_clause_without_a_transcript_fails_the_run(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED)
    assert main([], places) == 1
    assert capsys.readouterr().out == (
        "droidcon\n"
        "  1.1  passed  (droidcon/plain)\n"
        "  1.2  no transcript cites it\n"
        "\n"
        "1 clause without a transcript:\n"
        "  droidcon 1.2\n"
        "\n"
        "1 passed, 0 failed, 0 skipped\n"
    )


def test_chosen_transcripts_are_played_without_the_clause_check(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED)
    write("wrong", "a < X\n")
    assert main(["droidcon/plain"], places) == 0
    assert capsys.readouterr().out == (
        "droidcon\n  1.1  passed  (droidcon/plain)\n\n1 passed, 0 failed, 0 skipped\n"
    )


def test_check_alone_needs_no_server(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = Places(places.transcripts, places.protocols, ("/no/such/command",))
    write("plain", GREETED)
    assert main(["--check"], nowhere) == 1
    assert capsys.readouterr().out == "1 clause without a transcript:\n  droidcon 1.2\n"
    write("other", GREETED, clause="1.2")
    assert main(["--check"], nowhere) == 0
    assert capsys.readouterr().out == "all 2 clauses have a transcript\n"


def test_clause_that_does_not_exist_is_an_error(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED, clause="1.1 1.2 9.9")
    assert main(["--check"], places) == 1
    path = places.transcripts / "droidcon" / "plain.txt"
    assert capsys.readouterr().out == f"The clause check found:\n  {path}: there is no clause droidcon 9.9\n"


def test_documents_that_number_badly_are_told(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert places.protocols is not None
    twice = places.protocols / "droidcon" / "PROTOCOL.md"
    twice.write_text("**1.1** One.\n\n**1.1** Two.\n")
    bare = places.protocols / "nac4" / "PROTOCOL.md"
    bare.parent.mkdir()
    bare.write_text("1.1 One.\n")
    assert main(["--check"], places) == 1
    assert capsys.readouterr().out == (
        "The clause check found:\n"
        f"  {twice}: clause 1.1 stands there twice\n"
        f"  {bare}: no clause begins with its number, as in **1.1**\n"
        "\n"
        "1 clause without a transcript:\n"
        "  droidcon 1.1\n"
    )


def test_broken_transcript_fails_and_the_others_are_played(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(places.transcripts.parent)
    write("broken", "b > X\n")
    write("plain", GREETED, clause="1.1 1.2")
    assert main([], places) == 1
    out = capsys.readouterr().out
    assert (
        "FAILED droidcon/broken: not a transcript\n"
        "  transcripts/droidcon/broken.txt:5: there is no client 'b'\n"
        "\n"
        "1 passed, 1 failed, 0 skipped\n"
    ) in out
    assert main(["--check"], places) == 1
    assert "broken.txt:5: there is no client 'b'\n" in capsys.readouterr().out


def test_list_shows_what_there_is(places: Places, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("broken", "b > X\n")
    write("one", GREETED, "needs --rounds 1\n", clause="1.1 1.2")
    assert main(["--list"], places) == 1
    assert capsys.readouterr().out == (
        "droidcon/broken\n"
        "    broken: line 5: there is no client 'b'\n"
        "droidcon/one\n"
        "    About one.\n"
        "    derived; droidcon 1.1, droidcon 1.2; needs --rounds 1\n"
    )
    assert main(["--list", "droidcon/one"], places) == 0


def test_given_targets_skip_what_cannot_be_played_there(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("both", GREETED, "client b nac4\n")
    write("other", GREETED, "needs --clock 1.0\n", clause="1.2")
    assert main(["droidcon=127.0.0.1:1"], places) == 0
    assert capsys.readouterr().out == (
        "droidcon\n"
        "  1.1  skipped: needs a target for nac4  (droidcon/both)\n"
        "  1.2  skipped: needs a server started with --clock 1.0  (droidcon/other)\n"
        "\n"
        "Skipped:\n"
        "  droidcon/both: needs a target for nac4\n"
        "  droidcon/other: needs a server started with --clock 1.0\n"
        "\n"
        "0 passed, 0 failed, 2 skipped\n"
    )


def test_clock_of_a_target_lets_play_what_needs_it(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("any", "a closed\n", "clock 1.0\n")
    write("this", "a closed\n", "needs --clock 1.0\n")
    write("another", "a closed\n", "needs --clock 2\n")
    write("more", "a closed\n", "clock 1.0\nneeds --rounds 1\n", clause="1.2")
    assert main(["droidcon=127.0.0.1:1", "--clock", "1"], places) == 1
    out = capsys.readouterr().out
    assert "FAILED droidcon/any" in out
    assert "FAILED droidcon/this" in out
    assert "droidcon/another: needs a server started with --clock 2\n" in out
    assert "droidcon/more: needs a server started with --clock 1.0 --rounds 1\n" in out


def test_target_is_played_against_as_given(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED, clause="1.1 1.2")
    with subprocess.Popen([*COMMAND, "--mute"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[2].strip(",")
        try:
            assert main([f"droidcon={address}"], places) == 0
        finally:
            server.terminate()
    assert capsys.readouterr().out.endswith("\n1 passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize(
    ("steps", "needs", "trouble", "counts"),
    [
        (
            GREETED,
            "--refuse",
            "the server started with --refuse exited with status 2 before it named its addresses;"
            " its stderr:\nno such option: --refuse",
            "0 passed, 0 failed, 1 skipped",
        ),
        (
            GREETED,
            "--mute",
            "the server started with --mute did not name its addresses within 1 s; its stderr is empty",
            "0 passed, 0 failed, 1 skipped",
        ),
        (
            f"{GREETED}a > DIE\na closed\n",
            "",
            "the server died with status 7 while transcripts were played; its stderr:\ndying as asked",
            "1 passed, 0 failed, 0 skipped",
        ),
        (
            GREETED,
            "--sour",
            "the server started with --sour exited with status 3 after SIGTERM; its stderr is empty",
            "1 passed, 0 failed, 0 skipped",
        ),
    ],
    ids=["refuses to start", "names no address", "dies", "stops with an error"],
)
def test_server_that_misbehaves_is_told_with_its_stderr(
    steps: str,
    needs: str,
    trouble: str,
    counts: str,
    places: Places,
    write: Write,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if needs == "--mute":
        monkeypatch.setattr(launch, "START_SECONDS", 1.0)
    write("plain", steps, f"needs {needs}\n" if needs else "", clause="1.1 1.2")
    assert main([], places) == 1
    assert capsys.readouterr().out.endswith(f"TROUBLE: {trouble}\n\n{counts}\n")


async def test_no_password_of_a_database_is_said() -> None:
    refused = pytest.RaisesExc(launch.ServerError, match="started with --db URL exited with status 3 before")
    with pytest.RaisesGroup(refused):
        async with launch.running(
            ["--db", "postgresql://me:secret@here/c4"], [sys.executable, "-c", "exit(3)"]
        ):
            pass


def test_reports_for_machines_say_the_same(
    places: Places, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED)
    write("wrong", 'a <bytes "options\\x00"\n')
    files = ["--json", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    assert main(["droidcon", *files], places) == 1
    assert main(files, places) == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["passed"], report["failed"], report["skipped"], report["good"]) == (1, 1, 0, False)
    assert report["uncovered"] == ["droidcon 1.2"]
    assert report["clauses"][0] == {
        "dialect": "droidcon",
        "number": "1.1",
        "verdict": "FAILED",
        "transcripts": ["droidcon/plain", "droidcon/wrong"],
    }
    wrong = report["transcripts"][1]
    assert (wrong["id"], wrong["outcome"], wrong["line"]) == ("droidcon/wrong", "failed", 5)
    assert (wrong["expected"], wrong["because"]) == (
        'a <bytes "options\\x00"',
        "they differ from byte 8 on",
    )
    suites = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert [(s.get("name"), s.get("tests"), s.get("failures")) for s in suites] == [
        ("droidcon", "2", "1"),
        ("clauses", "1", "1"),
    ]
    failure = suites.find("./testsuite/testcase[@name='wrong']/failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("line 5: expected: a <bytes")
    assert "a connects" in (failure.text or "")


def test_reports_for_machines_tell_skips_and_trouble(
    places: Places, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED, "needs --refuse\n", clause="1.1 1.2")
    files = ["--json", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    assert main(["droidcon", *files], places) == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["skipped"], report["uncovered"], len(report["troubles"])) == (1, None, 1)
    assert report["transcripts"][0]["reason"] == "its server did not start"
    suites = ElementTree.parse(tmp_path / "r.xml").getroot()
    assert [(s.get("name"), s.get("failures"), s.get("skipped")) for s in suites] == [
        ("droidcon", "0", "1"),
        ("servers", "1", "0"),
    ]


def test_documents_are_those_of_the_installed_adapters() -> None:
    folder = protocols_folder()
    assert folder is not None
    assert (folder / "droidcon").is_dir()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["foo=1:2"], f"'foo=1:2': 'foo' is no dialect; there are {', '.join(DIALECTS)}"),
        (["nac4=localhost"], "'localhost' is no address; write HOST:PORT"),
        (["nac4=localhost:99999"], "'localhost:99999': Port out of range 0-65535"),
        (["nac4=wss://h:1"], "'wss://h:1': a nac4 server is reached by ws://, not by wss://"),
        (["droidcon=ws://h:1"], "'ws://h:1': a droidcon server is reached by tcp://, not by ws://"),
        (["droidcon=h:1/x"], "'h:1/x': a droidcon server has no path"),
        (["nac4=h:1", "nac4=h:2"], "two targets for nac4"),
        (["droidcon/plane"], "there is no transcript 'droidcon/plane'; did you mean droidcon/plain?"),
        (["--clock", "10"], "--clock and --delay are of a target, and there is none"),
        (["--delay", "1"], "--clock and --delay are of a target, and there is none"),
        (["--patience", "0"], "argument --patience: '0' is no number of seconds above 0"),
        (["--patience", "soon"], "argument --patience: 'soon' is no number of seconds above 0"),
        (["--json", "/no/such/place/x"], "argument --json: no file can be written at '/no/such/place/x'"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    places: Places, write: Write, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    write("plain", GREETED)
    assert main(words, places) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"conformance: {message} (--help tells more)\n"


def test_nothing_to_play_or_to_check_is_no_success(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], places) == 2
    expected = f"conformance: there are no transcripts in {places.transcripts} (--help tells more)\n"
    assert capsys.readouterr().err == expected
    empty = places.transcripts.parent / "nothing"
    assert main(["--check"], Places(places.transcripts, empty)) == 1
    assert capsys.readouterr().out == f"The clause check found:\n  no PROTOCOL.md under {empty}\n"


def lab_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> str:
    """Make a laboratory whose `engines` does what the words say; return its name."""
    name = f"lab_of_{tmp_path.name}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "engines.py").write_text(f"def main(argv):\n    {words}\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_first_word_may_name_a_command_of_the_laboratory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = lab_of_one(tmp_path, monkeypatch, "return len(argv)")
    assert conformance.__main__.main(["engines", "a", "b"], lab) == 2


def test_interruption_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = lab_of_one(tmp_path, monkeypatch, "raise BaseExceptionGroup('a nursery', [KeyboardInterrupt()])")
    assert conformance.__main__.main(["engines"], lab) == 130
    assert capsys.readouterr().err == "conformance: interrupted\n"


def test_installed_package_says_that_the_laboratory_needs_the_source_tree(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert conformance.__main__.main(["measure", "bench"], "conformance_lab_that_is_not_there") == 2
    assert "measure needs the source tree" in capsys.readouterr().err


@pytest.mark.parametrize("module", sorted(conformance.__main__.COMMANDS.values()))
def test_every_command_of_the_laboratory_is_there(module: str) -> None:
    assert callable(import_module(f"conformance.lab.{module}").main)


def test_command_runs_as_a_module() -> None:
    words = [sys.executable, "-m", "conformance", "--nonsense"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "conformance: unrecognized arguments: --nonsense (--help tells more)\n"


# Plug-ins.

SCRIPT = """
from conformance.dialects.droidcon import Droidcon
from conformance.dialects.script import Dialect
from conformance.steps import Manner

DIALECT = Dialect({name!r}, "tcp", {{"": Manner.LINES}}, {{"knock": Droidcon}})
"""
KNOCK = "# About knocking.\nclause knock 1.1\nsource derived\nclient a knock\n" + GREETED


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield the folder of the package ``c4knock``. Its module with the dialect must not be imported."""
    site = tmp_path / "site"
    install(site, "c4knock", "c4gateway.dialects", {"knock": "c4knock.dialect:DIALECT"}, {})
    folder = site / "c4knock"
    (folder / "transcripts" / "knock").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('imported')")
    (folder / "PROTOCOL.md").write_text("**1.1** One.\n\n**1.2** Two.\n")
    (folder / "transcripts" / "knock" / "plain.txt").write_text(KNOCK)
    monkeypatch.syspath_prepend(site)
    found.cache_clear()
    yield folder
    found.cache_clear()


@pytest.mark.parametrize("place", [".", "knock"])
def test_transcripts_and_clauses_of_a_plug_in_are_found_beside_its_script(
    place: str, plugged: Path, places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED, clause="1.1 1.2")
    (plugged / place).mkdir(exist_ok=True)
    (plugged / place / "script.py").write_text(SCRIPT.format(name="knock"))
    for each in ("PROTOCOL.md", "transcripts"):
        (plugged / each).rename(plugged / place / each)
    assert main([], places) == 1
    captured = capsys.readouterr()
    assert captured.out == (
        "droidcon\n"
        "  1.1  passed  (droidcon/plain)\n"
        "  1.2  passed  (droidcon/plain)\n"
        "\n"
        "knock\n"
        "  1.1  passed  (knock/plain)\n"
        "  1.2  no transcript cites it\n"
        "\n"
        "1 clause without a transcript:\n"
        "  knock 1.2\n"
        "\n"
        "2 passed, 0 failed, 0 skipped\n"
    )
    assert captured.err == ""


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (SCRIPT.format(name="other"), "TypeError: its DIALECT is not the Dialect of the name 'knock'"),
        ("", "AttributeError: "),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("def (", "SyntaxError: "),
    ],
)
def test_script_of_a_plug_in_that_fails_costs_one_line(
    script: str,
    words: str,
    plugged: Path,
    places: Places,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("plain", GREETED, clause="1.1 1.2")
    (plugged / "script.py").write_text(script)
    assert main([], places) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith("\n1 passed, 0 failed, 0 skipped\n")
    [line] = captured.err.splitlines()
    assert f"the plug-in 'knock' is left out, since {plugged / 'script.py'} fails: {words}" in line


@pytest.mark.parametrize("name", ["knock", "nac4"])
def test_plug_in_without_a_script_or_with_a_name_that_is_taken_is_none_of_the_runners(
    name: str, plugged: Path, places: Places, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("plain", GREETED, clause="1.1 1.2")
    if name == "nac4":
        (plugged / "script.py").write_text(SCRIPT.format(name=name))
        points = plugged.parent / "c4knock-1.0.dist-info" / "entry_points.txt"
        points.write_text("[c4gateway.dialects]\nnac4 = c4knock.dialect:DIALECT\n")
    assert main([], places) == 0
    assert capsys.readouterr().err == ""
