"""The project of docs/sign_in_allauth.md: ``python -m tests.programs.interop.allauth_project``.

A person signs in with a company's login, a fake one, and clients use their tokens. Prints what
happened as JSON.
"""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import os
import threading
import time
from io import StringIO
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.management import call_command
from jwt.algorithms import RSAAlgorithm

from tests.documentation.sign_in import HOST, configure, make_client, serve

CALLBACK = "https://claude.ai/api/mcp/auth_callback"
DOCUMENT = "https://claude.ai/oauth/mcp-oauth-client-metadata"
# As Claude publishes it.
PUBLISHED = {
    "client_id": DOCUMENT,
    "client_name": "Claude",
    "redirect_uris": [CALLBACK],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}
VERIFIER = "v" * 64
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Entra(http.server.BaseHTTPRequestHandler):
    """A company's login: its metadata, its keys, and the tokens of one person."""

    def do_GET(self) -> None:
        base = f"http://127.0.0.1:{self.server.server_port}"
        public = {**json.loads(RSAAlgorithm.to_jwk(KEY.public_key())), "kid": "one"}
        metadata = {name: f"{base}/{name}" for name in ("authorization_endpoint", "jwks_uri")}
        metadata |= {name: f"{base}/{name}" for name in ("token_endpoint", "userinfo_endpoint")}
        person = {"sub": "ada-at-entra", "preferred_username": "someone else"}
        now = int(time.time())
        claims = {**person, "iss": base, "aud": "shop", "iat": now, "exp": now + 60}
        signed = jwt.encode(claims, KEY, "RS256", headers={"kid": "one"})
        answers: dict[str, Any] = {
            "openid-configuration": {**metadata, "issuer": base},
            "jwks_uri": {"keys": [public]},
            "token_endpoint": {"access_token": "x", "token_type": "Bearer", "id_token": signed},
            "userinfo_endpoint": person,
        }
        body = json.dumps(answers[urlsplit(self.path).path.rpartition("/")[2]]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def post(token: str, method: str = "tools/call") -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"name": "whoami"}}
    headers = {"authorization": f"Bearer {token}"}
    return make_client().post("/mcp", message, "application/json", headers=headers)


def say(token: str) -> Any:
    answer = post(token).json()
    if error := answer.get("error"):
        return error["message"]
    return json.loads(answer["result"]["content"][0]["text"])["data"]


def sign_in(browser: Any, client_id: str = DOCUMENT) -> dict[str, Any]:
    """Sign in with the company's login, and return the answer with the tokens."""
    own = {"client_id": client_id, "redirect_uri": CALLBACK, "resource": f"{HOST}/mcp"}
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
    asked = {
        **own,
        "response_type": "code",
        "scope": "openid",
        "code_challenge": challenge.decode().rstrip("="),
        "code_challenge_method": "S256",
    }
    login = browser.get("/identity/o/authorize", asked)["Location"]
    page = browser.get(login).content.decode()
    assert "/accounts/oidc/entra/login/" in page, page
    browser.handler.enforce_csrf_checks = False
    after = parse_qs(urlsplit(login).query)["next"][0]
    entra = browser.post("/accounts/oidc/entra/login/", {"next": after})["Location"]
    (state,) = parse_qs(urlsplit(entra).query)["state"]
    back = browser.get("/accounts/oidc/entra/login/callback/", {"code": "x", "state": state})
    assert back["Location"] == after, back["Location"]
    form = browser.get(after).context_data["form"]
    sent = {"request": form.initial["request"], "scopes": ["openid"], "action": "grant"}
    code = parse_qs(urlsplit(browser.post("/identity/o/authorize", sent)["Location"]).query)["code"]
    exchange = {**own, "grant_type": "authorization_code", "code": code[0]}
    exchange["code_verifier"] = VERIFIER
    return make_client().post("/identity/o/api/token", exchange).json()


def use_tokens() -> dict[str, Any]:
    from allauth.idp.oidc.internal import cimd
    from allauth.idp.oidc.models import Client, Token
    from allauth.socialaccount.models import SocialAccount
    from django.contrib.auth.models import User

    read: list[str] = []
    cimd.fetch_metadata = lambda client_id: read.append(client_id) or PUBLISHED
    ada = User.objects.create_user("ada")
    SocialAccount.objects.create(user=ada, provider="entra", uid="ada-at-entra")
    facts: dict[str, Any] = {}
    stranger = {"client_id": DOCUMENT, "grant_type": "authorization_code", "code": "x"}
    make_client().post("/identity/o/api/token", stranger)
    facts["read_for_strangers"] = [*read]
    token = sign_in(make_client())["access_token"]
    facts["said"] = say(token)
    headers = {"authorization": f"Bearer {token}"}
    facts["api"] = make_client().get("/api/whoami/", headers=headers).status_code
    for name, resources in {"unnamed": [], "other": [f"{HOST}/other"]}.items():
        Token.objects.filter(type="at").update(data={"resources": resources})
        refused = post(token, "tools/list")
        facts[name] = [refused.status_code, refused.headers.get("WWW-Authenticate", "")]
    Token.objects.filter(type="at").update(data={})
    facts["unnamed_api"] = make_client().get("/api/whoami/", headers=headers).status_code
    User.objects.update(is_active=False)
    facts["inactive"] = post(token, "tools/list").status_code
    User.objects.update(is_active=True)

    def get_service_token(client: dict[str, str]) -> str:
        sent = {**client, "grant_type": "client_credentials"}
        return make_client().post("/identity/o/api/token", sent).json()["access_token"]

    plain = Client(id="plain", owner=ada, grant_types="client_credentials")
    plain.set_default_scopes(["openid"])
    plain.set_secret("secret")
    plain.save()
    nobody = get_service_token({"client_id": "plain", "client_secret": "secret"})
    facts["nobody"] = [post(nobody).status_code, say(nobody)]
    out = StringIO()
    for tools in ("other*", "who*"):
        call_command(
            *("mcp_service_client", "gateway", "--user", "ada", "--tools", tools, "--json"),
            stdout=out,
            stderr=StringIO(),
        )
        made = json.loads(out.getvalue().partition("}")[0] + "}")
        service = get_service_token(made)
        facts[f"service {tools}"] = say(service)
    call_command("mcp_service_client", "gateway", "--delete", stdout=out)
    facts["deleted"] = post(service).status_code
    for address in ("oauth-authorization-server", "openid-configuration"):
        metadata = make_client().get(f"/.well-known/{address}").json()
        documents = metadata["client_id_metadata_document_supported"]
        facts[address] = [metadata["issuer"], documents]
    return facts


def check() -> dict[str, Any]:
    from django.core.checks import run_checks
    from django.test import override_settings

    def find() -> list[str]:
        return [m.id for m in run_checks(tags=["drf_mcp"]) if not m.is_silenced()]

    own = "allauth.idp.oidc.contrib.rest_framework.authentication.TokenAuthentication"
    from django.conf import settings

    facts = {"checks": find()}
    with override_settings(DRF_MCP={**settings.DRF_MCP, "AUTHENTICATION_CLASSES": [own]}):
        facts["checks of allauth's class"] = find()
    return facts


if __name__ == "__main__":
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Entra) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        pem = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        os.environ |= {"OIDC_PRIVATE_KEY": pem, "ENTRA_ID": "shop", "ENTRA_SECRET": "secret"}
        os.environ["ENTRA_URL"] = f"http://127.0.0.1:{server.server_port}"
        configure("allauth")
        call_command("migrate", verbosity=0)
        serve("allauth")
        found = {**use_tokens(), **check()}
        server.shutdown()
    print(json.dumps(found))  # noqa: T201
