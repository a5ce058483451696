"""One run of a program, from what the caller sent to the outcome."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from drf_mcp.contrib.compose import LIMITS
from drf_mcp.contrib.compose.calls import Diverged, LimitReached, ProgramCalls, ProgramStopped
from drf_mcp.contrib.compose.keeping import Gone, Keeper
from drf_mcp.contrib.compose.sandbox import Printed, ProgramFailed, Sandbox
from drf_mcp.contrib.compose.stops import Stop, describe_gone
from drf_mcp.contrib.compose.tool import Sent
from drf_mcp.dispatch.guards import CallRefused
from drf_mcp.exceptions import Unavailable
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import ANSWER_SECONDS
from drf_mcp.json_text import encode_plain
from drf_mcp.outcomes import Category, Failure, Outcome, Problem
from drf_mcp.settings import mcp_settings

FAILED = "PROGRAM_FAILED"


class ProgramRun:
    """Runs the program that a call sends, or goes on with one that stopped.

    Args:
        call: the call of the tool that runs programs.
        sent: its arguments.
    """

    def __init__(self, call: CallState, sent: Sent) -> None:
        self.call = call
        self.sent = sent
        self.keeper = Keeper(call.caller)
        self.limits = {**LIMITS, **mcp_settings.COMPOSE_LIMITS}
        self.program = sent.program
        self.now = timezone.now()
        self.printed = Printed(self.limits["output"])

    def get_outcome(self) -> Outcome:
        """Return what came of the program.

        Raises:
            ArgumentsRefused: if the caller sends what no program goes on with.
            CallRefused: if too many programs are running.
        """
        try:
            found = Stop.find(self.call, self.sent, self.keeper)
            calls = ProgramCalls(self.call, self.limits)
            if found is not None:
                name, stop = found
                self.keeper.claim(name)
                self.program, self.now = stop.program, datetime.fromisoformat(stop.now)
                calls.earlier, calls.reopened = stop.answers, stop.reopened
        except Gone:
            return self.fail(404, describe_gone())
        outcome = self.run(calls)
        return outcome.changed(warnings=(*outcome.warnings, *calls.warnings.values()))

    def run(self, calls: ProgramCalls) -> Outcome:
        limits = self.limits
        sandbox = Sandbox(
            calls.names,
            calls.answer,
            self.now,
            limits["seconds"],
            limits["memory"],
            limits["calls"],
            self.printed,
        )
        try:
            return self.finish(sandbox.run(self.program), calls)
        except ProgramFailed as exc:
            return self.explain(exc, calls)
        except LimitReached as exc:
            advice = _("Ask for less: filter, or let a tool count. Or call the tools themselves.")
            return self.fail(400, Failure(FAILED, Category.VALIDATION, str(exc), advice), calls)
        except ProgramStopped as exc:
            stop = Stop.of(exc, calls, self.program, self.now)
            return stop.get_outcome(self.call, exc, calls)
        except Diverged as exc:
            message = _("The program called %(tool)s otherwise than before it stopped.")
            advice = _("Send a program anew, without what this one has done already.")
            failure = Failure("CONFLICT", Category.CONFLICT, message % {"tool": exc}, advice)
            return self.fail(409, failure, calls)
        except Gone:
            message = _("An answer from before the stop cannot be given again: rights changed.")
            advice = _("Send a program anew, without what this one has done already.")
            failure = Failure("FORBIDDEN", Category.AUTHORIZATION, message, advice)
            return self.fail(403, failure, calls)
        except Unavailable as exc:
            raise CallRefused(exc) from exc

    # --- What came of it -----------------------------------------------------------------------

    def finish(self, value: Any, calls: ProgramCalls) -> Outcome:
        data = {"result": value, **self.find_printed()}
        outcome = Outcome(self.call.tool.name, 200, data=data)
        if value is None and not self.printed.text:
            advice = _("Nothing came back: end the program with the expression that you want.")
            return outcome.changed(suggestions=(advice,))
        return self.keep_long(outcome, calls) if self.is_long(outcome) else outcome

    def is_long(self, outcome: Outcome) -> bool:
        context = self.call.context
        budget = self.call.server.tools_capability.get_budget(self.call.tool, context)
        return bool(budget.is_exceeded(outcome, encode_plain(outcome.data)))

    def keep_long(self, outcome: Outcome, calls: ProgramCalls) -> Outcome:
        if not self.keeper.keeps:
            return outcome
        state = {"result": outcome.data["result"], "terms": list(calls.find_terms())}
        name = self.keeper.keep(state)
        text = _("The whole result is kept for %(minutes)d minutes: programs read it by %(call)s.")
        facts = {"minutes": ANSWER_SECONDS // 60, "call": f"kept({name!r})"}
        return outcome.changed(data={"kept": name, **outcome.data}, suggestions=(text % facts,))

    def find_printed(self) -> dict[str, Any]:
        text = self.printed.text
        if not text:
            return {}
        return {"output": text + ("…" if self.printed.is_cut else "")}

    def explain(self, exc: ProgramFailed, calls: ProgramCalls) -> Outcome:
        """Return the outcome of a program that ended with an exception."""
        line = _("Line %(line)d: ") % {"line": exc.line} if exc.line else ""
        cause = calls.failures.get(exc.message)
        if cause is not None and cause.failure is not None:
            failure = Failure(
                cause.failure.code,
                cause.failure.category,
                f"{line}{cause.tool}: {exc.message}",
                cause.failure.remediation,
                context={"line": exc.line},
            )
            return self.fail(cause.status, failure, calls).changed(scopes=cause.scopes)
        kind = f"{exc.kind}: " if exc.kind else ""
        advice = _("Correct the program, and send it again.")
        problem = Problem("program", f"{line}{kind}{exc.message}", "/program", remediation=advice)
        failure = Failure(FAILED, Category.VALIDATION, problem.message, advice, (problem,))
        return self.fail(400, failure, calls)

    def fail(self, status: int, failure: Failure, calls: ProgramCalls | None = None) -> Outcome:
        context = {**failure.context, **self.find_printed()}
        if calls is not None and (changes := calls.changes):
            context["changed"] = changes
        failure = Failure(**{**vars(failure), "context": context})
        return Outcome(self.call.tool.name, status, failure=failure)
