"""The options about using several cores: how many workers there are, and the command line of each.

A worker is a server as any other, one node of a cluster on this machine; it shares the ports with the others.
Knows the options that tell workers apart. Does not know how they are run (`gateway.server.supervisor`).
"""

import argparse
import os
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.options.arguments import Description, Options, Parser, number
from gateway.options.clustering import LONGEST_NODE, host_name
from gateway.options.settings import DEFAULT, Settings

MOST = 256
"""Workers."""
WORKER = "C4_WORKER"
"""What the environment of a worker has, and that of other servers has not."""
ALONE = "alone"
"""Its value where the workers are a cluster of their own."""


def add_options(group: argparse._ArgumentGroup) -> None:
    """Add the options."""
    group.add_argument(
        "--workers",
        type=number(int, 1, MOST),
        default=1,
        metavar="N",
        help="start N such servers here, which share the ports, and a Redis server of their own if --cluster"
        " names none (on Linux)",
    )
    group.add_argument(
        "--share-ports",
        action="store_true",
        help="let other servers of this user listen on the same ports, too (SO_REUSEPORT)",
    )


def settle(parser: Parser, settled: Settings) -> None:
    """Refuse what workers cannot do, and fill in what they have in common."""
    options = settled.options
    if options.share_ports and not hasattr(socket, "SO_REUSEPORT"):
        parser.error("--share-ports: this system cannot do it")
    if options.workers == 1:
        return
    if sys.platform != "linux":
        parser.error("--workers: this system does not spread connections over processes; Linux does")
    options.share_ports = True
    options.node = options.node or f"{host_name()[: LONGEST_NODE - 12]}-{os.getpid()}"
    if len(_name(options, options.workers)) > LONGEST_NODE:
        parser.error(f"--node: with --workers a name has {LONGEST_NODE - 4} characters at most")
    for option, address in (("metrics", options.metrics), ("node-address", options.node_address)):
        if address is not None and address.port + options.workers - 1 > 65_535:
            parser.error(f"--{option}: each worker takes one port more, and these are not that many")
    if settled.sources["house_workers"] == DEFAULT:
        options.house_workers = max(1, options.house_workers // options.workers)


def wanted(options: Options, dialects: Sequence[Description], page: int | None) -> dict[str, int]:
    """Return the ports that workers share, by their options; `page` is the page's where one is wanted.

    Those for which sockets were handed over are left out.
    """
    ports = {"port": options.port, "web": page}
    ports |= {
        each.option: getattr(options, each.option) for each in dialects if each.name not in options.sockets
    }
    return {name: port for name, port in ports.items() if port is not None}


def arguments(
    options: Options, given: Sequence[str], index: int, ports: Mapping[str, int], registry: str | None
) -> list[str]:
    """Return the command line of a worker, the first having `index` 1, behind the name of the command.

    It is the one `given`, with what a worker has for itself. `registry` is the URL of the registry that the
    workers have for themselves, None where another one is named.
    """
    flags = [] if "--share-ports" in given else ["--share-ports"]
    own = {"workers": "1", "node": _name(options, index), "house-workers": str(options.house_workers)}
    own |= {} if registry is None else {"cluster": registry}
    own |= {name: str(port) for name, port in ports.items()}
    for option, address in (("metrics", options.metrics), ("node-address", options.node_address)):
        if address is not None:
            port = address.port + index - 1 if address.port else 0
            own[option] = str(replace(address, port=port))
    return [*_without(own, given), *flags, *(word for name in own for word in (f"--{name}", own[name]))]


def _without(names: Iterable[str], given: Sequence[str]) -> Iterator[str]:
    """Return a command line without some options, each of which has a value."""
    options, words = {f"--{name}" for name in names}, iter(given)
    for word in words:
        if word in options:
            next(words, None)
        elif word.partition("=")[0] not in options:
            yield word


def _name(options: Options, index: int) -> str:
    return f"{options.node}-{index}"
