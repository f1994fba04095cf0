"""The server's certificate: read, refused, and read again."""

import shutil
from pathlib import Path

import certificates
import pytest

from gateway.access.certificates import Certificate

pytestmark = certificates.needs_openssl


def test_key_may_be_in_the_same_file(tmp_path: Path) -> None:
    files = certificates.make(tmp_path)
    both = tmp_path / "both.pem"
    both.write_text(Path(files.certificate).read_text() + Path(files.key).read_text())
    assert Certificate(str(both)).context


def test_certificate_that_cannot_be_used_is_one_line_that_names_the_file(tmp_path: Path) -> None:
    one, other = (certificates.make(tmp_path, name) for name in ("one", "other"))
    locked = certificates.make(tmp_path, "locked", "-passout", "pass:sesame")
    empty = tmp_path / "empty.pem"
    empty.touch()
    for certificate, key, words in (
        (one.certificate, other.key, "key values mismatch"),
        (str(empty), one.key, "empty.pem"),
        (one.certificate, str(empty), "empty.pem"),
        (locked.certificate, locked.key, "the key has a password"),
        (str(tmp_path / "none.pem"), one.key, "none.pem"),
        (one.certificate, str(tmp_path / "none.key"), "none.key"),
        (str(tmp_path), one.key, str(tmp_path)),
    ):
        with pytest.raises(OSError) as error:
            Certificate(certificate, key)
        assert words in str(error.value)
        assert "\n" not in str(error.value)


def test_broken_file_leaves_the_certificate_as_it_was_and_a_whole_one_replaces_it(tmp_path: Path) -> None:
    files, other = certificates.make(tmp_path), certificates.make(tmp_path, "other")
    certificate = Certificate(files.certificate, files.key)
    before = certificate.context
    shutil.copy(other.certificate, files.certificate)  # and not yet the key
    with pytest.raises(OSError, match="key values mismatch"):
        certificate.reload()
    assert certificate.context is before
    shutil.copy(other.key, files.key)
    certificate.reload()
    assert certificate.context is not before
