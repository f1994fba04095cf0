"""The options of a node of a cluster.

Knows the form of the registry's URL, of node names and of addresses. Does not know the registry or other
nodes, since a single server reads these options, too. A password is separated from the URL. It is never on
the command line, and never shown.
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
"""The default prefix of a cluster's keys in the registry."""
LONGEST_NODE = 32
"""The longest name of a node, in characters."""
PACKAGE = "coredis"
"""The package for access to the registry."""
_REGISTRY_PORT = 6379
_HERE = "127.0.0.1"

_LONGEST_FILE = 1024 * 1024
_LONGEST_PASSWORD = 4096
_NODE = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_NODE}}}")
_PREFIX = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_SCHEMES = ("redis", "rediss", "unix")
_FILES = {"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"}
"""Parameters of a URL that name files for TLS."""
_CHECKED = {"ssl_check_hostname": "true", "ssl_cert_reqs": "required"}
"""Parameters that verify the registry's certificate. They are always set."""
FORMS = "redis://HOST:PORT/0, rediss://HOST:PORT/0 for TLS, or unix:///PATH"


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The options with which a node joins its cluster."""

    url: str
    """The registry's URL, with parameters for TLS. It has no user and no password, so that it can be
    shown."""
    username: str | None
    password: str | None = field(repr=False)
    prefix: str
    node: str
    address: Address


def resolved(
    cluster: str, password_file: str | None, prefix: str, node: str, address: Address | None
) -> ClusterOptions:
    """Return the options of a node for the registry at the URL `cluster`.

    Runs in a thread, since it may resolve a host name. Raises OSError, with one line.
    """
    url = urlsplit(cluster)
    for name, file in parse_qsl(url.query):
        if name in _FILES:
            read_file(file, f"--cluster: {name}", _LONGEST_FILE)  # errors of `ssl` do not name the file
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
    """Return a registry's URL unchanged. Raises ValueError; its text contains no part of the URL."""
    try:
        fault = _fault(urlsplit(text))
    except ValueError:
        fault = "a part that cannot be read"
    if fault:
        raise ValueError(f"the URL has {fault}; give {FORMS}")
    return text


def host_name() -> str:
    """Return the host's name, changed to a valid name of a node."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", socket.gethostname())[:LONGEST_NODE] or "node"


def _fault(url: SplitResult) -> str | None:
    """Return what is wrong with a registry's URL; None if it is valid. May also raise ValueError."""
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
    """Return a URL without user and password, and with parameters for TLS."""
    if url.scheme == "unix":
        return f"unix://{url.path}{'?' if url.query else ''}{url.query}"
    query = dict(parse_qsl(url.query)) | (_CHECKED if url.scheme == "rediss" else {})
    place = Address(str(url.hostname), url.port or _REGISTRY_PORT)
    return url._replace(netloc=str(place), query=urlencode(query)).geturl()


def _host_towards(url: SplitResult) -> str:
    """Return this machine's address on the way to the registry. Raises OSError."""
    if url.scheme == "unix":
        return _HERE
    try:
        return address_towards(str(url.hostname), url.port or _REGISTRY_PORT)
    except OSError as error:
        raise OSError(f"--cluster: {url.hostname}: {error.strerror}; is that the registry's host?") from error


def _password(file: str) -> str:
    """Return the password in a file of one line. Raises OSError."""
    data = read_file(file, "--cluster-password-file", _LONGEST_PASSWORD)
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        lines = []
    if len(lines) != 1 or not lines[0]:
        raise OSError(f"--cluster-password-file: {file} is not one line with a password")
    return lines[0]


def node_name(text: str) -> str:
    """Return the name of a node unchanged. Raises ValueError if it is not valid."""
    if not _NODE.fullmatch(text):
        raise ValueError(f"{text!r} is not 1 to {LONGEST_NODE} letters, digits, dots, dashes and underscores")
    return text


def key_prefix(text: str) -> str:
    """Return the prefix of a cluster's keys unchanged. Raises ValueError if it is not valid."""
    if not _PREFIX.fullmatch(text):
        raise ValueError(f"{text!r} is not 1 to 64 letters, digits, dots, colons, dashes and underscores")
    return text


def node_address(text: str) -> Address:
    """Parse the address at which other nodes reach this one.

    Without a port, any free port is used. Raises ValueError.
    """
    address = address_in(text, port=0)
    if _is_any(address.host):
        raise ValueError(f"nobody reaches {address.host}: give an address of this machine's own")
    return address


def _is_any(host: str) -> bool:
    """Whether the system parses a host as the unspecified address, such as 0.0.0.0."""
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
