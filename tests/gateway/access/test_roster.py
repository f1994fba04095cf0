"""The roster of a class, as a spreadsheet writes it."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.access.accounts import fault_of
from gateway.access.roster import Member, like_one_of, members, read_roster
from gateway.game.commands import folded

BOTH = [("ann", "10a"), ("bob", "10b")]


def found(data: bytes | str) -> list[tuple[str, str]]:
    data = data if isinstance(data, bytes) else data.encode()
    return [(each.name, each.group) for each in members(data)]


@pytest.mark.parametrize(
    "data",
    [
        "ann,10a\nbob,10b\n",
        "ann;10a\nbob;10b",
        "ann\t10a\r\nbob\t10b\r\n",
        "ann,10a\rbob,10b\r",
        "name,group\nann,10a\nbob,10b\n",
        "NAME;Group\nann;10a\nbob;10b\n",
        "Group;Name\n10a;ann\n10b;bob\n",
        "No;Name;Mail;Group\n1;ann;a@x;10a\n2;bob;;10b\n",
        "\ufeffname,group\nann,10a\nbob,10b\n",
        "sep=;\r\nname;group\r\nann;10a\r\nbob;10b\r\n",
        "\n\nann,10a\n  \n,,\nbob,10b\n\n",
        '"ann", "10a"\n"bob",10b\n',
        "  ann ;  10a\nbob;10b;;\n",
        "name\tgroup\nann\t10a\nbob\t10b\n".encode("utf-16"),
    ],
)
def test_names_and_groups_are_read_whatever_the_spreadsheet(data: str | bytes) -> None:
    assert found(data) == BOTH


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ("ann\nbob\n", [("ann", ""), ("bob", "")]),
        ("Name\nann\n", [("ann", "")]),
        ("ann;\nbob;10b\n", [("ann", ""), ("bob", "10b")]),
        ("ann\nbob;10b\n", [("ann", ""), ("bob", "10b")]),
        ("Lovelace, Ada;10a\n", [("Lovelace, Ada", "10a")]),
        ('"Lovelace, Ada",10a\n', [("Lovelace, Ada", "10a")]),
        ('"the ""best""",10a\n', [('the "best"', "10a")]),
        ("name,group\na;b,10a\n", [("a;b", "10a")]),
        ("=1+1,10a\n", [("=1+1", "10a")]),
        ("u\u0308nal,10a\n", [("\u00fcnal", "10a")]),
    ],
)
def test_odd_names_and_missing_groups_are_read(data: str, names: list[tuple[str, str]]) -> None:
    assert found(data) == names


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("", "the file has no names; give each player a line with its name and its group"),
        (" \n;;\n", "the file has no names; give each player a line with its name and its group"),
        ("name;group\n", "the file has a header, but no names below it"),
        ("name;class\nann;10a\n", "line 1: the header has 'class', but no column group; call it so"),
        ("\nname;name;group\n", "line 2: the header has two columns name"),
        ("ann;10a;x\n", "line 1: there are 3 columns, not a name and a group; a first line with name and"),
        ("ann;10a\n;10b\n", "line 2: there is no name; add it, or remove the line"),
        ("ann\n\nann\n", "line 3: 'ann' is in line 1, too; each player needs a name of its own"),
        ("Ann;1\nANN;2\n", "line 2: 'ANN' is 'Ann' in line 1, which is the same name: case, width and"),
        ("ann\n\uff41nn\n", "line 2: '\uff41nn' is 'ann' in line 1, which is the same name"),
        ("corn\ncom\n", "line 2: 'com' looks like 'corn' in line 1; change one of them"),
        ("bot1\nb0t1\n", "line 2: 'b0t1' looks like 'bot1' in line 1; change one of them"),
        ("ann\nAIMA\n", "line 2: 'AIMA': this is a name of the server's own players; choose another name"),
        ("ann\n#1\n", "line 2: '#1': a line that begins with # is a comment"),
        ("ann\na\u202eb\n", "line 2: 'a\\u202eb': a name has visible characters only"),
        ('"a\nb"\nann\n', "line 1: 'a\\nb': a name has visible characters only"),
        ('"a\nb";1\nann;2;3\n', "line 1: 'a\\nb': a name has visible characters only"),
        ('name\n"a\n"\nAIMA\n', "line 4: 'AIMA': this is a name of the server's own players"),
        ("x" * 257, "line 1: 'xxx"),
        ("ann;" + "x" * 257, "line 1: the group of 'ann' is not up to 256 visible characters"),
        ("ann;a\u200bb", "line 1: the group of 'ann' is not up to 256 visible characters"),
        ('ann\n"bob"x\n', "line 2: "),
        ('ann\n"bob\n', "line 2: "),
        (b"ann\nb\xf6b\n", 'line 2: the file is not UTF-8; in Excel, save it as "CSV UTF-8"'),
        (b"\xff\xfea", 'the file is not UTF-8; in Excel, save it as "CSV UTF-8"'),
    ],
)
def test_fault_names_its_line_and_says_what_to_do(data: str | bytes, error: str) -> None:
    with pytest.raises(ValueError) as raised:
        found(data)
    assert str(raised.value).startswith(error)
    assert "\n" not in str(raised.value)


def read_or_fault(data: bytes) -> tuple[list[Member], str]:
    try:
        return members(data), ""
    except ValueError as error:
        return [], str(error)


NAMES = st.text(st.characters(codec="utf-8"), max_size=12)
ROWS = st.lists(st.tuples(NAMES, NAMES), max_size=6)


@given(ROWS, st.sampled_from(";,\t"), st.booleans(), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_what_is_read_is_what_was_written_or_a_fault_of_one_line(
    rows: list[tuple[str, str]], separator: str, header: bool, encoding: str
) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows([*([("Name", "GROUP")] if header else []), *rows])
    read, fault = read_or_fault(text.getvalue().encode(encoding))
    assert fault.isprintable()
    assert len({folded(each.name) for each in read}) == len(read)
    assert [each for each in read if fault_of(each.name)] == []
    if header and not fault:
        assert len(read) == sum(bool(name.strip() or group.strip()) for name, group in rows)


@given(st.binary(max_size=80))
def test_no_bytes_do_more_than_be_refused(data: bytes) -> None:
    read, fault = read_or_fault(data)
    assert bool(read) != bool(fault)
    assert fault.isprintable()


def test_name_that_looks_like_a_known_one_is_found_but_not_the_same_name() -> None:
    wanted = [Member("ann"), Member("com")]
    assert like_one_of(wanted, ["ANN", "corn"]) == (wanted[1], "corn")
    assert like_one_of(wanted, ["ANN", "COM"]) is None


def test_file_is_named_in_its_fault(tmp_path: Path) -> None:
    path = tmp_path / "class.csv"
    path.write_text("ann\nann\n")
    with pytest.raises(ValueError, match=r"class\.csv: line 2: 'ann' is in line 1, too"):
        read_roster(str(path))
    with pytest.raises(OSError, match="the roster"):
        read_roster(str(tmp_path / "other.csv"))
