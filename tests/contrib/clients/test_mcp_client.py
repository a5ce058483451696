"""``manage.py mcp_client`` writes a client with the tools of a caller."""

from __future__ import annotations

import ast
import io
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.urls import path
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from drf_mcp.contrib.clients.writers import PythonWriter, TypeScriptWriter
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.management.base import UsageError
from drf_mcp.tools import mcp_viewset
from tests.contrib.clients.writing import run_client

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).with_name("golden")


def write(*args: str) -> str:
    out = io.StringIO()
    call_command("mcp_client", *args, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("language", "runtime", "name"),
    [
        ("python", PythonWriter.runtime, "support.py.txt"),
        ("typescript", TypeScriptWriter.runtime, "support.ts.txt"),
    ],
)
def test_the_client_of_a_toolset_equals_the_golden_file(tmp_path, language, runtime, name):
    text = write(language, "--as", "alice", "--endpoint", "/mcp/x/support")
    shown = text.replace(runtime.rstrip(), "[the runtime]")
    golden = GOLDEN / name
    if not golden.exists() or golden.read_text() != shown:
        seen = tmp_path / name
        seen.write_text(shown)
        pytest.fail(f"{name} differs. Look at it, and to accept it: cp {seen} {golden}")


def methods_of(text: str) -> set[str]:
    (tools,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == "Tools"
    )
    return {each.name for each in tools.body if isinstance(each, ast.AsyncFunctionDef)} - {"_call"}


def test_the_tools_are_those_that_the_caller_sees():
    alice, carol = (methods_of(write("python", "--as", name)) for name in ("alice", "carol"))
    assert "customers_deactivate" not in alice
    assert "customers_deactivate" in carol
    assert {"customers_list", "orders_aggregate", "content_retrieve"} <= alice


def test_without_a_caller_all_tools_are_written():
    """The endpoint refuses anonymous callers."""
    assert {"customers_list", "customers_deactivate"} <= methods_of(write("python"))


def test_tools_of_features_are_written():
    assert "tools_compose" in methods_of(
        write("python", "--as", "alice", "--endpoint", "/mcp/compose")
    )
    found = methods_of(write("python", "--as", "alice", "--endpoint", "/mcp/search"))
    assert {"tools_search", "tools_read", "orders_create"} <= found


def test_a_file_is_written(tmp_path):
    file = tmp_path / "shop.py"
    assert write("python", "--as", "alice", "--output", str(file)) == ""
    assert file.read_text(encoding="utf-8") == write("python", "--as", "alice")


def test_an_output_file_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        write("python", "--as", "alice", "--output", str(tmp_path / "none" / "shop.py"))


class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id"]


def make_view(envelope):
    @mcp_viewset(envelope_class=envelope, name=(envelope.contract or "plain").replace("-", "_"))
    class Groups(ListAPIView):
        serializer_class = GroupSerializer
        queryset = Group.objects.order_by("pk")
        authentication_classes = permission_classes = []

    return Groups


def test_the_type_of_data_fits_each_envelope(expose):
    envelopes = [ResponseV2Envelope, OkEnvelope, StatusEnvelope, PlainEnvelope]
    expose(*(path(f"{n}/", make_view(each).as_view()) for n, each in enumerate(envelopes)))
    module = run_client(write("python"))
    for name in ("ResponseV2ListData", "StatusListData"):
        assert get_type_hints(getattr(module, name), vars(module)).keys() == {"results"}
    assert module.OkListData == module.PlainListData
    (row,) = get_args(module.PlainListData)
    assert get_type_hints(row, vars(module)) == {"id": int | None}
