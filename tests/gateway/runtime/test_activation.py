"""Sockets that were handed over."""

import os
import socket

import pytest

from gateway.runtime.listening import adopted, handed_over

NAMES = ["nac4", "arena", "page"]


def given(count: object, names: str | None = None, process: int | None = None) -> dict[str, str]:
    """Return an environment in which sockets are handed over."""
    found = {"LISTEN_FDS": str(count), "LISTEN_PID": str(os.getpid() if process is None else process)}
    return found if names is None else found | {"LISTEN_FDNAMES": names}


@pytest.mark.parametrize(
    "environment", [{}, given(2, process=1), given("x"), given(-1), given(0), {"LISTEN_FDS": "2"}]
)
def test_without_sockets_there_are_none(environment: dict[str, str]) -> None:
    assert handed_over(NAMES, environment) == {}


@pytest.mark.parametrize("names", [None, "", "c4gateway.socket:c4gateway.socket"])
def test_sockets_without_names_of_ours_are_taken_in_the_order_of_the_ports(names: str | None) -> None:
    assert handed_over(NAMES, given(2, names)) == {"nac4": [3], "arena": [4]}


def test_sockets_with_names_are_taken_by_name_and_a_port_may_have_several() -> None:
    assert handed_over(NAMES, given(3, "page:nac4:page")) == {"page": [3, 5], "nac4": [4]}


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (given(2, "page:oops"), "called 'oops', none of nac4, arena, page"),
        (given(1, "page:nac4"), "1 sockets are handed over, with 2 names"),
        (given(4), "4 sockets are handed over; without names 3 at most"),
    ],
)
def test_socket_of_which_nobody_knows_what_it_is_for_is_refused(
    environment: dict[str, str], words: str
) -> None:
    with pytest.raises(ValueError) as refusal:
        handed_over(NAMES, environment)
    assert words in str(refusal.value)


def test_socket_that_listens_is_adopted_and_no_child_inherits_it() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        number = os.dup(listening.fileno())
        os.set_inheritable(number, True)
        with adopted(number) as adoptive:
            assert adoptive.getsockname() == listening.getsockname()
            assert not os.get_inheritable(number)


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_socket_that_does_not_listen_is_refused(kind: socket.SocketKind) -> None:
    with socket.socket(type=kind) as bare:
        number = os.dup(bare.fileno())
    with pytest.raises(OSError, match=f"descriptor {number} is not a TCP socket that listens"):
        adopted(number)


def test_socket_of_this_machine_alone_is_refused() -> None:
    with socket.socket(socket.AF_UNIX) as bare:
        number = os.dup(bare.fileno())
    with pytest.raises(OSError, match="not a TCP socket"):
        adopted(number)


def test_descriptor_that_is_none_is_refused() -> None:
    number = os.open(os.devnull, os.O_RDONLY)
    os.close(number)
    with pytest.raises(OSError, match=f"descriptor {number} is not a socket: "):
        adopted(number)
