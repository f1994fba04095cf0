"""The command line of each worker of a server that uses several cores.

A worker is a server as any other, one node of a cluster on this machine; it shares the ports with the others.
Knows the options that tell workers apart. Does not know how they are run (`gateway.server.supervisor`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from gateway.options.server import ServerOptions

WORKER = "C4_WORKER"
"""What the environment of a worker has, and that of other servers has not."""
ALONE = "alone"
"""Its value where the workers are a cluster of their own."""


def arguments(
    options: ServerOptions, given: Sequence[str], index: int, ports: Mapping[str, int], registry: str | None
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


def _name(options: ServerOptions, index: int) -> str:
    return f"{options.node}-{index}"
