"""Certificates for tests, made by OpenSSL's command."""

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")


@dataclass(frozen=True)
class Files:
    """A certificate for 127.0.0.1, and its key."""

    certificate: str
    key: str

    @property
    def options(self) -> tuple[str, ...]:
        return ("--tls-cert", self.certificate, "--tls-key", self.key)

    def client(self) -> ssl.SSLContext:
        """Return what a client needs that believes no other certificate."""
        return ssl.create_default_context(cafile=self.certificate)


def signed(folder: Path) -> tuple[Files, str]:
    """Make a certificate that an authority of its own has signed; return that one's, too."""
    authority = make(folder, "authority")
    how = ("-nodes", "-CA", authority.certificate, "-CAkey", authority.key)
    return make(folder, "signed", *how), authority.certificate


def make(folder: Path, name: str = "server", *more: str) -> Files:
    """Make a certificate in a folder."""
    files = Files(str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-keyout", files.key, "-out", files.certificate, "-days", "2", "-subj", f"/CN={name}"),
            *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", *(more or ["-nodes"])),
        ],
        check=True,
        capture_output=True,
    )
    return files
