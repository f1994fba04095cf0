"""The options about being one node of several that have one lobby.

Knows how the registry's URL is written, what may stand where, and what a node is called and where others
reach it. Does not know the registry, nor any other node, and imports nothing of theirs: a server that is
alone reads these options, too. The rule it keeps: a password is on no command line, and in nothing that is
shown; whoever connects gets it beside the URL, which has neither user nor password.
"""

import re
import socket
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from gateway.options.kinds import Kind
from gateway.options.table import variable
from gateway.options.urls import no_password
from gateway.runtime.addresses import Address, address_in
from gateway.runtime.files import read_file
from gateway.runtime.listening import address_towards

PREFIX = "c4gateway"
"""What the keys of a cluster begin with where nothing is said."""
LONGEST_NODE = 32
"""Characters of a node's name."""
PACKAGE = "coredis"
"""What talks to the registry."""
_REGISTRY_PORT = 6379
_HERE = "127.0.0.1"

_LONGEST_FILE = 1024 * 1024
_LONGEST_PASSWORD = 4096
_NODE = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_NODE}}}")
_PREFIX = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_SCHEMES = ("redis", "rediss", "unix")
_FILES = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
"""What a URL may name for TLS."""
_CHECKED = {"ssl_check_hostname": "true", "ssl_cert_reqs": "required"}
"""What is asked of the other side of TLS, in any case."""
FORMS = "redis://HOST:PORT/0, rediss://HOST:PORT/0 for TLS, or unix:///PATH"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What a node needs to join its cluster."""

    url: str
    """The registry's, without a user and a password: it may be shown. What is asked of TLS is in it."""
    username: str | None
    password: str | None = field(repr=False)
    prefix: str
    node: str
    address: Address


def resolved(
    cluster: str, password_file: str | None, prefix: str, node: str, address: Address | None
) -> ClusterOptions:
    """Return what a node needs to join the cluster at a registry's URL.

    For a thread: it may ask the system for the address of a host. Raises OSError, with one line.
    """
    url = urlsplit(cluster)
    for name, file in parse_qsl(url.query):
        if name in _FILES:
            read_file(file, f"--cluster: {name}", _LONGEST_FILE)  # `ssl` does not say which one is missing
    password = None if url.password is None else unquote(url.password)
    if password_file is not None:
        password = _password(password_file)
    return ClusterOptions(
        _shown(url),
        unquote(url.username) if url.username else None,
        password,
        prefix,
        node,
        address or Address(_host_towards(url), 0),
    )


def registry_url(text: str) -> str:
    """Return a registry's URL as it is given. Raises ValueError, which shows nothing of it."""
    try:
        fault = _fault(urlsplit(text))
    except ValueError:
        fault = "a part that cannot be read"
    if fault:
        raise ValueError(f"the URL has {fault}; give {FORMS}")
    return text


def host_name() -> str:
    """Return the host's name, made to fit for a node."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:LONGEST_NODE] or "node"


def _fault(url: SplitResult) -> str | None:
    """Return what is wrong with a registry's URL; None if nothing is. Raises ValueError, too."""
    query = dict(parse_qsl(url.query, keep_blank_values=True, strict_parsing=bool(url.query)))
    if url.scheme not in _SCHEMES:
        return "another scheme"
    if not (url.netloc + url.path + url.query).isprintable() or {*" %"} & {*url.path} or url.fragment:
        return "characters that cannot be there"
    if url.scheme == "unix":
        database, known, is_there = query.get("db", "0"), {"db"}, url.hostname is None and len(url.path) > 1
    else:
        database, known = url.path.strip("/") or "0", _FILES if url.scheme == "rediss" else set[str]()
        is_there = bool((url.hostname or "").encode("idna")) and url.port != 0
    if not is_there:
        return "no place of a server"
    if not (database.isascii() and database.isdecimal() and len(database) <= 4):
        return "a database that is no number"
    return "a query that is not known" if query.keys() - known else None


def _shown(url: SplitResult) -> str:
    """Return a URL without user and password, and with what is asked of TLS."""
    if url.scheme == "unix":
        return f"unix://{url.path}{'?' if url.query else ''}{url.query}"
    query = dict(parse_qsl(url.query)) | (_CHECKED if url.scheme == "rediss" else {})
    place = Address(str(url.hostname), url.port or _REGISTRY_PORT)
    return url._replace(netloc=str(place), query=urlencode(query)).geturl()


def _host_towards(url: SplitResult) -> str:
    """Return the address with which this machine reaches the registry. Raises OSError."""
    if url.scheme == "unix":
        return _HERE
    try:
        return address_towards(str(url.hostname), url.port or _REGISTRY_PORT)
    except OSError as error:
        raise OSError(f"--cluster: {url.hostname}: {error.strerror}; is that the registry's host?") from error


def _password(file: str) -> str:
    """Return the password in a file, without the end of its line. Raises OSError."""
    data = read_file(file, "--cluster-password-file", _LONGEST_PASSWORD)
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        lines = []
    if len(lines) != 1 or not lines[0]:
        raise OSError(f"--cluster-password-file: {file} is not one line with a password")
    return lines[0]


def node_name(text: str) -> str:
    """Return the name of a node. Raises ValueError."""
    if not _NODE.fullmatch(text):
        raise ValueError(f"{text!r} is not 1 to {LONGEST_NODE} letters, digits, dots, dashes and underscores")
    return text


def key_prefix(text: str) -> str:
    """Return what the keys of a cluster begin with. Raises ValueError."""
    if not _PREFIX.fullmatch(text):
        raise ValueError(f"{text!r} is not 1 to 64 letters, digits, dots, colons, dashes and underscores")
    return text


def node_address(text: str) -> Address:
    """Return where other nodes reach one; without a port that is any free one. Raises ValueError."""
    address = address_in(text, port=0)
    if _is_any(address.host):
        raise ValueError(f"nobody reaches {address.host}: give an address of this machine's own")
    return address


def _is_any(host: str) -> bool:
    """Return whether that is where one listens to be reached at all addresses, as the system reads it."""
    try:
        addresses = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return False
    return any(ip_address(address[0]).is_unspecified for *_, address in addresses)


REGISTRY = Kind(
    registry_url,
    "URL",
    fault_if_typed=no_password(
        "--cluster",
        f"in the environment, as {variable('cluster')}, or in the file of --config, or the password as"
        " --cluster-password-file FILE",
    ),
)
"""The kind of --cluster."""
