"""What is measured, by the conventions of OpenTelemetry for MCP, and who keeps the numbers.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db import connections
from django.utils.module_loading import import_string

from drf_mcp import __version__
from drf_mcp.exceptions import attempt
from drf_mcp.option_types.installed import features

CALL, TOOL = "tools/call", "gen_ai.tool.name"
# The label that names what a method reaches.
NAMES = {CALL: TOOL, "prompts/get": "gen_ai.prompt.name"}


class Instrument(NamedTuple):
    """A histogram; a counter without bounds."""

    name: str
    unit: str
    says: str
    labels: Sequence[str]
    bounds: Sequence[float] = ()

    @property
    def prometheus_name(self) -> str:
        return self.name.replace(".", "_") + ("_seconds" if self.unit == "s" else "")


DURATION = Instrument(
    "mcp.server.operation.duration",
    "s",
    "Seconds from the receipt of a message to its answer.",
    (
        "mcp.method.name",
        *NAMES.values(),
        "gen_ai.operation.name",
        "error.type",
        "rpc.response.status_code",
        "drf_mcp.outcome",
    ),
    (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300),
)
ERRORS = Instrument(
    "drf_mcp.tool.errors", "{error}", "Calls that failed.", (TOOL, "drf_mcp.error.code")
)
TOKENS = Instrument(
    "drf_mcp.tool.result.tokens",
    "{token}",
    "Tokens of a result, estimated.",
    (TOOL,),
    (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000),
)
INSTRUMENTS = (DURATION, ERRORS, TOKENS)


def find_gauges() -> Mapping[str, str]:
    """Return the functions that count what waits or is kept, by the names of their gauges."""
    found = (gauge for feature in features.installed for gauge in feature.gauges.items())
    return {f"drf_mcp.{name}": path for name, path in found}


def count(path: str) -> Any:
    # A gauge that cannot be read, as without a database, is left out.
    return attempt(import_string(path))


class OpenTelemetry:
    """Gives numbers to the meter provider of the process."""

    def __init__(self) -> None:
        from opentelemetry import metrics

        meter: Any = metrics.get_meter("drf_mcp", __version__)
        self.adding = {
            each: meter.create_histogram(
                *each[:3], explicit_bucket_boundaries_advisory=each.bounds
            ).record
            if each.bounds
            else meter.create_counter(*each[:3]).add
            for each in INSTRUMENTS
        }

        def observe(path: str, options: Any) -> Iterable[Any]:
            number = count(path)
            # A thread of OpenTelemetry asks, whose connections nobody else closes.
            connections.close_all()
            return [] if number is None else [metrics.Observation(number)]

        for name, path in find_gauges().items():
            meter.create_observable_gauge(name, [partial(observe, path)])

    def add(self, instrument: Instrument, number: float, labels: Mapping[str, str]) -> None:
        self.adding[instrument](number, labels)


class Prometheus:
    """Keeps numbers until Prometheus reads them, in a registry of its own."""

    def __init__(self) -> None:
        import prometheus_client as client

        self.registry = client.CollectorRegistry()
        self.adding: dict[Instrument, Any] = {}
        for each in INSTRUMENTS:
            made: Any = partial(client.Histogram, buckets=each.bounds)
            labels = [label.replace(".", "_") for label in each.labels]
            self.adding[each] = (made if each.bounds else client.Counter)(
                each.prometheus_name, each.says, labels, registry=self.registry
            )

    def add(self, instrument: Instrument, number: float, labels: Mapping[str, str]) -> None:
        child = self.adding[instrument].labels(*(labels.get(n, "") for n in instrument.labels))
        (child.observe if instrument.bounds else child.inc)(number)

    def collect(self) -> Iterator[Any]:
        """Yield the metrics of all processes, and the gauges."""
        from prometheus_client import core, multiprocess

        source: Any = self.registry
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
            source = multiprocess.MultiProcessCollector(None)  # type: ignore[no-untyped-call]
        # The folder of several processes has the metrics of the project's registries as well.
        names = {each.prometheus_name for each in INSTRUMENTS}
        yield from (metric for metric in source.collect() if metric.name in names)
        for name, path in find_gauges().items():
            if (number := count(path)) is not None:
                yield core.GaugeMetricFamily(name.replace(".", "_"), name, number)


def open_meters() -> Sequence[Any]:
    """Return what keeps numbers, as far as its package is installed."""

    def open_one(meter_class: type) -> Any:
        try:
            return meter_class()
        except ImportError:
            return None

    return [meter for meter in map(open_one, (OpenTelemetry, Prometheus)) if meter is not None]
