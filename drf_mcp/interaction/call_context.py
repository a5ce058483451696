"""What a view adds to the result while it runs: warnings, suggestions, measurements, questions.

A view uses the context of its request in a tool call and over plain HTTP alike::

    from drf_mcp import call_context

    def list(self, request):
        call_context(request).warn("Prices are from yesterday.", code="STALE_CACHE")
        return super().list(request)

Over plain HTTP its notes are dropped, and the data of the request answers its questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.encoding import force_str
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import BaseSerializer

from drf_mcp.codes import WARNING_SEVERITIES, Category, screaming_code
from drf_mcp.exceptions import SoftFailure
from drf_mcp.interaction.exchange import (
    IS_LOGGED,
    TRIAL,
    Answer,
    Asked,
    Block,
    Slot,
    find_call,
    read_exchange,
)
from drf_mcp.introspection.forms import describe_form, find_values
from drf_mcp.outcomes import Failure, Problem, Question, Severity, Warning
from drf_mcp.settings import mcp_settings

CODE = "INPUT_REQUIRED"
NOTHING_TO_SEND = "Ask the user, or use a client that can ask for it."


ATTRIBUTE = "mcp_notes"
# An object that makes a task of the call.
DEFERRAL: Slot[Any] = Slot()


class CallContext:
    """The notes of one call.

    Attributes:
        warnings: what the caller should know, in the order written.
        suggestions: what the caller could do next.
        blocks: content blocks besides the answer.
        telemetry: measurements by name.
        content_version: the canonical version of what was read, "" if unknown.
        content_hash: the hash of that version, "" if unknown.
        meta: further members of the envelope's ``meta``.

    Args:
        request: REST framework's request, or Django's; None for notes that are dropped.
    """

    def __init__(self, request: Any = None) -> None:
        self.request = request
        self.warnings: list[Warning] = []
        self.blocks: list[Block] = []
        self.suggestions: list[str] = []
        self.telemetry: dict[str, Any] = {}
        self.meta: dict[str, Any] = {}
        self.content_version = ""
        self.content_hash = ""

    @property
    def dry_run(self) -> bool:
        """True in a dry run, so that a view can leave out what a rollback does not undo."""
        return TRIAL.get(self.call) is not None

    def warn(
        self,
        message: str,
        *,
        code: str = "WARNING",
        severity: Severity | str | None = None,
        context: Mapping[str, Any] | None = None,
        remediation: str = "",
    ) -> None:
        """Add a warning to a call that works.

        Args:
            message: one sentence.
            code: machine-readable, such as ``STALE_CACHE`` or ``PARTIAL_FAILURE``.
            severity: ``info``, ``warning`` or ``error``; by default the code's.
            context: further JSON members.
            remediation: what the caller can do about it.
        """
        code = screaming_code(code)
        known = WARNING_SEVERITIES.get(code, Severity.WARNING)
        level = known if severity is None else Severity(severity)
        self.warnings.append(Warning(code, message, level, dict(context or {}), remediation))

    def suggest(self, suggestion: str) -> None:
        """Suggest what the caller could do next, in one sentence."""
        self.suggestions.append(suggestion)

    def attach(self, *blocks: Block) -> None:
        """Add content blocks to the answer, such as ``Block.image(png, "image/png")``.

        A block of more than MAX_CONTENT_BYTES is left out, and a warning says so. Over plain HTTP
        there are none.
        """
        most = mcp_settings.MAX_CONTENT_BYTES
        for block in blocks:
            if block.size <= most:
                self.blocks.append(block)
                continue
            kind, size = block.members["type"], block.size
            text = f"The {kind} block is left out: {size} bytes, and {most} are allowed."
            self.warn(text, code="CONTENT_TRUNCATED")

    @property
    def content(self) -> tuple[Mapping[str, Any], ...]:
        return tuple(block.members for block in self.blocks)

    def measure(self, **measurements: Any) -> None:
        """Add measurements to the telemetry, such as ``downstream_calls=3``."""
        self.telemetry.update(measurements)

    def rows_changed(self, count: int) -> None:
        """Add to the number of rows that the call changed, for the audit and the telemetry."""
        self.telemetry["rows_changed"] = self.telemetry.get("rows_changed", 0) + count

    def progress(self, progress: float, total: float | None = None, message: str = "") -> None:
        """Send the client the progress of the call, if the client asked for it.

        Args:
            progress: a number in any unit, greater than the last one. At most ten are sent in a
                second.
            total: the progress at the end, None where it is unknown.
            message: what the call does now, for people.
        """
        call = self.call
        if call is not None and call.progress is not None:
            call.progress.report(progress, total, message)

    def log(self, data: Any, level: str = "info", logger: str = "") -> None:
        """Send the client a message while the call runs, if its level is one that the client wants.

        Clients of 2025-06-18 and 2025-11-25 whose user can be asked get messages, by
        `drf_mcp.contrib.asking`; for others nothing happens.

        Args:
            data: a text, or any JSON value.
            level: from ``debug`` to ``emergency``, by the names of RFC 5424.
            logger: the name of what logs.
        """
        is_logged = IS_LOGGED.get(self.call)
        if is_logged is not None and is_logged(level):
            named = {"logger": logger} if logger else {}
            self.call.channel.send("notifications/message", {"level": level, "data": data, **named})

    def defer(self) -> None:
        """Go on in the background, in a tool with the options ``task`` and ``defers``.

        The call ends here, and the client gets a task. A worker runs the view again from its
        start, where this returns at once; it does so too where the client takes no task, and over
        plain HTTP. Defer before the view writes anything.
        """
        deferral = DEFERRAL.get(self.call)
        if deferral is not None and not self.dry_run:
            deferral.defer()

    @property
    def cancelled(self) -> bool:
        """True once the client is gone, or has cancelled the task."""
        call = self.call
        return call is not None and call.channel is not None and call.channel.is_cancelled

    @property
    def call(self) -> Any:
        return find_call(self.request)

    def version(self, version: str, *, content_hash: str = "") -> None:
        """Say which version of a document, a schema or a data set was read.

        A view that always reads the same one has an attribute ``mcp_version`` instead, and
        ``mcp_content_hash`` in the same object.

        Args:
            version: the canonical version.
            content_hash: ``sha256-`` and hexadecimal digits, the same for every read of that
                version, whichever part was read.
        """
        self.content_version = version
        self.content_hash = content_hash

    def ask(
        self, serializer_class: type[BaseSerializer[Any]], message: str, *, key: str = ""
    ) -> Any:
        """Return what a serializer makes of the request's data, and of what the user adds to it.

        The fields are optional arguments of the tool. Where the request lacks one, a client that
        can show forms asks its user (client/elicitation), and the view runs again from its
        start; any other client gets a soft failure that names the arguments. Ask before the view
        writes anything. Over plain HTTP the request's data has to have all of it.

        Args:
            serializer_class: a flat serializer without secrets.
            message: what is asked, in words that a person reads.
            key: the name of the question where a view asks several of the same class.

        Returns:
            The ``validated_data`` of the serializer.

        Raises:
            ValidationError: if the data is wrong, or lacks something over plain HTTP.
            SoftFailure: if the user declined, with the code ``declined``.
            ImproperlyConfigured: if a form cannot ask for one of the fields.
        """

        def make_serializer(data: Any) -> Any:
            return serializer_class(data=data, context={"request": self.request})

        own = find_values(make_serializer({}), self.request.data)
        serializer = make_serializer(own)
        if serializer.is_valid():
            return serializer.validated_data
        errors = serializer.errors
        lacks_only = isinstance(errors, Mapping) and not own.keys() & errors.keys()
        if self.call is None or not lacks_only:
            # Over plain HTTP no user can be asked, and the caller has to correct wrong arguments.
            raise ValidationError(errors)
        key = key or re.sub(r"(?<!^)(?=[A-Z])", "_", serializer_class.__name__).lower()
        question = Question(key, force_str(message), describe_form(serializer, own))
        failure = self._make_failure(question)
        content = self._demand(question, failure).content
        complete = make_serializer({**content, **own})
        if complete.is_valid():
            return complete.validated_data
        reasons = (f"{name}: {' '.join(map(str, each))}" for name, each in complete.errors.items())
        text = " ".join([question.message, *reasons]).strip()
        raise Asked(Question(question.key, text, question.schema), failure=failure)

    def visit(self, url: str, message: str, *, key: str = "visit") -> None:
        """Send the user to a page, for a payment, a sign-in or an upload.

        Returns once the user agreed to open the page, so look whether they are done there. A
        client that cannot show pages, and plain HTTP, get a soft failure with the URL.

        Args:
            url: absolute, ``https`` but on a developer's own machine.
            message: why, in words that a person reads.

        Raises:
            SoftFailure: if the user declined, with the code ``declined``.
        """
        words, facts = force_str(message), {"url": url}
        remediation = f"Ask the user to open {url}, then make the same call again."
        if self.call is None:
            raise SoftFailure(words, "visit_required", data=facts, remediation=remediation)
        failure = Failure(
            "VISIT_REQUIRED",
            Category.VALIDATION,
            words,
            remediation,
            context=facts,
            soft=True,
            data=facts,
        )
        self._demand(Question(key, words, url=url), failure)

    def collect(self, *questions: Question, message: str = "") -> dict[str, Answer]:
        """Return the answers to several questions, which are asked in one round.

        Args:
            questions: of any kind, also for a model (``sampling/createMessage``) or for
                ``roots/list``, which the protocol keeps for older clients.
            message: the text for a client that cannot answer.
        """
        text = message or " ".join(question.message for question in questions)
        failure = Failure(CODE, Category.VALIDATION, text, NOTHING_TO_SEND, soft=True)
        return self._collect(questions, failure)

    def _collect(self, questions: tuple[Question, ...], failure: Failure) -> dict[str, Answer]:
        known = read_exchange(self.call).answers
        if missing := [question for question in questions if question.key not in known]:
            raise Asked(*missing, failure=failure)
        return {question.key: known[question.key] for question in questions}

    def _demand(self, question: Question, failure: Failure) -> Answer:
        answer = self._collect((question,), failure)[question.key]
        if not answer.is_accepted:
            advice = "Do not repeat the call. Ask the user what to do instead."
            raise SoftFailure("The user declined.", "declined", remediation=advice)
        return answer

    def _make_failure(self, question: Question) -> Failure:
        assert question.schema is not None
        names = list(question.schema["properties"])
        required = question.schema.get("required", names)
        tool: Any = self.call and self.call.tool
        known = {argument.parameter.name: argument for argument in tool.arguments.arguments}
        remediation, problems = NOTHING_TO_SEND, list[Problem]()
        if all(name in known for name in names):
            sent = ", ".join(known[name].name for name in required)
            message = "Ask the user for it."
            remediation = f"Ask the user, then call {tool.name} again with: {sent}."
            problems = [Problem("required", message, known[name].pointer) for name in required]
        return Failure(
            CODE, Category.VALIDATION, question.message, remediation, tuple(problems), soft=True
        )


def call_context(request: Any) -> CallContext:
    """Return the notes of a request, either REST framework's or Django's.

    They reach the caller of a tool; over plain HTTP they go nowhere, unless the view
    renders with `drf_mcp.renderers.EnvelopeJSONRenderer`.
    """
    http_request = getattr(request, "_request", request)
    notes: CallContext | None = getattr(http_request, ATTRIBUTE, None)
    if notes is None:
        notes = CallContext()
        setattr(http_request, ATTRIBUTE, notes)
    # REST framework's has the data.
    notes.request = request
    return notes


def notes_of(request: Any) -> CallContext | None:
    return getattr(getattr(request, "_request", request), ATTRIBUTE, None)
