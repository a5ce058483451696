"""From the arguments of a tool to an outcome, through the view's own callback.

Nothing of REST framework's lifecycle is copied: the router's callback gets the
request that a client would have sent, and its response is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from rest_framework.exceptions import NotFound

from drf_mcp.dispatch.batches import Batch
from drf_mcp.dispatch.failures import FailureOutcomes, close_broken_connections
from drf_mcp.dispatch.guards import (
    CallCrashed,
    CallRefused,
    NarrowingGuard,
    ThrottleGuard,
    TimeLimitGuard,
    Timer,
    find_refusal,
    pass_guards,
)
from drf_mcp.dispatch.next_steps import add_hints, explain_empty_list, is_empty
from drf_mcp.dispatch.probe import Found, Look, Probe
from drf_mcp.dispatch.request import (
    BareCallback,
    CallPassage,
    ToolRequest,
    get_call_handler,
    get_named_object,
    is_decorated,
    keep_thread_state,
    prepare_callback,
)
from drf_mcp.dispatch.response import Recognizer, ViewResponse, build_outcome, new_request_id
from drf_mcp.dispatch.stored_answers import StoredAnswer
from drf_mcp.exceptions import catch
from drf_mcp.features import CallState, Guard, Proceed
from drf_mcp.interaction.exchange import Asked, Deferred
from drf_mcp.introspection.field_selection import FieldSelection
from drf_mcp.introspection.inspection import wrapped_queries
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.call import Call
from drf_mcp.tools.arguments.errors import ArgumentsRefused


class Dispatcher(FailureOutcomes):
    """Calls tools: every failure of a view becomes a value here."""

    # Reads the envelopes that views make themselves.
    recognize: Recognizer | None = None

    def dispatch(self, call: CallState) -> Outcome:
        """Make a call and return its outcome.

        Raises:
            APIException: if the caller is not let into the endpoint at all.
        """
        call.request_id, call.dispatcher = new_request_id(), self
        caller, started = call.caller, time.perf_counter()
        perform: Proceed = self.perform
        timer = Timer() if mcp_settings.TELEMETRY or settings.DEBUG else None
        try:
            call.guards = guards = self.get_guards(call)
            if guards:
                perform = partial(pass_guards, guards, perform=perform)
            if timer is not None:
                perform = wrapped_queries(timer)(perform)
            outcome = perform(call)
        except ArgumentsRefused as exc:
            outcome = self.get_arguments_outcome(call, exc)
        except CallRefused as exc:
            outcome = self.get_refused_outcome(call, exc.exc, exc.rate_limit)
        except Asked as exc:
            outcome = self.get_failed_outcome(call.tool, 200, exc.failure)
            outcome = outcome.changed(questions=exc.questions)
        except CallCrashed as exc:
            endpoint = call.tool.endpoint
            request = ToolRequest(caller, endpoint.method, endpoint.route.path, call.bound, call)
            outcome = self.get_exception_outcome(call, request, exc.cause)
        except Deferred:
            outcome = Outcome(call.tool.name, 202)
        if caller.refusal is not None:
            raise caller.refusal
        caller.authenticate()
        # What a credential takes away is known only now, and has stopped the view.
        outcome = find_refusal(call.tool, caller) or outcome if caller.narrowings else outcome
        # Of a call that a guard answered the arguments may never have been bound.
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
        if call.throttles:
            guards.append(ThrottleGuard())
        if mcp_settings.TIME_LIMIT or call.tool.options.time_limit:
            guards.append(TimeLimitGuard())
        for feature in features.hooks["get_guards"]:
            guards += feature.get_guards(call)
        if len(guards) > 1:
            guards.sort(key=attrgetter("order"))
        return guards

    def get_stored_answer(self, call: CallState) -> StoredAnswer:
        """Return what says whether a caller may have the answer of a call later."""
        return StoredAnswer(call.caller, call.tool, call=call.bound)

    def perform_requests(self, call: CallState) -> Outcome:
        tool, guards = call.tool, [guard for guard in call.guards if guard.is_for_each]

        def perform(bound: Call) -> Outcome:
            item = call.of_item(bound)
            # The call was let in, and not yet each of its requests.
            item.is_rerun = call.is_counted
            outcome = pass_guards(guards, item, self.perform)
            if call.caller.refusal is not None:
                raise call.caller.refusal
            close_broken_connections()
            return add_hints(outcome, tool)

        batch = tool.arguments.items.make_batch(call) if call.bound.items else Batch(call)
        return batch.ask(perform)

    def admit(self, call: CallState) -> Outcome | None:
        """Return the outcome of a call that the view would not let in, None if it would.

        The throttles count the call.
        """
        # Of several objects each has its own outcome.
        if call.bound.is_batch or is_decorated(call.tool.endpoint.route.callback):
            return None
        found = self.ask_view(call, lambda view, *args, **kwargs: get_named_object(view), True)
        return found if isinstance(found, Outcome) and found.failure is not None else None

    def ask_view(self, call: CallState, look: Look[Found], is_counted: bool = False) -> Any:
        """Return what is found in the place of a view's handler, by the request of a call.

        The outcome of the call where the view does not come to its handler.

        Args:
            is_counted: whether the throttles count it.
        """
        found: list[Found] = []
        probe = Probe(call.caller, call.tool, call.bound)
        probe.is_counted = is_counted
        outcome = self.perform(call, probe.answer_by(look, found))
        return found[0] if found and outcome.failure is None else outcome

    def perform(self, call: CallState, callback: Callable[..., Any] | None = None) -> Outcome:
        """Return the outcome of the request that a call makes, or of several.

        Args:
            callback: answers in the place of the route's own.
        """
        tool, caller, bound = call.tool, call.caller, call.bound
        if callback is None and (bound.many or bound.items):
            return add_hints(self.perform_requests(call), tool)
        route = tool.endpoint.route
        own = callback or route.callback
        if callback is not None:
            caller.authenticate()
        elif call.is_rerun:
            # It was let in and counted before.
            caller.authenticate()
            if not is_decorated(own):
                own = callback = Probe(caller, tool, bound).answer_by()
        elif not caller.is_known_to(own):
            bare = BareCallback.of(own) if caller.can_pre_authenticate(own) else None
            if bare is None:
                caller.authenticate()
            own = bare or own
        if caller.narrowings and (refusal := find_refusal(tool, caller)):
            return refusal
        path = route.build(bound.kwargs)
        match = None if path is None else route.match(path, bound.kwargs, caller.request)
        if path is None or match is None:
            return add_hints(self.get_refused_outcome(call, NotFound()), tool)
        request = ToolRequest(caller, tool.endpoint.method, path, bound, call)
        request.resolver_match = match
        outcome: Outcome | None = None
        with catch() as caught:
            if mcp_settings.CALL_MIDDLEWARE:
                outcome = self._pass_middleware(CallPassage(request, match, own), call)
            else:
                respond = callback or prepare_callback(own, call.deadline, call.channel)
                response = respond(request, *match.args, **match.kwargs)
                outcome = self.read_outcome(call, request, response)
        if outcome is None:
            outcome = self.get_exception_outcome(call, request, caught.exception)
        return outcome if outcome.failure is None else add_hints(outcome, tool)

    def _pass_middleware(self, passage: CallPassage, call: CallState) -> Outcome:
        request = passage.request
        with keep_thread_state():
            response = get_call_handler().answer(passage)
            if passage.raised is not None:
                if request.caller.is_broken_by(passage.raised):
                    raise passage.raised
                # Middleware answers in its place; error trackers still have to hear of it.
                if passage.substitute and passage.substitute.status_code >= 500:
                    self.report_crash(call, request, passage.raised)
            return self.read_outcome(call, request, response)

    def read_outcome(
        self, call: CallState, request: ToolRequest, response: HttpResponseBase
    ) -> Outcome:
        """Return the outcome of a response, rendered or not."""
        tool, bound, caller = call.tool, call.bound, request.caller
        answer = ViewResponse.read(response, request)
        if caller.is_guess and answer.view is not None:
            caller.answered = answer.view.request
        outcome = build_outcome(
            answer,
            tool.name,
            partial(tool.pointers, bound),
            partial(self.get_error_mapper, call, request),
            self.recognize,
        )
        if tool.endpoint.standard_action == "list" and is_empty(outcome):
            further = tuple(explain_empty_list(tool, bound))
            outcome = outcome.changed(warnings=outcome.warnings + further)
        if answer.status == 403:
            view = answer.view
            # A response of middleware names no view.
            scopes = view and caller.find_missing_scopes(view, view.request, view.get_permissions())
            return outcome.changed(scopes=scopes or ())
        selection = tool.arguments.fields
        if bound.fields and selection is not None and outcome.failure is None:
            unanswered = selection.find_unanswered(bound.fields, outcome.data)
            outcome = outcome.changed(warnings=(*outcome.warnings, *unanswered))
            # An answer that has none of the fields is given whole: its own fields are what to name.
            if len(unanswered) < len(bound.fields):
                selected = FieldSelection(bound.fields).select(outcome.data)
                outcome = outcome.changed(data=selected)
        for feature in features.hooks["read_response"]:
            outcome = feature.read_response(outcome, answer, call)
        return outcome
