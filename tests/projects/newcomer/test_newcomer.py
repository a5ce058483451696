"""From an API without agents to the first answered call, with the commands of the pages.

The project has nested routers, JSON Web Tokens, uploads and filters by ``request.user``. The
commands are counted, and none may fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.programs.interop.servers import ROOT, free_port, wait_until_ready

PROJECT = Path(__file__).parent / "project"
MOST_COMMANDS = 9
# The changes of a project that the page "Install" and step 3 of the tutorial describe.
INSTALLED = 'INSTALLED_APPS += ["drf_mcp"]\n'
MOUNTED = '\nurlpatterns += [path("", include("drf_mcp.urls"))]\n'
EXPOSED = """\
from clinic.urls import router, visits
from drf_mcp import registry

registry.register(router)
registry.register(visits)
"""


class Newcomer:
    """A developer with an API and a terminal.

    Attributes:
        log: the commands so far.
    """

    def __init__(self, folder: Path) -> None:
        self.place = folder
        self.log: list[str] = []
        self.environment = {
            **{name: value for name, value in os.environ.items() if "DJANGO" not in name},
            **{"PYTHONPATH": str(ROOT), "COLUMNS": "80", "DJANGO_SUPERUSER_PASSWORD": "lamp"},
        }

    def run(self, *words: str) -> str:
        self.log.append(f"python manage.py {' '.join(words)}")
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{self.log[-1]}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout

    def append(self, file: str, text: str) -> None:
        with (self.place / file).open("a") as opened:
            opened.write(text)


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory) -> Newcomer:
    folder = tmp_path_factory.mktemp("newcomer") / "clinic"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Newcomer(folder)


@pytest.fixture(scope="module")
def installed(newcomer) -> Newcomer:
    newcomer.log.append("pip install drf-mcp-server")
    newcomer.append("office/settings.py", INSTALLED)
    newcomer.append("office/urls.py", MOUNTED)
    (newcomer.place / "clinic" / "mcp.py").write_text(EXPOSED)
    newcomer.run("migrate", "-v", "0")
    assert "no issues" in newcomer.run("check")
    assert "patients_visits_list" in newcomer.run("mcp_tools")
    newcomer.run("createsuperuser", "--noinput", "--username", "ada", "--email", "ada@example.com")
    return newcomer


@pytest.fixture(scope="module")
def server(installed, tmp_path_factory) -> Iterator[str]:
    port, log = free_port(), tmp_path_factory.mktemp("log") / "server.txt"
    installed.log.append("python manage.py runserver")
    with log.open("w") as written:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "runserver", "--noreload", str(port)],
            cwd=installed.place,
            env=installed.environment,
            stdout=written,
            stderr=written,
        )
        try:
            wait_until_ready(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def token(installed, server) -> str:
    installed.log.append("curl http://127.0.0.1:8000/api/token/ -d username=ada -d password=lamp")
    answer = httpx2.post(f"{server}/api/token/", data={"username": "ada", "password": "lamp"})
    return str(answer.json()["access"])


@pytest.mark.anyio
async def test_the_first_call_is_answered_after_fewer_than_ten_commands(installed, server, token):
    installed.log.append("python client.py")
    headers = {"Authorization": f"Bearer {token}"}

    async def call(client: Client, tool: str, /, **arguments: Any) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content["data"]

    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(f"{server}/mcp", http_client=http)) as client,
    ):
        patient = await call(client, "patients_create", name="Grace", born="1906-12-09")
        visit = {"patient_pk": patient["id"], "day": "2026-11-01", "reason": "A cough."}
        await call(client, "patients_visits_create", **visit)
        scan = {"patient": patient["id"], "title": "Lung", "file": "data:text/plain;base64,YQ=="}
        assert (await call(client, "scans_create", **scan))["title"] == "Lung"
        (found,) = (await call(client, "scans_list", patient=patient["id"]))["results"]
        assert found["title"] == "Lung"
        (seen,) = (await call(client, "patients_visits_list", patient_pk=patient["id"]))["results"]
        assert seen["reason"] == "A cough."
    assert len(installed.log) <= MOST_COMMANDS, "\n".join(installed.log)
