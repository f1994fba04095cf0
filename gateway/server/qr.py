"""The option --qr, which prints the page's address as a QR code on the terminal.

Finds the address in the lines that the server prints at its start. Uses the package segno.
"""

import io
import ipaddress
import re
import sys

from gateway.options.server import ServerOptions

_PAGE = re.compile(r"^page +(https?://(\[[0-9a-f:.]+\]|[0-9.]+)\S*)", re.MULTILINE)
_BORDER = 2
_BLACK_AND_WHITE = "\x1b[40;97m{}\x1b[0m\n"
"""Sets the colours to black and white, since some cameras cannot read a code with inverted colours."""


def is_shown(options: ServerOptions) -> bool:
    """Whether the options ask for a code and standard output is a terminal."""
    return options.qr and not options.log_json and sys.stdout is not None and sys.stdout.isatty()


def below(announced: str) -> str:
    """Return the text to print below the server's lines: the QR code, or the reason why it is missing."""
    pages = _PAGE.findall(announced)
    if not pages:
        return f"{'qr':9} no code: there is no page\n"
    urls = [url for url, host in pages if _is_for_others(host)]
    if not urls:
        return f"{'qr':9} no code: other machines do not reach the page; --host 0.0.0.0 lets them\n"
    return f"{drawn(urls[0])}{'qr':9} {urls[0]}\n"


def drawn(text: str) -> str:
    """Return the QR code of a text as lines for a terminal."""
    import segno  # noqa: PLC0415  segno is optional

    lines = io.StringIO()
    segno.make_qr(text).terminal(lines, border=_BORDER, compact=True)
    return "".join(map(_BLACK_AND_WHITE.format, lines.getvalue().splitlines()))


def _is_for_others(host: str) -> bool:
    address = ipaddress.ip_address(host.strip("[]"))
    return not (address.is_loopback or address.is_unspecified)
