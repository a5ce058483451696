"""Files that are uploaded over HTTP before the call, and the callers who may use them."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import storages
from django.core.management import call_command
from django.core.validators import FileExtensionValidator
from django.urls import include, path
from django.utils import timezone
from rest_framework import serializers
from rest_framework.authtoken.models import Token
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from drf_mcp import mcp_tool
from drf_mcp.contrib.uploads import views
from drf_mcp.contrib.uploads.models import WaitingFile
from drf_mcp.contrib.uploads.views import FOLDER
from drf_mcp.settings import say_bound
from tests.agents import Result

pytestmark = pytest.mark.django_db
PDF = b"%PDF-1.7 " + bytes(range(256)) * 1024
UPLOADS = "/mcp/uploads/"


class ScanSerializer(serializers.Serializer):
    file = serializers.FileField(validators=[FileExtensionValidator(["pdf", "png"])])
    note = serializers.CharField(required=False)


@mcp_tool(name="scans_create")
class ScanView(APIView):
    """File a scan."""

    serializer_class = ScanSerializer
    parser_classes = [JSONParser, MultiPartParser]
    permission_classes = [IsAuthenticated]

    def post(self, request: Any) -> Response:
        serializer = ScanSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        file = serializer.validated_data["file"]
        same = file.read() == PDF
        return Response({"name": file.name, "type": file.content_type, "same": same})


class OnceADay(UserRateThrottle):
    rate = "1/day"
    scope = "uploads"


@pytest.fixture(autouse=True)
def served(expose: Callable[..., None], settings: Any, tmp_path: Path) -> None:
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    settings.STORAGES = {
        **settings.STORAGES,
        "scans": {**storage, "OPTIONS": {"location": str(tmp_path)}},
    }
    uploads = path("mcp/uploads/", include("drf_mcp.contrib.uploads.urls"))
    expose(uploads, path("scans/", ScanView.as_view()), UPLOAD_STORAGE="scans")


def authorization_of(name: str) -> dict[str, str]:
    user, _made = User.objects.get_or_create(username=name)
    return {"Authorization": f"Token {Token.objects.get_or_create(user=user)[0].key}"}


@pytest.fixture
def upload(client: Any) -> Callable[..., Any]:
    def upload(user: str = "alice", name: str = "scan.pdf") -> Any:
        return client.generic(
            "POST",
            f"{UPLOADS}?name={name}",
            PDF,
            content_type="application/pdf",
            headers=authorization_of(user),
        )

    return upload


@pytest.fixture
def scan(client: Any) -> Callable[..., Any]:
    def scan(reference: str, user: str = "alice") -> Any:
        params = {"name": "scans_create", "arguments": {"file": reference}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = client.post(
            "/mcp", message, content_type="application/json", headers=authorization_of(user)
        )
        return Result(answer.json()["result"])

    return scan


def stored(storage: str = "scans") -> list[str]:
    try:
        return storages[storage].listdir(FOLDER)[1]
    except FileNotFoundError:
        return []


def test_a_view_gets_an_uploaded_file_as_from_a_form(upload, scan):
    answer = upload()
    assert answer.status_code == 201
    made = answer.json()
    assert (made["name"], made["size"], made["expires_in"]) == ("scan.pdf", len(PDF), 3600)
    data = scan(made["reference"]).data
    assert data == {"name": "scan.pdf", "type": "application/pdf", "same": True}
    # A second call may use the file as well.
    assert not scan(made["reference"]).is_error


def test_another_caller_cannot_use_the_reference(upload, scan):
    result = scan(upload("alice").json()["reference"], user="bob")
    assert result.data["details"]["field"] == "file"
    assert result.data["remediation"] == "Upload the file again, and send the new reference."


def test_a_changed_expired_or_deleted_reference_is_refused(upload, scan, subtests, monkeypatch):
    reference = upload().json()["reference"]
    with subtests.test("changed"):
        assert scan(f"{reference}x").is_error
    with subtests.test("expired"):
        with monkeypatch.context() as later:
            later.setattr(timezone, "now", lambda now=timezone.now: now() + timedelta(seconds=3601))
            assert scan(reference).is_error
        assert not scan(reference).is_error
    with subtests.test("deleted"):
        (name,) = stored()
        storages["scans"].delete(f"{FOLDER}/{name}")
        assert scan(reference).is_error


def test_a_file_that_is_too_large_leaves_nothing_behind(upload, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "UPLOAD_MAX_BYTES": len(PDF) - 1}
    answer = upload()
    assert answer.status_code == 413
    assert stored() == []


def test_an_anonymous_upload_is_refused(client, settings):
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    }
    answer = client.generic("POST", UPLOADS, PDF, content_type="application/pdf")
    assert answer.status_code == 401
    assert stored() == []


def test_an_upload_of_another_origin_is_refused(client):
    headers = {**authorization_of("alice"), "Origin": "https://evil.example"}
    answer = client.generic("POST", UPLOADS, PDF, content_type="text/plain", headers=headers)
    assert answer.status_code == 403
    assert stored() == []


def test_the_throttles_of_the_endpoint_count_uploads(upload, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "THROTTLE_CLASSES": [OnceADay]}
    assert [upload().status_code for _ in range(2)] == [201, 429]


def test_expired_files_are_deleted(upload, monkeypatch, capsys):
    assert upload().status_code == 201
    call_command("mcp_expire")
    assert len(stored()) == 1
    monkeypatch.setattr(timezone, "now", lambda now=timezone.now: now() + timedelta(seconds=3601))
    call_command("mcp_expire")
    assert stored() == []
    assert "Deleted uploaded files: 1" in capsys.readouterr().out


# --- Who may upload, and how much ------------------------------------------------------------


def test_a_caller_who_sees_no_tool_with_a_file_stores_none(client, settings, subtests):
    """As tools/list: narrowed, read-only, or refused by the permissions of the view."""
    with subtests.test("narrowed"):
        headers = {**authorization_of("alice"), "MCP-Toolsets": "reading"}
        settings.DRF_MCP = {**settings.DRF_MCP, "TOOLSETS": {"reading": ["nothing_*"]}}
        assert client.generic("POST", UPLOADS, PDF, headers=headers).status_code == 403
    with subtests.test("read-only"):
        settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": True}
        answer = client.generic("POST", UPLOADS, PDF, headers=authorization_of("alice"))
        assert answer.status_code == 403
        assert answer.json()["error"]["message"] == "No tool that you may call takes a file."
        settings.DRF_MCP = {**settings.DRF_MCP, "READ_ONLY": False}
    with subtests.test("not permitted"):
        assert client.generic("POST", UPLOADS, PDF).status_code == 403
    assert (stored(), WaitingFile.objects.count()) == ([], 0)


@pytest.mark.parametrize(("bound", "value"), [("MAX_UPLOADS", 2), ("MAX_UPLOADS_BYTES", 600_000)])
def test_files_beyond_the_bound_are_refused_with_its_sentence(upload, settings, bound, value):
    settings.DRF_MCP = {**settings.DRF_MCP, bound: value}
    assert [upload().status_code for _ in range(2)] == [201, 201]
    answer = upload()
    assert answer.status_code == 429
    assert say_bound(bound) in answer.json()["error"]["message"]
    assert len(stored()) == WaitingFile.objects.count() == 2
    assert upload("bob").status_code == 201
    WaitingFile.objects.update(expires=timezone.now())
    assert upload().status_code == 201


def test_uploads_at_the_same_time_do_not_pass_the_bound_together(upload, settings, monkeypatch):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_UPLOADS": 1}
    save, others = views.UploadView.store_body, []

    def upload_another(self, *args):
        if not others:
            others.append(None)
            others[0] = upload().status_code
        return save(self, *args)

    monkeypatch.setattr(views.UploadView, "store_body", upload_another)
    assert (upload().status_code, others) == (201, [429])
    assert len(stored()) == WaitingFile.objects.count() == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}, 411),
        ({"CONTENT_LENGTH": "0", "HTTP_TRANSFER_ENCODING": "chunked"}, 411),
        ({"CONTENT_LENGTH": ""}, 411),
        ({"CONTENT_LENGTH": "many"}, 411),
        ({"CONTENT_LENGTH": "0"}, 400),
        ({"CONTENT_LENGTH": str(len(PDF) + 1)}, 400),
    ],
)
def test_a_file_is_stored_whole_or_not_at_all(client, headers, status):
    key = {"HTTP_AUTHORIZATION": authorization_of("alice")["Authorization"]}
    body = {"wsgi.input": io.BytesIO(PDF), "wsgi.input_terminated": True}
    answer = client.generic("POST", UPLOADS, PDF, **{**key, **body, **headers})
    assert (answer.status_code, stored()) == (status, [])
    assert not WaitingFile.objects.exists()
