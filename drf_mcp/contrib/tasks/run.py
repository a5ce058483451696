"""A call that a worker makes again for its caller, through the project's middleware.

The workers run Django's tasks framework: ``django.tasks``, or django-tasks before Django 6.
"""

from __future__ import annotations

import io
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar

from django.apps import apps
from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.db import Error, connections
from django.db.models import CharField, Model
from django.utils.crypto import salted_hmac
from rest_framework.request import Request

from drf_mcp.access.scopes import is_gone
from drf_mcp.archives import StoredAnswer
from drf_mcp.contrib.tasks.task_store import (
    CANCELLED,
    COMPLETED,
    FAILED,
    RENEWAL,
    STOPPED,
    TaskStore,
)
from drf_mcp.exceptions import InternalError
from drf_mcp.features import CallState, RequestContext, mcp_settings, override_language
from drf_mcp.interaction.exchange import INPUT_REQUESTS, RERUN, Answer, Channel, Exchange, Progress
from drf_mcp.outcomes import Outcome, Question
from drf_mcp.protocol.eras import InputRequired, read_modes

# Headers that identify the caller, or describe the body that they came with.
LEFT_OUT = re.compile(
    r"HTTP_(?:ACCEPT$|ACCEPT_ENCODING|CONNECTION|COOKIE|ORIGIN|REFERER|RANGE|SEC_FETCH|IF_"
    r"|TRANSFER_|CONTENT_|LAST_EVENT)|AUTH|TOKEN|SECRET|PASSW|SESSION|SIGNATURE|API_?KEY|CSRF"
    r"|CREDENTIAL|ASSERTION|JWT|OIDC"
)
KEPT = frozenset({"SCRIPT_NAME", "PATH_INFO", "QUERY_STRING", "REQUEST_METHOD", "REMOTE_ADDR"})
KEPT |= {"SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL"}


class CallerGone(Exception):
    """The caller or the credential is no longer valid."""


def keep_environ(request: Any) -> dict[str, str]:
    """Return what the request of a caller says besides its body and its credentials."""
    kept = {}
    for name, value in request.META.items():
        # Headers of MCP repeat members of the body, and are compared with it again.
        is_harmless = name.startswith("HTTP_MCP_") or not LEFT_OUT.search(name)
        is_header = name.startswith("HTTP_") and is_harmless
        if isinstance(value, str) and (name in KEPT or is_header):
            kept[name] = value
    # An ASGI server's own environment has none of these.
    protocol = {"SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": request._get_scheme()}
    return {**protocol, **kept}


@dataclass(frozen=True)
class Credential:
    """The rows of the user and of the credential, each by its model and its key.

    Attributes:
        user: ``[label, pk]``, None for an anonymous user.
        auth: the same of ``request.auth``, None if it is none. A key that is text may be the
            secret itself, as with REST framework's own tokens: then it is the hash of the key.
    """

    user: list[Any] | None
    auth: list[Any] | None

    @classmethod
    def of(cls, request: Request) -> Credential | None:
        """Return who sent an authenticated request, None where that cannot be looked up again."""
        user, auth = request.user, request.auth
        known = bool(user and user.is_authenticated)
        if (known and not is_row(user)) or (auth is not None and not is_row(auth)):
            return None
        made = cls(_make_reference(user, user.pk) if known else None, None)
        if auth is None:
            return made
        if not isinstance(auth.pk, str):
            return replace(made, auth=_make_reference(auth, auth.pk))
        hashed = replace(made, auth=_make_reference(auth, _hash_key(auth.pk)))
        return hashed if known and hashed.find_auth(user) == auth else None

    def put_on(self, request: Any) -> None:
        """Make the rows, as they are today, the user and the credential of a request.

        Raises:
            CallerGone: if one of them is missing or no longer valid.
        """
        user = None
        if self.user is not None:
            user = _look_up(*self.user)
            if user is None or is_gone(user):
                raise CallerGone()
            request._force_auth_user = user
        if self.auth is not None:
            auth = self.find_auth(user)
            find_fault = getattr(auth, "find_fault", None)
            if auth is None or (find_fault is not None and find_fault()):
                raise CallerGone()
            request._force_auth_token = auth

    def find_auth(self, user: Any) -> Any:
        assert self.auth is not None
        label, key = self.auth
        model = apps.get_model(label)
        if not isinstance(model._meta.pk, CharField):
            return _look_up(label, key)
        owners = [f for f in model._meta.fields if f.many_to_one or f.one_to_one]
        own = [f.name for f in owners if isinstance(user, f.related_model)]
        found = (row for name in own for row in model._base_manager.filter(**{name: user}))
        return next((row for row in found if _hash_key(row.pk) == key), None)


def is_row(value: Any) -> bool:
    # Not `type`: the user may be one of Django's lazy objects.
    return issubclass(value.__class__, Model) and value.pk is not None


def _make_reference(row: Any, key: Any) -> list[Any]:
    return [row._meta.concrete_model._meta.label, str(key)]


def _hash_key(key: str) -> str:
    return salted_hmac("drf_mcp.contrib.tasks.run", key, algorithm="sha256").hexdigest()


def _look_up(label: str, key: str) -> Any:
    return apps.get_model(label)._base_manager.filter(pk=key).first()


FRAMEWORKS = ("django.tasks", "django_tasks")
# They run a task within the request, or never.
WITHOUT_WORKERS = (".backends.immediate.ImmediateBackend", ".backends.dummy.DummyBackend")


def find_framework() -> Any:
    """Return the module of the tasks framework, None where there is none."""
    for name in FRAMEWORKS:
        try:
            return import_module(name)
        except ImportError:
            continue
    return None


def find_backend() -> Any:
    """Return the backend of TASKS_BACKEND, None if none of its workers could run a call."""
    alias, framework = mcp_settings.TASKS_BACKEND, find_framework()
    if alias is None or framework is None or alias not in framework.task_backends.settings:
        return None
    backend = framework.task_backends[alias]
    kinds = {f"{kind.__module__}.{kind.__name__}" for kind in type(backend).__mro__}
    return None if any(kind.endswith(WITHOUT_WORKERS) for kind in kinds) else backend


# The code of a task whose caller is no longer let in.
GONE = 401


class TaskChannel(Channel):
    """Keeps what a running call reports, and whether the view noticed a cancellation.

    Attributes:
        message: how far the call is, "" for nothing new.
        was_seen: whether the view read that the client cancelled the call.
    """

    was_seen = False

    def __init__(self) -> None:
        super().__init__(self.keep)
        self.message = ""

    @property
    def is_cancelled(self) -> bool:
        self.was_seen = self.was_seen or self._is_cancelled
        return self._is_cancelled

    @is_cancelled.setter
    def is_cancelled(self, value: bool) -> None:
        self._is_cancelled = value

    def keep(self, method: str, params: Mapping[str, Any]) -> None:
        text = "%(progress)g of %(total)g" if "total" in params else "%(progress)g"
        self.message = params.get("message") or text % params


class Heartbeat:
    """Looks after a running call from another thread, with further database connections.

    The connections of the call may be in a transaction, which neither shows what the call writes
    nor sees that the client cancels.
    """

    interval: ClassVar[float] = 1.0

    def __init__(self, run: Run) -> None:
        self.run = run
        self.is_over = threading.Event()
        self.renewed = time.monotonic()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *exc_info: Any) -> None:
        self.is_over.set()
        self.thread.join()

    def watch(self) -> None:
        try:
            while not self.is_over.wait(self.interval):
                self.look()
        finally:
            connections.close_all()

    def look(self) -> None:
        """Write the progress of the call, and read whether the client cancelled it."""
        channel, store, row = self.run.channel, self.run.store, self.run.row
        try:
            if message := channel.message:
                store.note_progress(row, message)
                channel.message = ""
            if store.is_cancelled(row):
                channel.cancel()
            if time.monotonic() - self.renewed >= RENEWAL:
                store.renew(row)
                self.renewed = time.monotonic()
        except Error:
            # SQLite is locked while another connection writes: the next look may succeed.
            connections.close_all()


class TaskInputRequests:
    """The rounds of a call, whose row keeps what was asked and answered."""

    def __init__(self, run: Run, context: RequestContext) -> None:
        kept = run.row.input_requests
        answers = {key: Answer(result) for key, result in kept["answers"].items()}
        modes = read_modes(context.message.meta)
        self.run = run
        self.exchange = Exchange(modes, answers, kept["memory"], kept["number"])

    def write(self, questions: tuple[Question, ...]) -> InputRequired | None:
        if not all(map(self.exchange.can_ask, questions)):
            return None
        self.run.asked = questions
        return InputRequired(questions, "")


class Run:
    """A task that is being run: what `DEFERRAL` holds in its call."""

    is_running = True
    is_deferred = False

    def __init__(self, row: Any) -> None:
        self.row = row
        self.store = TaskStore()
        self.channel = TaskChannel()
        self.asked: Sequence[Question] = ()
        # What has to hold when the result is read.
        self.terms: Mapping[str, Any] = {}

    @classmethod
    def begin(cls, task_id: str) -> Run | None:
        row = TaskStore().begin(task_id)
        return None if row is None else cls(row)

    def defer(self) -> None:
        """Go on with the call: a worker runs it already."""

    def prepare(self, call: CallState) -> None:
        """Have a call report its progress to the task, and ask by way of the task."""
        assert call.context is not None
        call.channel = self.channel
        call.progress = Progress.wanted(call.context.message.meta, self.channel)
        RERUN.set(call, True)
        INPUT_REQUESTS.set(call, TaskInputRequests(self, call.context))

    def note_terms(self, outcome: Outcome, call: CallState) -> None:
        answer = StoredAnswer.of_call(call)
        self.terms = answer.note_terms(failed=outcome.failure is not None)

    def perform(self) -> None:
        # None remains where the worker has to stop, or an async view was cancelled.
        answer: Mapping[str, Any] | None = None
        # Middleware may leave the language of the caller active in the thread.
        with override_language():
            try:
                with Heartbeat(self):
                    answer = self.make_answer()
            finally:
                self.keep(answer)

    def make_answer(self) -> Mapping[str, Any]:
        try:
            request = make_request(self.row.request, self.row.owner)
        except CallerGone:
            return make_error(GONE, "The caller of the task is no longer let in.")
        request.mcp_task = self  # type: ignore[attr-defined]
        return answer_again(request)

    def keep(self, answer: Mapping[str, Any] | None) -> None:
        if self.asked:
            self.store.ask(self.row, self.asked)
        elif self.channel.was_seen or (answer is None and self.channel.is_cancelled):
            self.store.finish(self.row, CANCELLED)
        else:
            answer = answer or make_error(InternalError.code, STOPPED)
            status = COMPLETED if "result" in answer else FAILED
            self.store.finish(self.row, status, answer, self.terms)


# --- Calls that are made again --------------------------------------------------------------


def make_request(kept: Mapping[str, Any], principal: str) -> WSGIRequest:
    """Return the request of a call that is made again for its caller, as they are known today.

    Args:
        kept: ``params`` of the message, ``environ`` and ``credential``.
        principal: who called, as the caller's credential said.
    """
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": kept["params"]}
    body = json.dumps(message).encode()
    request = WSGIRequest(
        {
            **kept["environ"],
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": "application/json",
            "wsgi.input": io.BytesIO(body),
        }
    )
    Credential(**kept["credential"]).put_on(request)
    request.mcp_principal = principal  # type: ignore[attr-defined]
    return request


def answer_again(request: WSGIRequest) -> Mapping[str, Any]:
    """Return the ``result`` or the ``error`` of a call, made through the project's middleware."""
    handler = BaseHandler()
    handler.load_middleware()
    response: Any = handler.get_response(request)
    try:
        message = json.loads(response.content)
        return {name: message[name] for name in ("result", "error") if name in message}
    except ValueError:
        # Middleware answered instead of the endpoint.
        text = f"The call was answered with {response.status_code}."
        return make_error(InternalError.code, text)


def make_error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}
