"""The client's end of a handshake of TLS, and whom a client trusts.

Knows Python's `ssl` and sockets. Does not know what is said on them. The rule it keeps: a server is trusted
only where an authority that is trusted says that it has the name by which it was dialled.
"""

import errno
import ssl

import trio

from adapters.net.socket import Socket
from adapters.net.tls import Session
from gateway.runtime.files import read_file

LONGEST_FILE = 1024 * 1024
"""Bytes that a file of certificates may have."""

_NO_AUTHORITY = range(18, 22)
"""OpenSSL's codes for a certificate without a trusted issuer (``X509_V_ERR_...``)."""


class Untrusted(OSError):
    """A server has a certificate that is not trusted."""

    def __init__(self, error: ssl.SSLCertVerificationError) -> None:
        super().__init__(errno.EACCES, error.verify_message.rstrip("."))
        self.lacks_authority = error.verify_code in _NO_AUTHORITY
        """Whether the only fault is that no trusted issuer signed it."""


def trusting(file: str | None, option: str = "") -> ssl.SSLContext:
    """Return what trusts the authorities in a file that `option` names, else those that the system trusts.

    Raises OSError with one line that says what is wrong with the file.
    """
    if file is None:
        return ssl.create_default_context()
    text = read_file(file, option, LONGEST_FILE).decode("ascii", "replace")
    try:
        return ssl.create_default_context(cadata=text or "none")  # without a text it trusts the system's
    except (ssl.SSLError, ValueError) as error:
        raise OSError(f"{option}: {file} has no certificate in PEM") from error


async def secure(sock: Socket, server: str, trusted: ssl.SSLContext, patience: float) -> None:
    """Begin TLS with the host that is called `server`, within `patience` seconds.

    Raises Untrusted, OSError where it does not speak TLS, UnicodeError where there is no such name.
    """
    session, data = Session(trusted, server), b""
    try:
        with trio.fail_after(patience):
            while not session.shake_hands(data):
                await sock.send_all(session.outgoing())
                data = await sock.receive_some()
                if not data:
                    raise OSError(errno.ECONNRESET, "what answers there does not speak TLS")
            await sock.send_all(session.outgoing())
    except trio.TooSlowError:
        raise TimeoutError(errno.ETIMEDOUT, "it does not answer a handshake of TLS") from None
    except trio.BrokenResourceError:
        raise OSError(errno.ECONNRESET, "it hung up in the handshake of TLS") from None
    except ssl.SSLCertVerificationError as error:
        raise Untrusted(error) from None
    except ssl.SSLError as error:
        words = (error.reason or "").replace("_", " ").lower()
        raise OSError(errno.EPROTO, f"what answers there does not speak TLS ({words})") from None
    sock.secure(session)
