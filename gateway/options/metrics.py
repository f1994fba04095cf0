"""The option for the port at which a monitoring system reads."""

import argparse
from dataclasses import dataclass
from importlib.util import find_spec

from gateway.options.arguments import number

_HOST = "127.0.0.1"
_to_port = number(int, 0, 65_535)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        """Return it as the option is written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the option for the port."""
    group.add_argument(
        "--metrics",
        type=_address,
        metavar="[HOST:]PORT",
        help=f"counts and durations for Prometheus, by HTTP under /metrics (on {_HOST}, without HOST)",
    )


def _address(text: str) -> Address:
    """Return where to listen. Raises ArgumentTypeError; also if prometheus-client is not installed."""
    host, has_host, port = text.rpartition(":")
    if not has_host:
        host = _HOST
    elif host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif not host or ":" in host:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, HOST:PORT or [HOST]:PORT")
    address = Address(host, int(_to_port(port)))
    if find_spec("prometheus_client") is None:
        raise argparse.ArgumentTypeError("it needs another package: pip install prometheus-client")
    return address
