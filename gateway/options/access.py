"""The options about who may come in, and how much one client may take.

Knows how they are written and which contradict. Does not know what becomes of them (`gateway.access`).
"""

import argparse
from ipaddress import IPv4Network, IPv6Network, ip_network

from gateway.options.arguments import Parser, number
from gateway.options.command_names import PLAYERS_FILE

PER_ADDRESS = 512
"""Connections that may be open from one address."""
CONNECTS = 200
"""Connections a second that one address may open."""
MESSAGES = 5_000
"""Messages a second that are read of one connection."""
MESSAGE_BURST = 10_000
"""Messages that are read of one connection at once."""
ALL_ORIGINS = "*"
"""Stands for all websites among those that may read the API. It opens no websocket."""


def add_tls_options(group: argparse._ArgumentGroup) -> None:
    """Add the options about TLS."""
    group.add_argument(
        "--tls-cert",
        metavar="FILE",
        help="a certificate with its chain, in PEM: all ports take TLS then, too (wss, https, TCP over TLS)",
    )
    group.add_argument("--tls-key", metavar="FILE", help="its key, in PEM, if it is not in the same file")
    group.add_argument("--tls-only", action="store_true", help="refuse clients without TLS")


def settle_tls(parser: Parser, options: argparse.Namespace) -> None:
    """Refuse options that mean nothing without a certificate."""
    for option, is_given in (("--tls-key", options.tls_key is not None), ("--tls-only", options.tls_only)):
        if is_given and options.tls_cert is None:
            parser.error(f"{option} is of no use without --tls-cert")


def add_proxy_options(group: argparse._ArgumentGroup) -> None:
    """Add the options about proxies."""
    group.add_argument(
        "--proxy-protocol",
        action="store_true",
        help="every connection begins with the PROXY header (version 1 or 2) of a proxy, which says where the"
        " client is; one without it is refused",
    )
    group.add_argument(
        "--trusted-proxy",
        type=_network,
        action="append",
        default=[],
        metavar="CIDR",
        help="take a websocket client's address from the X-Forwarded-For of proxies in this network;"
        " may be given several times",
    )


def add_player_options(group: argparse._ArgumentGroup) -> None:
    """Add the options of the server that are about protected names."""
    group.add_argument(
        "--players",
        metavar="FILE",
        help="protect the names in this file, to which c4gateway player add adds one: a player who bears one"
        f" has to send its token; bans are in FILE.bans ({PLAYERS_FILE} beside the database, if it is there)",
    )
    group.add_argument(
        "--registered-only", action="store_true", help="let in only players whose names are in that file"
    )


def settle_players(parser: Parser, options: argparse.Namespace) -> None:
    """Refuse options that make no sense together."""
    if options.registered_only and options.players is None:
        parser.error("--registered-only needs --players FILE")


def add_limit_options(group: argparse._ArgumentGroup) -> None:
    """Add the options that say how much a client may take."""
    for option, default, metavar, text in (
        ("max-connections", 0, "N", "bots connected at once (0: as many as the system allows)"),
        (
            "max-per-address",
            None,
            "N",
            f"of these, and of the page's clients, from one address ({PER_ADDRESS}, this machine's own"
            " without a limit; 0: no limit)",
        ),
        (
            "connects-per-second",
            None,
            "N",
            f"connections that one address may open; more have to wait ({CONNECTS}, this machine's own"
            " without a limit; 0: no limit)",
        ),
        (
            "messages-per-second",
            MESSAGES,
            "N",
            f"messages read of one bot; more have to wait ({MESSAGES}; 0: no limit)",
        ),
        ("message-burst", MESSAGE_BURST, "N", f"of these, how many at once ({MESSAGE_BURST})"),
    ):
        least = 1 if option == "message-burst" else 0
        group.add_argument(
            f"--{option}", type=number(int, least, 10**9), default=default, metavar=metavar, help=text
        )
    group.add_argument(
        "--request-seconds",
        type=number(float, 0.1, 3600),
        metavar="SECONDS",
        help="how long a client has for the head of an HTTP request, and the page's for its body"
        " (60; on the page 15)",
    )


def is_token(text: str) -> bool:
    """Whether a text can be sent as a token."""
    return text.isascii() and text.isprintable() and text.split() == [text]


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as error:
        words = f"{text!r} is not an address, or a network such as 10.0.0.0/8"
        raise argparse.ArgumentTypeError(words) from error
