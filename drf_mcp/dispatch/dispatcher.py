"""Makes the outcome of a call, by the callback of the tool's route.

`Dispatcher.dispatch` runs the guards around `Dispatcher.perform`, which gives the callback the
request that an HTTP client would have sent, and `Dispatcher.read_outcome` reads the response.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from rest_framework.exceptions import NotFound

from drf_mcp.arguments.call import Call
from drf_mcp.arguments.errors import ArgumentsRefused
from drf_mcp.dispatch.batches import Batch
from drf_mcp.dispatch.call_objects import find_object
from drf_mcp.dispatch.failures import FailureOutcomes, close_broken_connections
from drf_mcp.dispatch.guards import (
    CallCrashed,
    CallRefused,
    NarrowingGuard,
    ScopeGuard,
    ThrottleGuard,
    TimeLimitGuard,
    Timer,
    find_narrowing_refusal,
    pass_guards,
)
from drf_mcp.dispatch.next_steps import add_hints, explain_empty_list, is_empty
from drf_mcp.dispatch.probe import Look, Probe, can_be_asked, rolling_back
from drf_mcp.dispatch.request import (
    MiddlewareCall,
    ToolRequest,
    find_call_handler,
    keep_thread_state,
    needs_callback,
    prepare_callback,
)
from drf_mcp.dispatch.response import (
    Recognizer,
    ViewResponse,
    build_outcome,
    hide_errors,
    new_request_id,
    omit_fields,
)
from drf_mcp.exceptions import catch
from drf_mcp.features import CallState, Guard
from drf_mcp.interaction.exchange import COUNTED, RERUN, Asked, Deferred
from drf_mcp.introspection.field_selection import FieldSelection
from drf_mcp.introspection.inspection import wrapped_queries
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings

# Guards with a lower order are around the values of failures.
OUTER = 100


class Dispatcher(FailureOutcomes):
    """Calls tools: every failure of a view becomes a value here.

    Attributes:
        recognize: reads the outcome in the envelope of a view that makes its own.
    """

    recognize: Recognizer | None = None

    def dispatch(self, call: CallState) -> Outcome:
        """Make a call within its guards and return its outcome.

        Raises:
            APIException: if the caller is not let into the endpoint at all.
        """
        call.request_id, call.dispatcher = new_request_id(), self
        call.guards = guards = self.get_guards(call)
        outer = [guard for guard in guards if guard.order < OUTER]
        return pass_guards(outer, call, self.answer)

    def answer(self, call: CallState) -> Outcome:
        """Return the outcome of a call: whatever a guard or the view raises becomes a value."""
        caller, started = call.caller, time.perf_counter()
        guards = [guard for guard in call.guards if guard.order >= OUTER]
        timer = Timer() if mcp_settings.TELEMETRY or settings.DEBUG else None
        try:
            with nullcontext() if timer is None else wrapped_queries(timer):
                outcome = pass_guards(guards, call, self.perform)
        except ArgumentsRefused as exc:
            outcome = self.refuse_arguments(call, exc)
        except CallRefused as exc:
            outcome = self.make_refused_outcome(call, exc.exc, exc.rate_limit)
        except Asked as exc:
            outcome = self.make_failed_outcome(call.tool, 200, exc.failure)
            outcome = outcome.changed(questions=exc.questions)
        except CallCrashed as exc:
            endpoint = call.tool.endpoint
            request = ToolRequest(caller, endpoint.method, endpoint.route.path, call.bound, call)
            outcome = self.make_exception_outcome(call, request, exc.cause)
        except Deferred:
            outcome = Outcome(call.tool.name, 202)
        if caller.refusal is not None:
            raise caller.refusal
        caller.authenticate()
        if caller.narrowings:
            # The narrowing of a credential was not known before authentication: `Caller.admit` has
            # stopped the view.
            outcome = find_narrowing_refusal(call.tool, caller) or outcome
        # A guard may have answered before the arguments were bound.
        bound = vars(call).get("bound")
        sent = bound and {"kwargs": bound.kwargs, "query_string": bound.query_string}
        return outcome.changed(
            request_id=outcome.request_id or call.request_id,
            telemetry={**timer.telemetry(), **outcome.telemetry} if timer else outcome.telemetry,
            duration_ms=round((time.perf_counter() - started) * 1000, 2),
            call=sent or {},
        )

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        """Return the guards of a call, the outermost first."""
        guards: list[Guard] = []
        if call.caller.narrowings:
            guards.append(NarrowingGuard())
        if mcp_settings.TOOL_SCOPES:
            guards.append(ScopeGuard())
        if call.throttles:
            guards.append(ThrottleGuard())
        if mcp_settings.TIME_LIMIT or call.tool.options.time_limit:
            guards.append(TimeLimitGuard())
        for get_guards in features.hooks["get_guards"]:
            guards += get_guards(call)
        return sorted(guards, key=attrgetter("order"))

    def _perform_requests(self, call: CallState) -> Outcome:
        guards = [guard for guard in call.guards if guard.is_for_each]

        def perform(bound: Call) -> Outcome:
            item = call.of_item(bound)
            if RERUN.get(call):
                # A rerun has passed the guards of the call, but not the guards of each request.
                item.slots = {**call.slots, RERUN: COUNTED.get(call)}
            outcome = pass_guards(guards, item, self.perform)
            if call.caller.refusal is not None:
                raise call.caller.refusal
            close_broken_connections()
            return add_hints(outcome, self.find_offered(call))

        return self.make_batch(call).ask(perform)

    def make_batch(self, call: CallState) -> Batch:
        items = call.tool.arguments.items
        return items.make_batch(call) if call.bound.items else Batch(call)

    def find_view_refusal(self, call: CallState) -> Outcome | None:
        """Return the outcome of a call that the view refuses before its handler, else None.

        The view's throttles count the call.
        """
        # A call about several objects has one outcome for each of them.
        if call.bound.is_batch or needs_callback(call.tool.endpoint.route.callback):
            return None
        found = self.ask_view(call, find_object, True)
        return found if isinstance(found, Outcome) and found.failure is not None else None

    def find_early_refusal(self, call: CallState, *, is_counted: bool = False) -> Outcome | None:
        """Return the outcome of a call that is refused whatever its handler does, else None.

        For guards that ask before a call is made. The view is asked for its permissions and, where
        no decorator is around it, for the object, of each item; no handler runs, and
        nothing is kept that the view writes meanwhile. Nothing is validated.

        Args:
            is_counted: whether the view's throttles count the call, and the guards of each request
                are asked, such as the guard that compares ``if_match``.
        """
        call.caller.authenticate()
        is_open = can_be_asked(call.tool.endpoint)
        look = find_object if is_open else lambda view, *args, **kwargs: None

        guards = [guard for guard in call.guards if guard.is_for_each and is_counted]

        def ask_one(item: CallState) -> Outcome:
            found = self.ask_view(item, look, is_counted)
            return found if isinstance(found, Outcome) else Outcome(call.tool.name, 204)

        def ask(bound: Call) -> Outcome:
            return pass_guards(guards, call.of_item(bound), ask_one)

        with rolling_back():
            if call.bound.is_batch:
                outcome = add_hints(self.make_batch(call).ask(ask), self.find_offered(call))
            else:
                outcome = ask(call.bound)
        return None if outcome.failure is None else outcome

    def ask_view(self, call: CallState, look: Look[Any], is_counted: bool = False) -> Any:
        """Run a view with the request of a call, and a function instead of the handler.

        Returns:
            What the function returns; the outcome of the call where the view refuses it before.
        """
        probe = Probe(call.caller, call.tool, call.bound)
        probe.is_counted = is_counted
        outcome = self.perform(call, probe.make_callback(look))
        return probe.found[0] if probe.found and outcome.failure is None else outcome

    def perform(self, call: CallState, callback: Callable[..., Any] | None = None) -> Outcome:
        """Return the outcome of the request that a call makes, or of several.

        The callback of a `Probe` answers instead of the route's own.
        """
        tool, caller, bound = call.tool, call.caller, call.bound
        if callback is None and (bound.many or bound.items):
            return add_hints(self._perform_requests(call), self.find_offered(call))
        route = tool.endpoint.route
        # The view authenticates alone, or after the endpoint.
        answer = callback or route.callback
        if callback is not None or RERUN.get(call):
            caller.authenticate()
            if callback is None and not needs_callback(answer):
                # The view's throttles counted the call when it ran first.
                probe = Probe(caller, tool, bound)
                probe.is_call = True
                answer = callback = probe.make_callback()
        elif not caller.is_authenticated_by(answer):
            caller.authenticate()
        if caller.narrowings and (refusal := find_narrowing_refusal(tool, caller)):
            return refusal
        # The path has to lead back to the route: an argument may hold a slash or "..".
        path = route.build(bound.kwargs)
        match = None if path is None else route.match(path, bound.kwargs, caller.request)
        if path is None or match is None:
            return add_hints(self.make_refused_outcome(call, NotFound()), self.find_offered(call))
        request = ToolRequest(caller, tool.endpoint.method, path, bound, call)
        request.resolver_match = match
        outcome: Outcome | None = None
        with catch() as caught:
            if mcp_settings.CALL_MIDDLEWARE:
                outcome = self._run_middleware(MiddlewareCall(request, match, answer), call)
            else:
                respond = callback or prepare_callback(answer, call.deadline, call.channel)
                response = respond(request, *match.args, **match.kwargs)
                outcome = self.read_outcome(call, request, response)
        if outcome is None:
            outcome = self.make_exception_outcome(call, request, caught.exception)
        if bound.warnings:
            outcome = outcome.changed(warnings=(*bound.warnings, *outcome.warnings))
        return outcome if outcome.failure is None else add_hints(outcome, self.find_offered(call))

    def _run_middleware(self, middleware_call: MiddlewareCall, call: CallState) -> Outcome:
        request = middleware_call.request
        with keep_thread_state():
            response = find_call_handler().answer(middleware_call)
            if middleware_call.raised is not None:
                if request.caller.is_broken_by(middleware_call.raised):
                    raise middleware_call.raised
                # Error trackers get the exception, though middleware answers in its place.
                if middleware_call.substitute and middleware_call.substitute.status_code >= 500:
                    self.report_crash(call, request, middleware_call.raised)
            return self.read_outcome(call, request, response)

    def read_outcome(
        self, call: CallState, request: ToolRequest, response: HttpResponseBase
    ) -> Outcome:
        """Return the outcome of a view's response."""
        tool, bound, caller = call.tool, call.bound, request.caller
        call.response = answer = ViewResponse.read(response, request)
        if tool.options.hidden and answer.status >= 400:
            answer = hide_errors(answer, tool.options.hidden)
        named = getattr(tool.endpoint.route.view_class, "mcp_writes_envelope", None)
        if caller.is_guess and answer.view is not None:
            caller.view_request = answer.view.request
        outcome = build_outcome(
            answer,
            tool.name,
            lambda: self.make_error_mapper(call, request, self.find_offered(call).pointers(bound)),
            self.recognize and partial(self.recognize, named=named),
        )
        if tool.options.omit:
            outcome = omit_fields(outcome, tool.omission.leave_out)
        if tool.endpoint.standard_action == "list" and is_empty(outcome):
            outcome = outcome.changed(
                warnings=(*outcome.warnings, *explain_empty_list(self.find_offered(call), bound))
            )
        if answer.status == 403:
            view = answer.view
            # A response that middleware made has no view.
            scopes = view and caller.find_missing_scopes(view, view.request, view.get_permissions())
            if scopes and outcome.failure is not None:
                outcome = outcome.changed(failure=replace(outcome.failure, scopes=scopes))
            return outcome
        selection = tool.arguments.fields
        if bound.fields and selection is not None and outcome.failure is None:
            unanswered = selection.find_unanswered(bound.fields, outcome.data)
            outcome = outcome.changed(warnings=(*outcome.warnings, *unanswered))
            # An answer that has none of the fields is given whole, so that the caller sees its
            # fields.
            if len(unanswered) < len(bound.fields):
                selected = FieldSelection(bound.fields).select(outcome.data)
                outcome = outcome.changed(data=selected)
        return outcome
