"""c4bot and TLS: with a server whose certificate an authority of the tests' own has signed."""

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import certificates
import pytest
from worlds.server import EVERY_PORT, Served, served

from adapters.bot.__main__ import main
from gateway.access.accounts import Account, digest_of, new_token

pytestmark = [certificates.needs_openssl, pytest.mark.operation]

TOKEN = new_token()
SCHEMES = {"nac4": "wss", "arena": "wss", "droidcon": "tls"}


@dataclass(frozen=True)
class World:
    """A server that takes TLS only and protects the name ann."""

    gateway: Served
    ca: str

    def address(self, dialect: str, host: str = "127.0.0.1") -> str:
        return f"{SCHEMES[dialect]}://{host}:{self.gateway.port(dialect)}"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("tls")
    files, ca = certificates.signed(folder)
    (folder / "players").write_text(f"{Account('ann', digest_of(TOKEN)).line}\n")
    with served(
        *EVERY_PORT, "--tls-only", *files.options, "--players", str(folder / "players"), "--host", "0.0.0.0"
    ) as gateway:
        yield World(gateway, ca)
        status, err = gateway.stop()
    assert status == 0
    assert "ERROR" not in err
    assert TOKEN not in err


@pytest.fixture(autouse=True)
def token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("C4BOT_TOKEN", raising=False)


def botted(*arguments: str) -> tuple[int, str]:
    """Run c4bot to its end; return its exit status and what it says on stderr."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as err:
        status = main([*arguments, "--name", "ann", "--against", "random", "--engine", "random"])
    return status, err.getvalue()


@pytest.mark.parametrize("dialect", SCHEMES)
def test_bot_plays_by_tls_under_a_protected_name(
    world: World, dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    address = world.address(dialect)
    assert botted(dialect, address, "--ca", world.ca, "--token-file", str(tmp_path / "token"))[0] == 0
    status, err = botted(dialect, address, "--ca", world.ca)
    assert status == 1
    assert "the server refused: " in err
    monkeypatch.setenv("C4BOT_TOKEN", TOKEN)
    assert botted(dialect, world.address(dialect, "localhost"), "--ca", world.ca)[0] == 0


@pytest.mark.parametrize("dialect", SCHEMES)
def test_server_that_is_not_trusted_is_told_of_no_token(
    world: World, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("C4BOT_TOKEN", TOKEN)
    address = world.address(dialect)
    status, err = botted(dialect, address, "--reconnect")
    assert status == 1
    assert err == (
        f"c4bot: error: the certificate of {address.partition('//')[2]} is not trusted: no known authority"
        " has signed it. If that is in order, trust its authority by --ca FILE\n"
    )
    status, err = botted(dialect, world.address(dialect, "127.0.0.2"), "--ca", world.ca)
    assert status == 1
    assert "is not trusted: IP address mismatch" in err
    assert "--ca" not in err


def test_authority_that_the_system_trusts_needs_no_option(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", world.ca)
    monkeypatch.setenv("C4BOT_TOKEN", TOKEN)
    assert botted("nac4", world.address("nac4"))[0] == 0


def test_bot_without_tls_hears_that_it_is_wanted(world: World) -> None:
    for dialect in ("nac4", "arena"):
        status, err = botted(dialect, f"127.0.0.1:{world.gateway.port(dialect)}")
        assert status == 1
        assert err.endswith(": what answers there wants TLS, by wss://\n")
    status, err = botted("droidcon", f"127.0.0.1:{world.gateway.port('droidcon')}")
    assert (status, err) == (1, "c4bot: error: the server refused: TLS_REQUIRED\n")


def test_authority_that_is_of_no_use_is_refused(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty, pipe = tmp_path / "empty", tmp_path / "pipe"
    empty.touch()
    os.mkfifo(pipe)
    for address, ca, words in (
        ("127.0.0.1:1", world.ca, "--ca is of no use without an address that begins with wss:// or tls://"),
        ("wss://127.0.0.1:1", str(empty), f"--ca: {empty} has no certificate in PEM"),
        ("wss://127.0.0.1:1", str(tmp_path / "none"), "none: No such file or directory"),
        ("wss://127.0.0.1:1", str(pipe), "not a regular file"),
    ):
        with pytest.raises(SystemExit):
            main(["nac4", address, "--ca", ca])
        assert words in capsys.readouterr().err
