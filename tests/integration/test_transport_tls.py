"""The transport behind TLS: the bytes of a handshake are none of the request's."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from crm_clients.base import Account
from crm_clients.transport import NotSent, Sent, Transport, Unanswered
from crm_clients.watchdog import boot_clock
from tests.integration.raw_server import Peer, RawServer, serving
from tests.integration.sending import LONG, MARGIN, OK, POST, SHORT, answering, response_of


@pytest.fixture
def transport() -> Iterator[Transport]:
    with Transport() as made:
        yield made


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate for a name, as a server needs it, and the file with which a client trusts it."""

    server: ssl.SSLContext
    ca_file: Path


def certified(folder: Path, name: x509.GeneralName) -> Certified:
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer, issuer, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([name]), critical=False)
        .sign(key, hashes.SHA256())
    )
    ca_file, key_file = folder / "certificate.pem", folder / "key.pem"
    ca_file.write_bytes(certificate.public_bytes(Encoding.PEM))
    key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(ca_file, key_file)
    return Certified(context, ca_file)


LOOPBACK = x509.IPAddress(IPv4Address("127.0.0.1"))


def write_tls(transport: Transport, server: RawServer, *, seconds: float = LONG) -> Sent:
    now = boot_clock()
    secure = Account("crm", f"https://127.0.0.1:{server.port}", (("Authorization", "Bearer secret-token"),))
    return transport.write(secure, POST, send_by=now + seconds, deadline=now + seconds)


def test_a_trusted_server_is_answered(tmp_path: Path) -> None:
    trusted = certified(tmp_path, LOOPBACK)
    with serving(answering(OK), tls=trusted.server) as server, Transport(ca_file=trusted.ca_file) as transport:
        assert response_of(write_tls(transport, server)).body == b"{}"


def test_an_untrusted_server_is_sent_nothing(tmp_path: Path, transport: Transport) -> None:
    with serving(answering(OK), tls=certified(tmp_path, LOOPBACK).server) as server:
        assert write_tls(transport, server) == NotSent("tls")
    assert server.seen == b""


def test_a_certificate_of_another_name_is_sent_nothing(tmp_path: Path) -> None:
    other = certified(tmp_path, x509.DNSName("crm.example.com"))
    with serving(answering(OK), tls=other.server) as server, Transport(ca_file=other.ca_file) as transport:
        assert write_tls(transport, server) == NotSent("tls")
    assert server.seen == b""


def test_a_dripping_server_behind_tls_is_doubt_at_the_deadline(tmp_path: Path) -> None:
    def act(peer: Peer) -> None:
        peer.read_request()
        peer.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 500, every=0.02)

    trusted = certified(tmp_path, LOOPBACK)
    with serving(act, tls=trusted.server) as server, Transport(ca_file=trusted.ca_file) as transport:
        begin = boot_clock()
        assert write_tls(transport, server, seconds=SHORT) == Unanswered("timeout")
        assert boot_clock() < begin + SHORT + MARGIN


def test_a_body_cut_behind_tls_is_doubt(tmp_path: Path) -> None:
    trusted = certified(tmp_path, LOOPBACK)
    cut = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{")
    with serving(cut, tls=trusted.server) as server, Transport(ca_file=trusted.ca_file) as transport:
        assert write_tls(transport, server) == Unanswered("cut_body")
