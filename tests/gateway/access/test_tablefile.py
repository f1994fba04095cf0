"""Table files: how they are read and changed, and the log of changes."""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.access.tablefile import LONGEST, TableFile, all_audited, audited

HEADER = "# numbers\n"


def table(path: Path, *, is_optional: bool = False) -> TableFile[int]:
    return TableFile(str(path), HEADER, int, is_optional)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers"
    path.write_bytes(b"\xef\xbb\xbf# mine\r\n\n \t\n1\r\n#2\n3")
    return path


def add(path: Path, number: int) -> None:
    with table(path).locked() as locked:
        locked.add(str(number))


def test_rows_are_lines_but_for_comments_and_empty_ones_with_either_line_end(file: Path) -> None:
    assert table(file).rows() == [1, 3]


@pytest.mark.parametrize(
    ("line", "fault"), [(b"x", "invalid literal for int"), (b"\xff", "not UTF-8"), (b"9", "too many")]
)
def test_line_that_is_wrong_is_named_with_what_is_wrong(file: Path, line: bytes, fault: str) -> None:
    def take(number: int) -> None:
        if number > 3:
            raise ValueError("too many")

    file.write_bytes(file.read_bytes() + b"\n" + line)
    with pytest.raises(ValueError, match=fault) as refusal:
        table(file).read(take)
    assert str(refusal.value).startswith(f"{file}, line 7: ")


def test_file_that_is_not_there_has_no_rows_where_it_may_be_missing(tmp_path: Path) -> None:
    assert table(tmp_path / "none", is_optional=True).rows() == []
    with pytest.raises(FileNotFoundError, match="--players"):
        table(tmp_path / "none").rows()


def test_file_that_is_too_large_and_a_pipe_are_not_read(file: Path) -> None:
    file.write_bytes(b"#" * (LONGEST + 1))
    with pytest.raises(OSError, match="larger than"):
        table(file).rows()
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OSError, match="not a regular file"):
        table(file).rows()


def test_added_row_is_a_line_of_its_own_and_all_else_stays(file: Path) -> None:
    add(file, 4)
    assert file.read_bytes() == b"# mine\r\n\n \t\n1\r\n#2\n3\n4\n"
    with table(file).locked() as locked:
        locked.remove(1)
        locked.remove(2)
    assert file.read_bytes() == b"# mine\r\n\n \t\n#2\n3\n4\n"
    link = file.with_name("link")
    link.symlink_to(file)
    add(link, 5)
    assert (link.is_symlink(), table(file).rows()) == (True, [3, 4, 5])


def test_new_file_has_a_header_and_is_the_operator_s_alone(tmp_path: Path) -> None:
    file = tmp_path / "new"
    add(file, 1)
    assert file.read_text() == f"{HEADER}1\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    add(file, 2)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["new"]
    tmp_path.chmod(0o2750)  # a directory that hands its group on
    add(tmp_path / "other", 1)
    assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o640


def test_file_that_is_being_changed_is_no_other_command_s(file: Path) -> None:
    folder = os.open(file.parent, os.O_RDONLY)
    with table(file).locked(), pytest.raises(BlockingIOError):
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)


def test_change_that_fails_leaves_the_file_and_nothing_beside_it(file: Path) -> None:
    before = file.read_bytes()
    with pytest.raises(ValueError, match="invalid literal"), table(file).locked() as locked:
        locked.rewrite(lambda lines: [str(int(line)) for line in lines])
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


def test_logged_change_that_fails_takes_its_own_line_back(tmp_path: Path) -> None:
    log = tmp_path / "audit"
    with audited(str(log), "done"):
        pass
    with suppress(KeyError), audited(str(log), "failed"):
        assert "failed" in log.read_text()  # a full disk would have told so by now
        raise KeyError
    assert [line.split("\t")[2:] for line in log.read_text().splitlines()] == [["done"]]


def test_line_of_a_change_that_is_interrupted_stays_since_it_may_have_been_made(tmp_path: Path) -> None:
    log = tmp_path / "audit"
    with suppress(KeyboardInterrupt), audited(str(log), "interrupted"):
        raise KeyboardInterrupt
    assert [line.split("\t")[2:] for line in log.read_text().splitlines()] == [["interrupted"]]


def test_rows_are_exchanged_in_one_step_and_other_lines_stay(file: Path) -> None:
    with table(file).locked() as locked:
        locked.exchange([1, 7], ["4", "5"])
    assert file.read_text() == "# mine\n\n \t\n#2\n3\n4\n5\n"


def test_lines_of_several_changes_stay_or_go_together(tmp_path: Path) -> None:
    log = tmp_path / "audit"
    changes = [("player add", "ann"), ("player add", "bob")]
    with suppress(ValueError), all_audited(str(log), changes, user="op"):
        assert len(log.read_text().splitlines()) == 2
        raise ValueError
    assert log.read_text() == ""
    with all_audited(str(log), changes, user="op"):
        pass
    assert [line.split("\t")[1:] for line in log.read_text().splitlines()] == [
        ["op", *each] for each in changes
    ]
