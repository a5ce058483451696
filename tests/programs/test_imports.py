"""Which modules are loaded by importing the package, by rendering, and by calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.sources import ROOT

APPS = sorted(
    f"drf_mcp.contrib.{each.parent.name}" for each in (ROOT / "contrib").glob("*/apps.py")
)
HEAVY = ("pydantic", "jsonschema", "mcp_types", "mcp", "drf_spectacular", "django.test")

CALL = """
import json, sys
import django
from django.conf import settings
settings.configure(
    SECRET_KEY="x", ALLOWED_HOSTS=["localhost"], ROOT_URLCONF="loaded_urls",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "drf_mcp"],
    DRF_MCP={"EXPOSE": "urlconf", "PERMISSION_CLASSES": []},
)
django.setup()
from django.urls import include, path
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

class Numbers(serializers.Serializer):
    number = serializers.IntegerField(max_value=5)

class Echo(APIView):
    permission_classes = []
    serializer_class = Numbers
    def post(self, request):
        serializer = Numbers(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.data)

urls = type(sys)("loaded_urls")
urls.urlpatterns = [path("", include("drf_mcp.urls")), path("echo/", Echo.as_view())]
sys.modules["loaded_urls"] = urls
from drf_mcp.transports.in_process import InProcessClient
send = InProcessClient().send
assert send("tools/list", {})["result"]["tools"][0]["name"] == "echo"
answers = [send("tools/call", {"name": "echo", "arguments": {"number": n}}) for n in (1, 9)]
assert [a["result"].get("isError") for a in answers] == [None, True], answers
print(json.dumps(sorted(sys.modules)))
"""

RENDER = """
import json, sys
import django
from django.conf import settings
settings.configure()
django.setup()
from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.outcomes import Category, Failure, Outcome
for envelope in (OkEnvelope(), PlainEnvelope(), ResponseV2Envelope(), StatusEnvelope()):
    failure = Failure("NOT_FOUND", Category.NOT_FOUND, "Not found.", "Look it up.")
    for outcome in (Outcome("t", 200, [1]), Outcome("t", 404, {}, failure)):
        envelope.texts(outcome, json.dumps)
        envelope.schema({"type": "array", "items": {}})
assert "pydantic" not in sys.modules
from drf_mcp.envelopes import DigestPayload
assert "pydantic" in sys.modules
"""


def modules_after(code: str) -> set[str]:
    """Run code in another interpreter, and return the modules that it prints."""
    own = {**os.environ, "PYTHONPATH": str(ROOT.parent)}
    own.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=own, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", ["drf_mcp", "drf_mcp.pytest_plugin"])
def test_importing_the_package_loads_neither_django_nor_rest_framework(name):
    code = f"import json, sys, {name}; drf_mcp.call_context; print(json.dumps([*sys.modules]))"
    assert not {"django", "rest_framework", *HEAVY} & modules_after(code)


def test_pydantic_is_imported_by_the_first_use_of_a_model_and_not_by_rendering():
    modules_after(RENDER + "print('[]')")


def test_listing_and_calling_tools_loads_no_heavy_module_and_no_app_of_contrib():
    """Also where opentelemetry is not installed."""
    loaded = modules_after("import sys\nsys.modules['opentelemetry'] = None\n" + CALL)
    assert not set(HEAVY) & loaded
    assert not [name for name in loaded if name.startswith("drf_mcp.contrib")]


EARLY = f"""
import django
from django.conf import settings
apps = ["early", "django.contrib.contenttypes", "django.contrib.auth", "oauth2_provider"]
settings.configure(INSTALLED_APPS=[*apps, "drf_mcp", *{APPS}])
django.setup()
print("[]")
"""
READ = """
from drf_mcp.option_types.installed import features
assert features.tool_options
"""


def test_features_are_found_before_models_are_loaded(tmp_path):
    """A module of models may import views with options that features declare."""
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "__init__.py").touch()
    (tmp_path / "early" / "models.py").write_text(READ)
    modules_after(f"import sys\nsys.path.append({str(tmp_path)!r})\n{EARLY}")
