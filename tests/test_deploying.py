"""What deploys the server: files that name its options, ports and commands; the commands of the manual."""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import certificates
import pytest
import yaml
from worlds.server import PATIENCE, ROOT, Served, begun

from adapters.dialects import DIALECTS
from gateway.options.server import WEB_PORT, parse

pytestmark = pytest.mark.operation

UNIT = (ROOT / "deploy" / "c4gateway.service").read_text()
SOCKETS = (ROOT / "deploy" / "c4gateway.socket").read_text()
OPTIONS = ROOT / "deploy" / "c4gateway.toml"
IMAGE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
MANUAL = (ROOT / "docs" / "operation.md").read_text()
PORTS = [each.port for each in DIALECTS]
PORTS.insert(3, WEB_PORT)  # as the sockets of running servers have it
POSTGRES = os.environ.get("C4TEST_POSTGRES")
MOST_EXPOSED = 30
"""Tenths, on the scale of `systemd-analyze security`, which ends at 10."""


def image(word: str) -> list[str]:
    """Return what the Dockerfile says behind its last `word`."""
    return re.findall(rf"^{word} (.*)$", IMAGE, re.MULTILINE)


def in_unit(text: str, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)


def commands() -> dict[str, Sequence[str]]:
    """Return the command line of each file that has one."""
    (unit,) = in_unit(UNIT, "ExecStart")
    (entry,), (usual,) = image("ENTRYPOINT"), image("CMD")
    (process,) = (ROOT / "Procfile").read_text().splitlines()
    return {
        "unit": shlex.split(unit),
        "image": [*json.loads(entry), *json.loads(usual)],
        "compose": [*json.loads(entry), *COMPOSE["services"]["c4gateway"]["command"]],
        "process": shlex.split(process)[1:],
    }


@pytest.mark.parametrize("name", commands())
def test_command_line_is_one_that_the_server_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "5000")
    program, *arguments = commands()[name]
    assert Path(program).name == "c4gateway"
    arguments = [each.replace("/etc/c4gateway", str(ROOT / "deploy")) for each in arguments]
    options = parse(arguments, DIALECTS)
    assert options.host == ["0.0.0.0"]
    assert options.drain > 0


def test_ports_are_the_usual_ones_everywhere() -> None:
    assert [int(port) for port in in_unit(SOCKETS, "ListenStream")] == PORTS
    assert [int(port) for port in image("EXPOSE")[0].split()] == PORTS
    assert COMPOSE["services"]["c4gateway"]["ports"] == [f"{port}:{port}" for port in PORTS]


def test_containers_have_the_time_to_finish_their_games() -> None:
    limit = int(COMPOSE["services"]["c4gateway"]["stop_grace_period"].removesuffix("s"))
    assert limit >= parse(commands()["compose"][1:], DIALECTS).drain + 30


def test_files_beside_the_database_outlive_a_container() -> None:
    (place,) = image("VOLUME")
    (volume,) = COMPOSE["services"]["c4gateway"]["volumes"]
    assert volume.partition(":")[2] == place
    assert volume.partition(":")[0] in COMPOSE["volumes"]


def test_image_is_built_of_all_that_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hook = project["tool"]["hatch"]["metadata"]["hooks"]["custom"]["path"]
    needed = {"pyproject.toml", "README.md", hook, *project["project"]["license-files"]}
    needed |= {*project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    copied = [line for line in image("COPY") if not line.startswith("--from")]
    assert {name for line in copied for name in line.split()[:-1]} == needed
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line.removeprefix("!") for line in sent if line.startswith("!")} == needed


def test_image_has_what_options_of_the_server_need() -> None:
    assert any("'/source[cluster,postgres,metrics]'" in line for line in image("RUN"))


def test_image_does_not_run_as_root() -> None:
    assert image("USER") == ["c4gateway"]


# systemd.

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed"
)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return the unit as it would be where the command is that runs these tests."""
    program = Path(sys.executable).with_name("c4gateway")
    unit = tmp_path / "c4gateway.service"
    unit.write_text(UNIT.replace("/opt/c4gateway/bin/c4gateway", str(program)))
    (tmp_path / "c4gateway.socket").write_text(SOCKETS)
    return unit


def analyzed(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@needs_systemd
def test_units_are_sound(installed: Path) -> None:
    done = analyzed("verify", installed, installed.with_suffix(".socket"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_unit_is_hardened(installed: Path) -> None:
    done = analyzed("security", "--offline=true", f"--threshold={MOST_EXPOSED}", installed)
    assert done.returncode == 0, done.stdout


def test_unit_is_started_anew_for_as_long_as_it_takes() -> None:
    (pause,) = in_unit(UNIT, "RestartSec")
    assert float(pause) * 5 > 10  # by default systemd gives up after five starts in ten seconds
    assert in_unit(UNIT, "RestartPreventExitStatus") == ["2"]  # wrong options


def test_options_of_the_service_that_are_only_proposed_are_options_too() -> None:
    proposed = tomllib.loads(re.sub("^# (?=[a-z-]+ = )", "", OPTIONS.read_text(), flags=re.MULTILINE))
    assert {"players", "tls-cert", "tls-key", "metrics"} <= {*proposed}
    for key, value in proposed.items():
        assert parse(["--tls-cert=x", f"--{key}={value[0] if isinstance(value, list) else value}"], DIALECTS)


def test_manual_makes_what_the_unit_needs() -> None:
    making = manual("useradd")
    (user,), (command,) = in_unit(UNIT, "User"), in_unit(UNIT, "ExecStart")
    assert f" {user}\n" in making
    assert Path(command.split()[-1]).name == OPTIONS.name
    assert all((ROOT / name).is_file() for name in re.findall(r"deploy/[\w.-]+\w", MANUAL))


# The service's user, and what root lets it read.

USER = 4242  # whom nobody has to be
AS_USER = ("setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a directory of root's that hands its group on, where other users get to it."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.chown(place, 0, USER)
        place.chmod(0o2750)
        yield place


def can_be_another() -> bool:
    command = [*AS_USER, sys.executable, "-c", ""]
    return shutil.which("setpriv") is not None and subprocess.run(command, check=False).returncode == 0


@certificates.needs_openssl
@pytest.mark.skipif(os.getuid() != 0 or not can_be_another(), reason="not root, or Python is root's alone")
def test_server_of_another_user_reads_what_root_writes_before_and_after_a_reload(folder: Path) -> None:
    shell("c4gateway player add ann 2>&1", folder)
    old, new = certificates.make(folder, "old"), certificates.make(folder, "new")
    Path(old.key).chmod(0o640)
    command = [*AS_USER, sys.executable, "-m", "gateway", "--tcp", "0", "--no-web", "--db", "none"]
    command += ["--players", str(folder / "c4gateway.players"), *old.options]
    with begun(command, 1) as gateway:
        shell("c4gateway player add bob 2>&1; c4gateway ban eve 2>&1", folder)
        shell(f"install -m 640 -g {USER} new.pem old.pem; install -m 640 -g {USER} new.key old.key", folder)
        gateway.process.send_signal(signal.SIGHUP)
        gateway.await_log("reloaded: the players, the certificate")
        address = ("127.0.0.1", gateway.port("droidcon"))
        assert ssl.get_server_certificate(address) == Path(new.certificate).read_text()
        for name in ("ann", "bob", "eve"):
            with socket.create_connection(address, timeout=PATIENCE) as client:
                client.sendall(f"NAME {name}\n".encode())
                assert client.recv(99) == b"Error INVALID_COMMAND\n"


# Backup and restore.


def manual(words: str) -> str:
    """Return the commands of the manual that have `words` in them."""
    (found,) = (block for block in re.findall(r"```sh\n(.*?)```", MANUAL, re.DOTALL) if words in block)
    return str(found)


def shell(commands: str, place: Path) -> str:
    """Run commands as an operator does, with the command `c4gateway` in the path."""
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euc", f"PATH={shlex.quote(str(programs))}:$PATH\n{commands}"],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def play(gateway: Served, winner: str) -> None:
    """Let somebody win a game, by an illegal move of the opponent."""
    with (
        socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as loser,
        socket.create_connection(("127.0.0.1", gateway.port("droidcon")), timeout=PATIENCE) as other,
    ):
        for sock, name in ((loser, "loser"), (other, winner)):
            sock.sendall(f"NAME {name}\nJOIN x\n".encode())
            answers = sock.makefile("rb")
            assert [answers.readline(), answers.readline()] == [b"SUCCESS\n"] * 2
        loser.sendall(b"PUT 9\n")
        while other.recv(4096):
            pass


def running(place: Path) -> list[str]:
    return [sys.executable, "-m", "gateway", "--tcp", "0", "--no-web", "--db", str(place / "c4gateway.db")]


def test_backup_of_a_running_server_is_what_was_there_and_can_be_restored(tmp_path: Path) -> None:
    with begun(running(tmp_path), 1) as gateway:
        play(gateway, "ann")
        shell(manual("c4gateway backup"), tmp_path)
        before = shell("c4gateway export --format jsonl", tmp_path)
        play(gateway, "bob")
        assert gateway.stop()[0] == 0
    (tmp_path / "c4gateway.db-wal").write_bytes(b"what a crash left")
    shell(manual("rm -f"), tmp_path)
    assert shell("c4gateway export --format jsonl", tmp_path) == before
    assert before.count('"ann"') == 1
    with begun(running(tmp_path), 1) as gateway:
        play(gateway, "cid")
        assert gateway.stop()[0] == 0
    assert '"cid"' in shell("c4gateway standings --json", tmp_path)


@pytest.mark.skipif(
    not POSTGRES or None in map(shutil.which, ("psql", "pg_dump", "pg_restore")), reason="no PostgreSQL here"
)
def test_backup_of_postgresql_is_what_was_there_and_can_be_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert POSTGRES is not None
    name = f"backup_{os.getpid()}"
    monkeypatch.setenv("DB", urlsplit(POSTGRES)._replace(path=f"/{name}").geturl())
    shell(f"psql --quiet {shlex.quote(POSTGRES)} --command 'CREATE DATABASE {name}'", tmp_path)
    try:
        with begun([*running(tmp_path)[:-1], os.environ["DB"]], 1) as gateway:
            play(gateway, "ann")
            shell(manual("pg_dump"), tmp_path)
            before = shell('c4gateway export --db "$DB"', tmp_path)
            play(gateway, "bob")
            assert gateway.stop()[0] == 0
        shell(manual("pg_restore"), tmp_path)
        assert shell('c4gateway export --db "$DB"', tmp_path) == before
        assert before.count('"ann"') == 1
    finally:
        shell(f"psql --quiet {shlex.quote(POSTGRES)} --command 'DROP DATABASE {name}'", tmp_path)
