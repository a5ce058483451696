"""Writes that name the version of the object that was read, and are refused if it has changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import router, transaction
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.codes import Category
from drf_mcp.contrib.writes.controls import DRY_RUN, NOTE, is_dry_run
from drf_mcp.contrib.writes.versions import IF_MATCH, find_precondition, write_etag
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.probe import REFUSALS, Probe
from drf_mcp.dispatch.response import ViewResponse
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.outcomes import Failure, Outcome, Problem

STATUS = 412
ADVICE = gettext_noop(
    "Look at the present values. If the change is still right, call again with the present version."
)
# Characters of a present value that the refusal repeats.
MOST_SHOWN = 100


class PreconditionGuard(Guard):
    """Refuses a write to an object that has changed since it was read (HTTP 412).

    Where the view has ETags, the view compares. Else the guard does: it locks the row, where the
    database has locks, in the transaction in which the view writes.
    """

    is_for_each = True
    order = 510

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        sent = call.bound.controls.get(IF_MATCH)
        if sent is None:
            return proceed(call)
        precondition = find_precondition(call.tool)
        assert precondition is not None
        if precondition.is_etag:
            headers = {**(call.bound.headers or {}), "HTTP_IF_MATCH": write_etag(sent)}
            call.bound = replace(call.bound, headers=headers)
            outcome = proceed(call)
            return self.get_refusal(call) if outcome.status == STATUS else outcome
        with transaction.atomic(using=router.db_for_write(precondition.model)):
            row = CallTarget(call).lock()
            # Of an object that the caller may not have, the view says so itself.
            if row is None or precondition.matches(sent, row):
                return proceed(call)
        return self.get_refusal(call, precondition.get_version(row))

    def get_refusal(self, call: CallState, version: Any = None) -> Outcome:
        tool, sent = call.tool, call.bound.controls[IF_MATCH]
        precondition, target = find_precondition(tool), CallTarget(call)
        answer = target.read()
        if answer is not None and precondition is not None and precondition.is_etag:
            version = answer.headers.get("ETag")
        problem = Problem(
            "stale",
            _("The object has changed since it was read."),
            tool.arguments.get_control_pointer(IF_MATCH),
            received=sent,
            accepted=None if version is None else str(version),
            remediation=_(ADVICE),
        )
        failure = Failure(
            "CONFLICT", Category.CONFLICT, problem.message, problem.remediation, (problem,)
        )
        facts = {IF_MATCH: version, "current": target.show(answer)}
        meta = {name: value for name, value in facts.items() if value not in (None, {})}
        if is_trial := is_dry_run(call):
            meta[DRY_RUN] = {"note": _(NOTE)}
        return Outcome(tool.name, STATUS, failure=failure, meta=meta, is_trial=is_trial)


class CallTarget:
    """The object that a call is about, as its view finds it for the caller."""

    def __init__(self, call: CallState) -> None:
        self.call = call
        self.tool = call.tool

    def lock(self) -> Model | None:
        """Return the object's row, locked; None where the view refuses the caller the object."""
        probe = Probe.of(self.call.caller, self.tool, self.call.bound)
        probe.keeps_locks = True
        try:
            return probe.ask(lambda view, *args, **kwargs: self.find_row(view.get_object()).first())
        except REFUSALS:
            return None

    def find_row(self, known: Model) -> QuerySet[Model]:
        model = type(known)
        rows = model._base_manager.using(router.db_for_write(model, instance=known))
        return rows.select_for_update().filter(pk=known.pk)

    def read(self) -> ViewResponse | None:
        """Return what a read of the object answers the caller, None where no tool reads it."""
        related, endpoint = self.tool.related, self.tool.endpoint
        reader = related.find_read(endpoint.object_path)
        if reader is None:
            return None
        kwargs = {name: self.call.bound.kwargs[name] for name in reader.route.kwargs}
        probe = Probe(self.call.caller, self.tool.for_endpoint(reader), kwargs)
        try:
            answer = probe.read()
        except REFUSALS:
            return None
        return answer if answer.status < 300 else None

    def show(self, answer: ViewResponse | None) -> Mapping[str, Any]:
        data = None if answer is None else json.loads(encode_data(answer.content.data))
        if not isinstance(data, dict):
            return {}
        return {name: self.shorten(value) for name, value in data.items()}

    def shorten(self, value: Any) -> Any:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return f"{text[:MOST_SHOWN]}…" if len(text) > MOST_SHOWN else value
