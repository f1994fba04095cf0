"""Readers of option values: each returns the value that a text stands for, or raises ValueError."""

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, or to connect to."""

    host: str
    port: int
    """0 for any free one."""

    def __str__(self) -> str:
        """Return it as an option is written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def number(kind: Callable[[str], float], least: float, most: float) -> Callable[[str], float]:
    """Return what reads a number from `least` to `most`."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            what = "a whole number" if kind is int else "a number"
            raise ValueError(f"{text!r} is not {what} from {least:g} to {most:g}")
        return value

    return read


port_number = number(int, 0, 65_535)


def whole_number(text: str) -> int:
    """Return a whole number of any size."""
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is not a whole number") from error


def address(text: str, *, host: str | None = None, port: int | None = None) -> Address:
    """Return an address that is written as HOST:PORT, or [HOST]:PORT with an IPv6 address.

    PORT alone is at `host`, and HOST alone has `port`, where these are given.
    """
    if host is not None and text.isdecimal():
        return Address(host, int(port_number(text)))
    name, colon, digits = text.rpartition(":")
    if port is not None and (not colon or text.endswith("]")):
        name, digits = text, str(port)
    is_ipv6 = name.startswith("[") and name.endswith("]")
    name = name[1:-1] if is_ipv6 else name
    is_host = name.isprintable() and (":" in name) == is_ipv6 and not {*name} & {*" []/@"}
    is_port = digits.isascii() and digits.isdecimal() and len(digits) <= 5 and int(digits) <= 65_535
    if not (name and is_host and is_port):
        forms = [
            *(["a port"] if host is not None else []),
            *(["HOST"] if port is not None else []),
            "HOST:PORT",
        ]
        raise ValueError(f"{text!r} is not {', '.join(forms)} or [HOST]:PORT")
    return Address(name, int(digits))
