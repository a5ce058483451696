"""Documents that clients publish are read from public addresses, in bounds, and nowhere else.

The reader is that of django-oauth-toolkit, with a limit of time around it. A server of the test's
own stands for the internet: names lead to public addresses by a resolver of the test's, and
connections that are made to these addresses arrive at the server.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from oauth2_provider import cimd
from oauth2_provider.models import get_application_model

from drf_mcp.contrib.oauth.documents import MOST_READERS, BoundedFetcher

HOST = "agent.example"
# Also of the one certificate.
SLOW_HOSTS = "*.slow.example"
DOCUMENT = f"https://{HOST}/client.json"
CALLBACK = "https://agent.example/callback"
PUBLIC = "93.184.216.34"


class Internet:
    """What the names of hosts lead to, what the server answers, and who was asked."""

    def __init__(self) -> None:
        self.addresses: dict[str, list[str]] = {HOST: [PUBLIC]}
        self.resolved: list[str] = []
        self.connected: list[str] = []
        self.asked: list[str] = []
        self.document: Any = {
            "client_id": DOCUMENT,
            "client_name": "Published agent",
            "redirect_uris": [CALLBACK],
            "token_endpoint_auth_method": "none",
        }
        self.answer: Callable[[Any], None] = self.send

    def send(self, handler: Any) -> None:
        body = json.dumps(self.document).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([*map(x509.DNSName, (HOST, SLOW_HOSTS))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, secret = folder / "certificate.pem", folder / "key.pem"
    chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return chain, secret


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def internet(certificate, monkeypatch) -> Iterator[Internet]:
    internet = Internet()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            internet.asked.append(f"{self.headers['Host']}{self.path}")
            internet.answer(self)

        def log_message(self, *args: Any) -> None:
            """Leave the output of the tests alone."""

    class Server(ThreadingHTTPServer):
        # Each connection begins in a thread of its own, so that a slow one keeps no other waiting.
        request_queue_size = 64

        def finish_request(self, request: Any, client_address: Any) -> None:
            with context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)

    chain, secret = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, secret)
    # The server's certificate is the only one that is trusted.
    trusting = ssl.create_default_context(cafile=str(chain))
    monkeypatch.setattr("oauth2_provider.cimd.ssl.create_default_context", lambda: trusting)
    with Server(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        port = server.server_port
        # What a client does that is refused by its own checks is no fault of the server.
        server.handle_error = lambda *args: None  # type: ignore[method-assign]

        def resolve(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
            internet.resolved.append(host)
            if host not in internet.addresses:
                raise socket.gaierror("unknown host")
            found = internet.addresses[host]
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in found]

        def connect(address: tuple[str, int], *args: Any, **kwargs: Any) -> socket.socket:
            internet.connected.append(address[0])
            assert address[0] not in internet.addresses, "the name was resolved a second time"
            # Not create_connection, which would resolve.
            connection = socket.socket()
            connection.settimeout(5)
            connection.connect(("127.0.0.1", port))
            return connection

        monkeypatch.setattr("oauth2_provider.cimd.socket.getaddrinfo", resolve)
        monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield internet
        server.shutdown()
        thread.join()


@pytest.fixture
def ask(project) -> Callable[..., Any]:
    def ask(document: str = DOCUMENT) -> Any:
        return project.ask(client_id=document, redirect_uri=CALLBACK)

    return ask


def test_a_client_with_a_document_is_asked_for_and_signs_in(project, internet, ask):
    page = ask()
    assert page.status_code == 200
    text = page.content.decode()
    assert "Published agent" in text
    assert f"<strong>{HOST}</strong>" in text
    code = project.consent(client_id=DOCUMENT, redirect_uri=CALLBACK)["code"]
    assert project.exchange(code, client_id=DOCUMENT, redirect_uri=CALLBACK).status_code == 200


def test_the_connection_goes_to_the_address_that_was_checked(internet, ask):
    assert ask().status_code == 200
    assert internet.resolved == [HOST]
    assert internet.connected == [PUBLIC]
    assert internet.asked == [f"{HOST}/client.json"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.8", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.8"),
        *("64:ff9b::a9fe:a9fe", "2002:a00:8::1"),
    ],
)
def test_addresses_that_are_not_public_are_never_connected_to(internet, ask, address):
    internet.addresses[HOST] = [PUBLIC, address]
    assert ask().status_code == 400
    assert (internet.connected, internet.asked) == ([], [])


@pytest.mark.parametrize(
    "document",
    [
        *("http://agent.example/client.json", "https://agent.example", "https:///client.json"),
        *("https://ada:ada@agent.example/client.json", "https://agent.example/a#b"),
        *("https://agent.example/../client.json", "https://agent.example:99999/client.json"),
        *("file:///etc/passwd", "https://unknown.example/client.json"),
    ],
)
def test_other_addresses_are_not_read(internet, ask, document):
    assert ask(document).status_code == 400
    assert internet.connected == []


def redirect(handler: Any) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://169.254.169.254/")
    handler.end_headers()


def fail(handler: Any) -> None:
    handler.send_error(500)


def send_html(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    handler.wfile.write(b"{}")


def send_much(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.wfile.write(b'{"client_id": "' + b"x" * 100_000 + b'"}')


def send_no_json(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    handler.wfile.write(b"[" * 5_000)


@pytest.mark.parametrize("answer", [redirect, fail, send_html, send_much, send_no_json])
def test_other_answers_are_no_documents(internet, ask, answer):
    internet.answer = answer
    assert ask().status_code == 400
    # Nothing is asked of where a redirect leads.
    assert len(internet.asked) == 1


def drip_body(handler: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    drip(handler, b" ")


def drip_headers(handler: Any) -> None:
    drip(handler, b"HTTP/1.1 200 OK\r\nX-Slow: ")


def drip(handler: Any, data: bytes) -> None:
    for _ in range(12):
        handler.wfile.write(data)
        handler.wfile.flush()
        time.sleep(0.25)


@pytest.mark.slow
@pytest.mark.parametrize("answer", [drip_body, drip_headers])
def test_a_server_that_drips_is_left_in_time(configure, internet, ask, answer):
    configure(CIMD_FETCH_TIMEOUT_SECONDS=1)
    internet.answer = answer
    began = time.monotonic()
    assert ask().status_code == 400
    assert time.monotonic() - began < 2.5
    wait_for_readers()


def wait_for_readers() -> None:
    # The last reader ends after the answer.
    for _ in range(MOST_READERS):
        assert BoundedFetcher.readers.acquire(timeout=10)
    for _ in range(MOST_READERS):
        BoundedFetcher.readers.release()


def test_readers_that_are_kept_waiting_are_few(internet, ask, monkeypatch):
    monkeypatch.setattr(BoundedFetcher, "readers", threading.BoundedSemaphore(1))
    BoundedFetcher.readers.acquire()
    assert ask().status_code == 400
    assert internet.resolved == []


@pytest.mark.parametrize(
    "changed",
    [
        {"client_id": "https://agent.example/other.json"},
        {"redirect_uris": []},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"client_secret": "secret"},
        {"token_endpoint_auth_method": "client_secret_post"},
        {"grant_types": ["client_credentials"]},
    ],
)
def test_a_document_that_claims_too_much_is_no_client(internet, ask, changed):
    internet.document.update(changed)
    assert ask().status_code == 400
    assert not get_application_model().objects.filter(client_id=DOCUMENT).exists()


def test_a_server_with_another_certificate_is_not_believed(internet, ask):
    other = DOCUMENT.replace(HOST, "other.example")
    internet.addresses["other.example"] = [PUBLIC]
    internet.document["client_id"] = other
    assert ask(other).status_code == 400
    assert internet.asked == []


def test_a_document_that_failed_is_let_be_for_a_while(internet, ask):
    internet.answer = fail
    assert [ask().status_code for _ in range(3)] == [400, 400, 400]
    assert len(internet.asked) == 1


def test_a_document_is_kept_and_not_read_on_every_request(internet, ask):
    assert [ask().status_code for _ in range(3)] == [200, 200, 200]
    assert len(internet.asked) == 1


def test_a_document_cannot_become_a_client_of_the_project(project, internet, ask):
    project.register(registration_source="manual", client_id=DOCUMENT)
    page = ask()
    assert page.context["client"].name == "Agent of Ada"
    assert internet.asked == []


def test_only_hosts_that_are_named_are_asked(configure, project, internet, ask):
    permission = "oauth2_provider.cimd.HostAllowlistCIMDPermission"
    configure(CIMD_REGISTRATION_PERMISSION_CLASSES=[permission], CIMD_ALLOWED_HOSTS=["claude.ai"])
    assert ask().status_code == 400
    assert internet.resolved == []


def test_documents_can_be_switched_off(configure, project, internet, ask):
    configure(CIMD_ENABLED=False)
    assert ask().status_code == 400
    assert internet.resolved == []


def test_at_most_so_many_documents_are_read_at_once(configure, project, internet, ask):
    configure(CIMD_MAX_CONCURRENT_FETCHES=1)
    with cimd._fetch_slot() as taken:
        assert taken
        assert ask().status_code == 400
    assert internet.asked == []
    assert ask().status_code == 200
