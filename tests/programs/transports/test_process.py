"""``manage.py mcp_stdio`` as a client sees it: one message a line, and no other output."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.agents import REVISIONS, STATELESS
from tests.programs.interop.servers import ROOT
from tests.programs.transports.processes import wait_for

HANDSHAKES = [revision for revision in REVISIONS if revision != STATELESS]
INITIALIZE = {"capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


@pytest.mark.parametrize(
    ("first", "unbuffered"), [((), ""), (("-m", "drf_mcp"), "1")], ids=["buffered", "unbuffered"]
)
def test_stdout_has_only_messages_although_the_project_prints(serve, first, unbuffered):
    settings = "tests.programs.transports.noisy_settings"
    server = serve(settings=settings, first=first, PYTHONUNBUFFERED=unbuffered)
    server.call(1, "noise")
    server.call(2, "noise")
    answers = server.close()
    assert {answer["id"] for answer in answers} == {1, 2}
    assert answers[0]["result"]["structuredContent"]["data"] == {"read": "", "said": "ünïcode"}
    errors = server.log.read_text()
    for text in (
        "the settings are loaded",
        "the settings warn",
        "printed\n",
        "printed to the real one",
        "written to the descriptor",
        "printed by a child",
        "warned",
        "logged",
    ):
        assert text in errors


@pytest.mark.parametrize("revision", HANDSHAKES)
def test_the_revision_of_the_handshake_holds_for_the_whole_connection(serve, revision):
    server = serve("--as", "alice")
    server.send("initialize", 1, protocolVersion=revision, **INITIALIZE)
    assert server.answer()["result"]["protocolVersion"] == revision
    server.send("notifications/initialized")
    server.call(2, "stats")
    result = server.answer()["result"]
    assert "structuredContent" in result
    assert server.close() == []


@pytest.mark.nightly
def test_a_line_that_is_no_message_is_answered_without_an_id(noisy):
    noisy.write(b"nonsense\n\n   \n[]\n")
    errors = [answer["error"]["code"] for answer in (noisy.answer(), noisy.answer())]
    assert sorted(errors) == [-32700, -32600]
    noisy.send("notifications/initialized")
    noisy.send("ping", 1)
    assert noisy.close() == [{"jsonrpc": "2.0", "id": 1, "result": {}}]
    assert noisy.process.returncode == 0


def test_all_requests_are_answered_before_the_server_ends_with_stdin(serve):
    server = serve("--as", "alice")
    for number in range(20):
        server.call(number, "stats")
    server.send_stateless("server/discover", 20)
    assert {answer["id"] for answer in server.close()} == set(range(21))
    assert server.process.returncode == 0


@pytest.mark.nightly
def test_a_slow_call_does_not_delay_others(noisy, tmp_path):
    noisy.call(1, "wait", name="a")
    wait_for(tmp_path / "a")
    noisy.send("ping", 2)
    assert noisy.answer()["id"] == 2
    (tmp_path / "a").unlink()
    assert noisy.answer()["id"] == 1


def test_a_cancelled_call_is_not_answered(noisy, tmp_path):
    noisy.call(1, "wait", name="a")
    wait_for(tmp_path / "a")
    noisy.send("notifications/cancelled", requestId=1)
    noisy.send("ping", 2)
    assert noisy.answer()["id"] == 2
    (tmp_path / "a").unlink()
    assert noisy.close() == []


@pytest.mark.parametrize(
    "how", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.nightly)]
)
def test_a_signal_ends_the_server_cleanly(noisy, how):
    noisy.send("ping", 1)
    noisy.answer()
    noisy.process.send_signal(how)
    assert noisy.rest() == []
    assert noisy.process.returncode == 0
    assert "Traceback" not in noisy.log.read_text()


def test_a_running_call_is_finished_after_a_signal(noisy, tmp_path):
    noisy.call(1, "wait", name="a")
    wait_for(tmp_path / "a")
    noisy.process.send_signal(signal.SIGTERM)
    (tmp_path / "a").unlink()
    noisy.rest()
    assert noisy.process.returncode == 0
    assert (tmp_path / "a.done").exists()


@pytest.mark.parametrize("scheme", ["", "Token "])
def test_the_token_in_the_environment_authenticates_the_caller(serve, shop, scheme):
    server = serve(MCP_TOKEN=scheme + shop.tokens["carol"])
    server.call(1, "customers_deactivate", pk=10**9)
    result = server.answer()["result"]["structuredContent"]
    assert result["data"]["error_code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "environment", [{"MCP_TOKEN": "wrong"}, pytest.param({}, marks=pytest.mark.nightly)]
)
def test_a_caller_without_credentials_is_refused_for_each_request(serve, environment):
    server = serve(**environment)
    server.call(1, "stats")
    error = server.answer()
    assert (error["id"], error["error"]["code"]) == (1, 401)
    server.send("notifications/initialized")
    assert server.close() == []


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        (["--as", "nobody"], {}, "There is no user 'nobody'."),
        (["--as", "alice"], {"MCP_TOKEN": "x"}, "not both"),
    ],
)
def test_a_server_that_cannot_start_says_why_on_stderr(shop, arguments, environment, message):
    run = subprocess.run(
        [sys.executable, "manage.py", "mcp_stdio", *arguments],
        cwd=ROOT,
        env={**shop.environment, **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr
