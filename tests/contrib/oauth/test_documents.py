"""Documents that clients publish are read only from public addresses and within limits.

The reader is that of django-oauth-toolkit with a limit of time. A local server answers for every
host: a resolver returns public addresses for the names of hosts, and the connections to these
addresses go to the local server.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from oauth2_provider.models import get_application_model

HOST = "agent.example"
# The certificate has these names as well.
SLOW_HOSTS = "*.slow.example"
DOCUMENT = f"https://{HOST}/client.json"
CALLBACK = "https://agent.example/callback"
PUBLIC = "93.184.216.34"


class Internet:
    """The addresses of hosts, the document of the server, and the requests that it received."""

    def __init__(self) -> None:
        self.addresses: dict[str, list[str]] = {HOST: [PUBLIC]}
        self.resolved: list[str] = []
        self.connected: list[str] = []
        self.requests: list[str] = []
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
    now = datetime.now(UTC)
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
            internet.requests.append(f"{self.headers['Host']}{self.path}")
            internet.answer(self)

        def log_message(self, *args: Any) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        # TLS begins in the thread of the connection, so a slow connection does not delay others.
        request_queue_size = 64

        def finish_request(self, request: Any, client_address: Any) -> None:
            with context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)

    chain, secret = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, secret)
    # Only the certificate of the server is trusted.
    trusting = ssl.create_default_context(cafile=str(chain))
    monkeypatch.setattr("oauth2_provider.cimd.ssl.create_default_context", lambda: trusting)
    with Server(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads, server.block_on_close = True, False
        port = server.server_port
        # A client that ends the connection after its checks is no error of the server.
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
            # create_connection would resolve the name.
            connection = socket.socket()
            connection.settimeout(5)
            connection.connect(("127.0.0.1", port))
            return connection

        monkeypatch.setattr("oauth2_provider.cimd.socket.getaddrinfo", resolve)
        monkeypatch.setattr("drf_mcp.contrib.oauth.documents.socket.create_connection", connect)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield internet
        server.shutdown()
        thread.join()


@pytest.fixture
def authorize(project) -> Callable[..., Any]:
    def authorize(document: str = DOCUMENT) -> Any:
        return project.authorize(client_id=document, redirect_uri=CALLBACK)

    return authorize


def test_a_client_with_a_document_signs_in(project, internet, authorize):
    page = authorize()
    assert page.status_code == 200
    text = page.content.decode()
    assert "Published agent" in text
    assert f"<strong>{HOST}</strong>" in text
    code = project.consent(client_id=DOCUMENT, redirect_uri=CALLBACK)["code"]
    assert project.exchange(code, client_id=DOCUMENT, redirect_uri=CALLBACK).status_code == 200


def test_the_connection_goes_to_the_address_that_was_checked(internet, authorize):
    assert authorize().status_code == 200
    assert internet.resolved == [HOST]
    assert internet.connected == [PUBLIC]
    assert internet.requests == [f"{HOST}/client.json"]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.8", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.8"),
        *("64:ff9b::a9fe:a9fe", "2002:a00:8::1"),
    ],
)
def test_addresses_that_are_not_public_are_never_connected_to(internet, authorize, address):
    internet.addresses[HOST] = [PUBLIC, address]
    assert authorize().status_code == 400
    assert (internet.connected, internet.requests) == ([], [])


@pytest.mark.parametrize(
    "document",
    [
        *("http://agent.example/client.json", "https://agent.example", "https:///client.json"),
        *("https://ada:ada@agent.example/client.json", "https://agent.example/a#b"),
        *("https://agent.example/../client.json", "https://agent.example:99999/client.json"),
        *("file:///etc/passwd", "https://unknown.example/client.json"),
    ],
)
def test_a_document_at_an_invalid_address_is_not_read(internet, authorize, document):
    assert authorize(document).status_code == 400
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
def test_an_answer_that_is_no_document_is_refused(internet, authorize, answer):
    internet.answer = answer
    assert authorize().status_code == 400
    # The redirect is not followed.
    assert len(internet.requests) == 1


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
def test_a_document_that_claims_too_much_is_no_client(internet, authorize, changed):
    internet.document.update(changed)
    assert authorize().status_code == 400
    assert not get_application_model().objects.filter(client_id=DOCUMENT).exists()


def test_a_certificate_of_another_host_is_refused(internet, authorize):
    other = DOCUMENT.replace(HOST, "other.example")
    internet.addresses["other.example"] = [PUBLIC]
    internet.document["client_id"] = other
    assert authorize(other).status_code == 400
    assert internet.requests == []


def test_a_document_that_failed_is_not_read_again_at_once(internet, authorize):
    internet.answer = fail
    assert [authorize().status_code for _ in range(3)] == [400, 400, 400]
    assert len(internet.requests) == 1


def test_a_document_does_not_replace_a_client_of_the_project(project, internet, authorize):
    project.register(registration_source="manual", client_id=DOCUMENT)
    page = authorize()
    assert page.context["client"].name == "Agent of Ada"
    assert internet.requests == []


def test_a_host_that_is_not_allowed_is_not_connected_to(configure, project, internet, authorize):
    own = "drf_mcp.contrib.oauth.documents.SignedInPermission"
    classes = [own, "oauth2_provider.cimd.HostAllowlistCIMDPermission"]
    configure(CIMD_REGISTRATION_PERMISSION_CLASSES=classes, CIMD_ALLOWED_HOSTS=["claude.ai"])
    assert authorize().status_code == 400
    assert internet.resolved == []


def test_documents_can_be_switched_off(configure, project, internet, authorize):
    configure(CIMD_ENABLED=False)
    assert authorize().status_code == 400
    assert internet.resolved == []
