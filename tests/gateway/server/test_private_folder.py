"""The folder of several workers: it goes at the end, and after a kill at the next start."""

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gateway.server.local_redis import private_folder

_HOLDS = """
import sys
from gateway.server.local_redis import private_folder
with private_folder() as folder:
    (folder / "redis.sock").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_folder_goes_at_the_end(place: Path) -> None:
    with private_folder() as folder:
        (folder / "redis.sock").touch()
        assert folder.stat().st_mode & 0o777 == 0o700
    assert [*place.iterdir()] == []


def test_folder_of_a_killed_process_goes_at_the_next_start_and_no_living_one_s(
    place: Path,
) -> None:
    command = [sys.executable, "-c", _HOLDS]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living,
    ):
        assert killed.stdout is not None
        assert living.stdout is not None
        left, used = (Path(each.stdout.readline().strip()) for each in (killed, living))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert left.exists()
        others = place / "c4gateway-other"
        others.mkdir()
        with private_folder() as folder:
            assert {*place.iterdir()} == {used, folder, others}
        living.communicate()
    assert [*place.iterdir()] == [others]
