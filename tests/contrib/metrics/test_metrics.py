"""What is counted and measured, who may read it, and the names that requests get."""

from __future__ import annotations

import pytest
import sentry_sdk
from django.apps import apps
from django.core.signals import got_request_exception
from django.urls import include, path
from django.utils import timezone
from django.utils.module_loading import import_string
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client.parser import text_string_to_metric_families as parse
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.contrib.metrics import feature
from drf_mcp.contrib.metrics.meters import open_meters
from drf_mcp.contrib.prompts import Prompt
from drf_mcp.contrib.rules.feature import RulesFeature
from drf_mcp.exposure import registry
from drf_mcp.features import get_rows
from tests.observability.views import Crashes, Declines

SECONDS = "mcp_server_operation_duration_seconds"
names: list[str] = []


class OwnCode(APIException):
    status_code = 400


class NumberSerializer(serializers.Serializer):
    number = serializers.IntegerField(required=False)


class Number(APIView):
    """Answer with a text, or fail with a code of the number's own."""

    permission_classes = []
    serializer_class = NumberSerializer

    def post(self, request) -> Response:
        if number := request.data.get("number"):
            raise OwnCode("No.", f"code_{number}")
        return Response({"text": "hello " * 400})


def note_view_name(get_response):
    """Read the name of the view as django-prometheus does, after the view."""

    def middleware(request):
        response = get_response(request)
        names.append(request.resolver_match.view_name)
        return response

    return middleware


@pytest.fixture(autouse=True)
def provider(monkeypatch) -> InMemoryMetricReader:
    """Count from nothing, for Prometheus and for a process with OpenTelemetry."""
    reader = InMemoryMetricReader()
    monkeypatch.setattr(metrics._internal, "_METER_PROVIDER", MeterProvider([reader]))
    monkeypatch.setattr(apps.get_app_config("drf_mcp_metrics"), "meters", open_meters())
    monkeypatch.setattr(feature, "codes", set())
    names.clear()
    return reader


@pytest.fixture
def configure(expose):
    def configure(**mcp_settings) -> None:
        classes = (Number, Crashes, Declines)
        views = [path(f"{view.__name__.lower()}/", view.as_view()) for view in classes]
        urls = include("drf_mcp.contrib.metrics.urls")
        expose(*views, path("metrics", urls), **mcp_settings)

    return configure


@pytest.fixture
def agent(configure, agent_of):
    configure()
    agent = agent_of("alice")
    agent.http.raise_request_exception = False
    return agent


@pytest.fixture
def read(http_of):
    """Return the value of a metric as Prometheus reads it, None where there is none."""

    def read(metric: str, **labels: str) -> float | None:
        text = http_of("carol").get("/metrics").content.decode()
        samples = [sample for family in parse(text) for sample in family.samples]
        found = [s for s in samples if s.name == metric and labels.items() <= s.labels.items()]
        return sum(sample.value for sample in found) if found else None

    return read


def test_calls_are_counted_by_tool_and_outcome(agent, read):
    for tool in ("number", "number", "declines", "crashes"):
        agent.call(tool)
    for tool, outcome, error_type, calls in (
        ("number", "success", "", 2),
        ("declines", "soft_failure", "", 1),
        ("crashes", "error", "tool_error", 1),
    ):
        labels = {"gen_ai_tool_name": tool, "mcp_method_name": "tools/call"}
        labels |= {"drf_mcp_outcome": outcome, "error_type": error_type}
        assert read(f"{SECONDS}_count", **labels) == calls
        assert read(f"{SECONDS}_bucket", le="0.01", **labels) <= calls
    found = read("drf_mcp_tool_errors_total", drf_mcp_error_code="INTERNAL_ERROR")
    assert found == read("drf_mcp_tool_errors_total") == 1


def test_lists_refused_messages_and_unknown_tools_are_measured(agent, agent_of, configure, read):
    agent.tools()
    assert read(f"{SECONDS}_count", mcp_method_name="tools/list") == 1
    agent.error("tools/call", name="nothing")
    assert read(f"{SECONDS}_count", rpc_response_status_code="-32602", gen_ai_tool_name="") == 1
    configure(PERMISSION_CLASSES=["rest_framework.permissions.IsAuthenticated"])
    agent_of(None).request("tools/list")
    assert read(f"{SECONDS}_count", error_type="401", mcp_method_name="tools/list") == 1


def test_prompts_are_measured_by_their_names(agent, read, monkeypatch):
    monkeypatch.setattr(registry, "_added", [Prompt("complaint", text="Answer.")])
    agent.result("prompts/get", name="complaint")
    labels = {"mcp_method_name": "prompts/get", "gen_ai_tool_name": ""}
    assert read(f"{SECONDS}_count", gen_ai_prompt_name="complaint", **labels) == 1


def test_the_tokens_of_results_are_measured(agent, read):
    agent.call("number")
    assert 400 < read("drf_mcp_tool_result_tokens_sum", gen_ai_tool_name="number") < 700


def test_callers_make_no_metrics_of_their_own(agent, read):
    for number in range(1, 121):
        agent.call("number", number=number)
        message, headers = agent.frame(f"made/up{number}", {})
        agent.post(message, headers)
    assert len(feature.codes) == feature.MAX_CODES
    assert read("drf_mcp_tool_errors_total", drf_mcp_error_code="_OTHER") == 20
    assert read(f"{SECONDS}_count", mcp_method_name="_OTHER") == 120


def test_opentelemetry_gets_the_same_by_its_conventions(agent, provider):
    agent.call("crashes")
    (scope,) = provider.get_metrics_data().resource_metrics[0].scope_metrics
    found = {metric.name: metric for metric in scope.metrics}
    seconds = found["mcp.server.operation.duration"]
    (point,) = seconds.data.data_points
    assert (seconds.unit, point.count, point.explicit_bounds[:3]) == ("s", 1, (0.01, 0.02, 0.05))
    assert point.attributes == {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "crashes",
        "gen_ai.operation.name": "execute_tool",
        "error.type": "tool_error",
        "drf_mcp.outcome": "error",
    }
    assert found.keys() >= {"drf_mcp.tool.errors", "drf_mcp.tool.result.tokens"}
    assert found["drf_mcp.tasks_waiting"].data.data_points[0].value == 0


def test_what_waits_and_what_is_kept_is_counted_when_it_is_read(configure, agent_of, read):
    now = timezone.now()
    times = {"created": now, "updated": now, "expires": now + timezone.timedelta(days=1)}
    tasks, proposals = get_rows("drf_mcp_tasks.CallTask"), get_rows("drf_mcp_rules.Proposal")
    for number, row in enumerate(({}, {"started": now}, {"status": "completed"})):
        values = {"status": "working", "request": {"params": {}}, **row}
        tasks.create(task_id=f"t{number}", **values, **times)
    for status in ("waiting", "done"):
        proposals.create(proposal_id=status, status=status, approvals_needed=1, **times)
    configure(ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive", MAX_RESULT_TOKENS=1000)
    agent_of("alice").call("number", number=0)
    archived = sum(get_rows("drf_mcp.ArchivedContent").values_list("size", flat=True))
    assert read("drf_mcp_archive_characters") == archived
    assert read("drf_mcp_tasks_waiting") == 1
    assert import_string(RulesFeature.gauges["proposals_waiting"])() == 1
    configure(ARCHIVE_CLASS=None)
    assert read("drf_mcp_archive_characters") is None


def test_only_those_whom_the_setting_lets_in_read_the_numbers(configure, http_of):
    configure()
    assert http_of(None).get("/metrics").status_code == 401
    assert http_of("alice").get("/metrics").status_code == 403
    accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
    answer = http_of("carol").get("/metrics", headers={"accept": accept})
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    configure(METRICS_PERMISSION_CLASSES=["rest_framework.permissions.AllowAny"])
    assert http_of(None).get("/metrics").status_code == 200


def test_the_view_is_named_after_the_tool(agent, settings):
    settings.MIDDLEWARE = [f"{__name__}.note_view_name", *settings.MIDDLEWARE]
    agent.call("crashes")
    agent.tools()
    assert names == ["tools/call crashes", "drf_mcp:endpoint"]


def trace_as_sentry_does(get_response):
    """Open the transaction of a request, as the integration of Sentry with Django does."""

    def middleware(request):
        with sentry_sdk.start_transaction(op="http.server", name=request.path):
            return get_response(request)

    return middleware


def test_sentry_has_a_crash_and_its_transaction_by_the_name_of_the_tool(
    agent, settings, monkeypatch
):
    events: list[tuple[str, str]] = []

    def note(event, hint) -> None:
        events.append((event.get("type", "error"), event["transaction"]))

    def capture(**kwargs) -> None:
        sentry_sdk.capture_exception()

    noting = {"before_send": note, "before_send_transaction": note, "traces_sample_rate": 1.0}
    client = sentry_sdk.Client(
        "http://key@127.0.0.1:9/1", release="1", default_integrations=False, **noting
    )
    monkeypatch.setattr(sentry_sdk.get_global_scope(), "client", client)
    settings.MIDDLEWARE = [f"{__name__}.trace_as_sentry_does", *settings.MIDDLEWARE]
    got_request_exception.connect(capture)
    try:
        agent.call("crashes")
    finally:
        got_request_exception.disconnect(capture)
        client.close()
    assert events == [("error", "tools/call crashes"), ("transaction", "tools/call crashes")]
