"""The option for metrics."""

import sys

import pytest

from adapters.dialects import DIALECTS
from gateway.options import server
from gateway.runtime.addresses import Address


def parse(text: str) -> Address:
    address = server.parse([f"--metrics={text}"], DIALECTS).metrics
    assert address is not None
    return address


@pytest.mark.parametrize(
    ("text", "host", "port", "shown"),
    [
        ("9100", "127.0.0.1", 9100, "127.0.0.1:9100"),
        ("0", "127.0.0.1", 0, "127.0.0.1:0"),
        ("009100", "127.0.0.1", 9100, "127.0.0.1:9100"),
        ("0.0.0.0:9100", "0.0.0.0", 9100, "0.0.0.0:9100"),
        ("monitor:9100", "monitor", 9100, "monitor:9100"),
        ("[::1]:9100", "::1", 9100, "[::1]:9100"),
    ],
)
def test_address_is_on_this_machine_unless_it_has_a_host(text: str, host: str, port: int, shown: str) -> None:
    assert parse(text) == Address(host, port)
    assert str(parse(text)) == shown


@pytest.mark.parametrize("text", ["", "x", "host:", ":9100", "host:x", "1:2:3", "::1", "65536", "[::1]"])
def test_what_is_not_an_address_is_one_line(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(text)
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("c4gateway: error: argument --metrics: ")


def test_port_outside_its_range_is_told_the_range(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("70000")
    assert "'70000' is not a whole number from 0 to 65535" in capsys.readouterr().err


def test_without_the_library_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "prometheus_client", raising=False)
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(SystemExit):
        parse("9100")
    assert "pip install prometheus-client" in capsys.readouterr().err
