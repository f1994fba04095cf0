"""The options about being one of several servers."""

import socket
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from test_options import DIALECTS, parse, refused

from gateway.options.clustering import ClusterOptions, host_name, registry_url
from gateway.options.server import ServerOptions, cluster_options, in_force, shared_rules
from gateway.options.terminal import in_one_line
from gateway.runtime.addresses import Address

URL = "redis://127.0.0.1:6379/0"
SECRET = "s3cr%40t"


def joined(*arguments: str) -> ClusterOptions:
    found = cluster_options(parse(arguments))
    assert found is not None
    return found


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    file = tmp_path / "password"
    file.write_text("word\n")
    return file


def test_server_is_alone_unless_told_otherwise() -> None:
    options = parse([])
    assert cluster_options(options) is None
    assert options.db == "c4gateway.db"


def test_node_has_a_name_and_an_address_and_keys_without_being_told_or_as_the_options_say() -> None:
    here = Address("127.0.0.1", 0)
    assert joined("--cluster", URL) == ClusterOptions(URL, None, None, "c4gateway", host_name(), here)
    told = ("--node", "a", "--node-address", "10.0.0.1:7000", "--cluster-prefix", "ours")
    there = Address("10.0.0.1", 7000)
    assert joined("--cluster", URL, *told) == ClusterOptions(URL, None, None, "ours", "a", there)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("10.0.0.1", Address("10.0.0.1", 0)),
        ("node-a.example:1", Address("node-a.example", 1)),
        ("[::1]", Address("::1", 0)),
        ("[::1]:7000", Address("::1", 7000)),
    ],
)
def test_address_of_a_node_may_lack_a_port(text: str, address: Address) -> None:
    assert joined("--cluster", URL, "--node-address", text).address == address


@pytest.mark.parametrize(
    ("option", "texts", "words"),
    [
        ("node-address", ["", ":1", "::1", "a:65536", "a:x", "a b", "[::1", "a/b", "a:-1"], "is not HOST, "),
        ("node-address", ["0.0.0.0", "0.0.0.0:7000", "[::]:7000", "0", "00.0.0.0:7000"], "nobody reaches"),
        ("node", ["", "a b", "a/b", "ä", "a" * 33, "a\n"], "is not 1 to 32 letters"),
        ("cluster-prefix", ["", "a b", "{x}", "a" * 65, "a*"], "is not 1 to 64 letters"),
        (
            "db",
            ["c4gateway.db", "postgres.db"],
            "--cluster needs a database that all nodes share",
        ),
    ],
)
def test_what_no_node_can_have_is_refused(
    option: str, texts: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in texts:
        assert words in refused(["--cluster", URL, f"--{option}={text}"], capsys)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("web-1.example.org", "web-1.example.org"),
        ("Ann's box", "Ann-s-box"),
        ("", "node"),
        ("x" * 40, "x" * 32),
    ],
)
def test_name_of_the_host_is_made_to_fit(host: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: host)
    assert host_name() == name


@pytest.mark.parametrize(
    "url",
    [
        *("redis://localhost", "redis://10.0.0.5:6379/0", "redis://[::1]:6380/15", "rediss://h.example/1"),
        *("unix:///run/redis/redis.sock", "unix:///r.sock?db=3", "redis://ann@h/0", "redis://:word@h/0"),
        "rediss://h/0?ssl_ca_certs=/etc/ca.pem&ssl_certfile=/c.pem&ssl_keyfile=/k.pem",
    ],
)
def test_url_of_a_registry_is_taken(url: str) -> None:
    assert registry_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:6379", "http://h/0", "redis://", "redis:///0", "redis://h:0/0", "redis://h:x/0"),
        *("redis://h:99999/0", "redis://h/zero", "redis://h/0/1", "redis://h/-1", "redis://h/0#x"),
        *("redis://h/0?db=1", "redis://h/0?ssl_cert_reqs=none", "rediss://h/0?ssl_cert_reqs=none"),
        *("rediss://h/0?ssl_check_hostname=false", "unix://r.sock", "unix://", "unix:///", "unix:///a b"),
        *("unix:///r.sock?db=x", "unix:///r.sock?password=word", "redis://[::1/0", "redis://h/0?x"),
        *("unix:///a%3fb", "redis://h\n/0x", "redis://a..b/0", f"redis://{'a' * 64}/0"),
    ],
)
def test_what_is_no_url_of_a_registry_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="give redis://HOST:PORT/0"):
        registry_url(url)


# Passwords.


def test_password_comes_from_the_environment_the_config_file_or_a_file_of_its_own(
    tmp_path: Path, secret_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = joined("--cluster", "redis://ann@127.0.0.1/0", "--cluster-password-file", str(secret_file))
    assert (found.username, found.password) == ("ann", "word")
    config = tmp_path / "gateway.toml"
    config.write_text(f'cluster = "unix://:{SECRET}@/run/redis.sock?db=2"')
    found = joined("--config", str(config))
    assert (found.url, found.username, found.password) == ("unix:///run/redis.sock?db=2", None, "s3cr@t")
    monkeypatch.setenv("C4GATEWAY_CLUSTER", f"redis://ann:{SECRET}@127.0.0.1/0")
    found = joined()
    assert (found.url, found.username, found.password) == ("redis://127.0.0.1:6379/0", "ann", "s3cr@t")
    shown = [repr(found), *in_force([], DIALECTS)]
    assert not [line for line in shown if SECRET in line or "s3cr@t" in line]


@pytest.mark.parametrize("text", ["", "\n", "two\nlines\n", "\udcff"])
def test_file_that_is_not_one_line_is_no_password(text: str, secret_file: Path) -> None:
    secret_file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(OSError, match="is not one line with a password"):
        joined("--cluster", URL, "--cluster-password-file", str(secret_file))


def test_two_passwords_are_refused(
    secret_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("C4GATEWAY_CLUSTER", f"redis://:{SECRET}@h/0")
    assert "has a password; give no" in refused(["--cluster-password-file", str(secret_file)], capsys)


@pytest.mark.parametrize("user", ["ann", "ann@x", ""])
@pytest.mark.parametrize("password", [SECRET, "***"])
def test_password_on_the_command_line_is_refused_with_what_to_do_instead(
    user: str, password: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(["--cluster", f"redis://{user}:{password}@h:1/0"], capsys)
    assert "the URL of --cluster has a password, which the list of processes shows" in said
    assert "as C4GATEWAY_CLUSTER" in said
    assert "--cluster-password-file" in said
    assert SECRET not in said
    assert SECRET not in refused(["--cluster", f"redis://{user}:{password}@h:0/0"], capsys)


# TLS, and what contradicts other options.


def test_other_side_of_tls_is_checked_whatever_the_url_says(tmp_path: Path) -> None:
    file = tmp_path / "our ca.pem"
    file.touch()
    url = joined("--cluster", f"rediss://127.0.0.1/0?ssl_ca_certs={file}").url
    pool = pytest.importorskip("coredis.pool").ConnectionPool
    assert dict(parse_qsl(urlsplit(url).query)) == {
        "ssl_ca_certs": str(file),
        "ssl_check_hostname": "true",
        "ssl_cert_reqs": "required",
    }
    context = pool.from_url(joined("--cluster", "rediss://127.0.0.1/0").url).connection_kwargs["ssl_context"]
    assert (context.check_hostname, context.verify_mode.name) == (True, "CERT_REQUIRED")


def test_file_for_tls_that_is_missing_is_named() -> None:
    with pytest.raises(OSError, match="No such file") as error:
        joined("--cluster", "rediss://127.0.0.1/0?ssl_ca_certs=/nowhere")
    assert in_one_line(error.value) == "--cluster: ssl_ca_certs: /nowhere: No such file or directory"


@pytest.mark.parametrize("given", [(), ("--db", "none"), ("--db", "postgresql://h/c4")])
def test_results_are_in_a_database_for_all_or_not_kept(given: tuple[str, ...]) -> None:
    assert parse(["--cluster", URL, *given]).db == (given[1] if "c4" in "".join(given) else None)


@pytest.mark.parametrize(
    "option", ["--node=a", "--node-address=h", "--cluster-prefix=x", "--cluster-password-file=f"]
)
def test_option_for_a_node_means_nothing_to_a_server_that_is_alone(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is of no use without --cluster" in refused([option], capsys)


def test_registry_that_cannot_be_found_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    options = ServerOptions(cluster=f"redis://:{SECRET}@nowhere/0", node="a")
    with pytest.raises(OSError, match=r"--cluster: nowhere: Name or service not known") as error:
        cluster_options(options)
    assert SECRET not in str(error.value)


def test_rules_that_all_nodes_share_are_numbers_also_where_one_is_a_flag() -> None:
    options = parse(["--registered-only", "--players", "x", "--rounds", "6"])
    assert shared_rules(options, DIALECTS) == {
        "clock": 42.0,
        "penalty": 1.0,
        "idle": 300.0,
        "rejoin": 10.0,
        "grace": 0.0,
        "rounds": 6.0,
        "games-per-pair": 10.0,
        "house-after": 5.0,
        "registered-only": 1.0,
        "no-live-evaluation": 0.0,
    }
