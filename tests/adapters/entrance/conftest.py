"""What the tests of the entrance share: a port on real sockets, and a certificate."""

from collections.abc import AsyncIterator

import certificates
import pytest
from tcp_port import TcpPort, tcp_port

from gateway.access.certificates import Certificate


@pytest.fixture
async def port() -> AsyncIterator[TcpPort]:
    async with tcp_port() as found:
        yield found


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> certificates.Files:
    return certificates.make(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def certificate(files: certificates.Files) -> Certificate:
    return Certificate(files.certificate, files.key)
