"""``mcp_init``: what it adds to the files of a project, and what it leaves to its developer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "manage.py": """\
import os, sys
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_of.settings.local")
from django.core.management import execute_from_command_line
execute_from_command_line(sys.argv)
""",
    "site_of/__init__.py": "",
    "site_of/settings/__init__.py": "",
    "site_of/settings/base.py": """\
SECRET_KEY = "x"
ROOT_URLCONF = "site_of.urls"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes", "rest_framework",
    "notes"  # ours
]
MIDDLEWARE = ["notes.middleware.Tenant"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
""",
    "site_of/settings/local.py": "from .base import *\n\nDEBUG = True\n",
    "site_of/urls.py": """\
from django.urls import path
from notes.views import ping

urlpatterns = [path("api/ping/", ping)]
""",
    "notes/__init__.py": "",
    "notes/views.py": """\
from rest_framework.decorators import api_view
from rest_framework.response import Response


@api_view()
def ping(request):
    return Response({})
""",
    "notes/middleware.py": """\
class Tenant:
    def __init__(self, get_response):
        self.get_response = get_response

    def __call__(self, request):
        request.tenant = request.path.startswith("/api/")
        return self.get_response(request)
""",
}


@pytest.fixture
def project(tmp_path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def initialize(project: Path, *options: str) -> str:
    command = [sys.executable, "-m", "drf_mcp", "manage.py", "mcp_init", *options]
    # The parent's settings are of another project.
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(project: Path) -> dict[str, str]:
    return {
        path.relative_to(project).as_posix(): path.read_text() for path in project.rglob("*.py")
    }


def test_a_project_gets_the_app_the_urls_registrations_and_the_middleware_around_calls(project):
    said = initialize(project)
    changed = {name: text for name, text in read(project).items() if FILES.get(name) != text}
    assert changed == {
        "site_of/settings/base.py": FILES["site_of/settings/base.py"].replace(
            '"notes"  # ours\n', '"notes",  # ours\n    "drf_mcp",\n'
        ),
        "site_of/settings/local.py": FILES["site_of/settings/local.py"]
        + '\nDRF_MCP = {"CALL_MIDDLEWARE": ["notes.middleware.Tenant"]}\n',
        "site_of/urls.py": FILES["site_of/urls.py"]
        .replace("import path", "import include, path")
        .replace("ping)]", 'ping), path("", include("drf_mcp.urls"))]'),
        "notes/mcp.py": "# Take out what agents should not be offered.\n"
        "from drf_mcp import registry\n\nfrom notes.views import ping\n\nregistry.register(ping)\n",
    }
    assert "mcp_tools" in said
    assert "changed" not in initialize(project)


def test_the_settings_are_those_that_manage_py_names_in_whatever_way(project):
    manage = project / "manage.py"
    computed = FILES["manage.py"].replace(
        '"site_of.settings', 'os.environ.get("OWN", "site_of")+".settings'
    )
    manage.write_text(computed)
    assert "settings/base.py: changed" in initialize(project)


def test_a_dry_run_shows_the_changes_and_makes_none(project):
    said = initialize(project, "--dry-run")
    assert read(project) == FILES
    assert '+    "drf_mcp",' in said
    assert "+registry.register(ping)" in said


def test_a_computed_list_of_apps_gets_a_line_and_installed_packages_get_no_file(project):
    """A virtual environment may be in the folder of the project."""
    settings = project / "site_of/settings/base.py"
    text = settings.read_text().replace("INSTALLED_APPS = [", "OWN = [")
    settings.write_text(f'{text}INSTALLED_APPS = ["installed"] + OWN\n')
    for name in ("__init__.py", "views.py"):
        file = project / ".venv/lib/site-packages/installed" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(FILES[f"notes/{name}"])
    (project / "installed").symlink_to(".venv/lib/site-packages/installed")
    urls = FILES["site_of/urls.py"].replace("ping)]", 'ping), path("other/", other)]')
    (project / "site_of/urls.py").write_text(f"from installed.views import ping as other\n{urls}")
    initialize(project)
    assert settings.read_text().endswith('+ OWN\n\nINSTALLED_APPS += ["drf_mcp"]\n')
    written = {name for name in read(project) if name.endswith("/mcp.py")}
    assert written == {"notes/mcp.py"}


def test_what_it_does_not_know_how_to_change_it_says(project):
    urls = "from notes.urls import urlpatterns\n"
    (project / "site_of/urls.py").write_text(urls)
    (project / "notes/urls.py").write_text(FILES["site_of/urls.py"])
    said = initialize(project)
    assert (project / "site_of/urls.py").read_text() == urls
    assert said.count('urlpatterns += [path("", include("drf_mcp.urls"))]') == 1
