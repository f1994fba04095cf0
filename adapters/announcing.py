"""What the server prints when it is ready: where to point a bot, and where results are kept.

Knows how the list of the dialects says that each is tried.
"""

from collections.abc import Sequence

from adapters.dialects import DIALECTS
from gateway.options.arguments import Options
from gateway.options.options import PAGE
from gateway.runtime.json_stderr import json_line
from gateway.runtime.notifying import READY, notify
from gateway.server import qr
from gateway.server.interfaces import own_addresses, reachable
from gateway.server.logs import log_start
from gateway.server.streams import write

METRICS = "metrics"
"""The name of the port for metrics."""


def announce(opened: Sequence[tuple[str, Sequence[str]]], place: str, options: Options) -> None:
    """Print where to point a bot, one line for each address, and where results are kept."""
    addresses = [(name, address) for name, where in opened for address in where]
    own = own_addresses()
    shown = [(name, each) for name, address in addresses for each in reachable(address, own)]
    lines = [_line(name, address, tls_only=options.tls_only) for name, address in shown]
    lines.append(f"{'results':9} {place}")
    if options.log_json:
        about = {"level": "info", "logger": __name__, "event": "announced"}
        write("".join(json_line(line, about) for line in lines))
    else:
        text = "".join(f"{line}\n" for line in lines)
        write(text + qr.below(text) if qr.is_shown(options) else text)
    log_start(addresses, place)
    notify(READY)


def _line(name: str, address: str, *, tls_only: bool) -> str:
    """Return an address, and what to try there."""
    examples = {each.name: (each.scheme, each.example) for each in DIALECTS}
    examples |= {
        PAGE: ("http", "games live, standings, play"),
        METRICS: ("http", "/metrics, for Prometheus"),
    }
    scheme, example = examples[name]
    host, _, port = address.rpartition(":")  # of a port with a path, which only URLs have, nothing is made
    shown = example.format(address=address, host=host.strip("[]"), port=port)
    scheme = f"{scheme}s" if scheme and tls_only and name != METRICS else scheme
    return f"{name:9} {f'{scheme}://{address}' if scheme else address:26} {shown}"
