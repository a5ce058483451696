"""Questions that a view asks its user while it runs, such as the fields of a serializer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.encoding import force_str
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import BaseSerializer

from drf_mcp.codes import Category
from drf_mcp.exceptions import SoftFailure
from drf_mcp.interaction.exchange import Answer, Asked, find_call, read_exchange
from drf_mcp.introspection.forms import describe_form, find_values
from drf_mcp.outcomes import Failure, Problem, Question

CODE = "INPUT_REQUIRED"
NOTHING_TO_SEND = "Ask the user, or use a client that can ask for it."


class Inquiry:
    """Asks for what a call lacks; the request is REST framework's or Django's."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.call = find_call(request)

    def collect(
        self, questions: tuple[Question, ...], message: str, failure: Failure | None = None
    ) -> dict[str, Answer]:
        known = read_exchange(self.call).answers
        if missing := tuple(question for question in questions if question.key not in known):
            advice = NOTHING_TO_SEND
            raise Asked(
                *missing,
                failure=failure or Failure(CODE, Category.VALIDATION, message, advice, soft=True),
            )
        return {question.key: known[question.key] for question in questions}

    def _demand(self, question: Question, failure: Failure) -> Answer:
        answer = self.collect((question,), question.message, failure)[question.key]
        if not answer.is_accepted:
            advice = "Do not repeat the call. Ask the user what to do instead."
            raise SoftFailure("The user declined.", "declined", remediation=advice)
        return answer

    def ask(self, serializer_class: type[BaseSerializer[Any]], message: str, key: str) -> Any:
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
        reasons = [
            f"{name}: {' '.join(map(str, texts))}" for name, texts in complete.errors.items()
        ]
        text = f"{question.message} {' '.join(reasons)}".strip()
        raise Asked(Question(question.key, text, question.schema), failure=failure)

    def _make_failure(self, question: Question) -> Failure:
        assert question.schema is not None
        names = list(question.schema["properties"])
        required = question.schema.get("required", names)
        tool: Any = self.call and self.call.tool
        known = {argument.parameter.name: argument for argument in tool.arguments.arguments}
        remediation = NOTHING_TO_SEND
        problems: tuple[Problem, ...] = ()
        if all(name in known for name in names):
            sent = ", ".join(known[name].name for name in required)
            text = "Ask the user, then call %(tool)s again with: %(arguments)s."
            message = "Ask the user for it."
            remediation = text % {"tool": tool.name, "arguments": sent}
            problems = tuple(Problem("required", message, known[name].pointer) for name in required)
        return Failure(
            CODE, Category.VALIDATION, question.message, remediation, problems, soft=True
        )

    def visit(self, url: str, message: str, key: str) -> None:
        words, facts = force_str(message), {"url": url}
        remediation = "Ask the user to open {url}, then make the same call again.".format(**facts)
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
