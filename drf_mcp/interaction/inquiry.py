"""Questions that a view asks while it runs, each in the words of a serializer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.encoding import force_str
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.exceptions import ValidationError
from rest_framework.serializers import BaseSerializer

from drf_mcp.codes import Category
from drf_mcp.exceptions import SoftFailure
from drf_mcp.interaction.exchange import Answer, Asked, Exchange, get_exchange
from drf_mcp.interaction.slots import find_call
from drf_mcp.introspection.forms import Form
from drf_mcp.outcomes import Failure, Problem, Question

CODE = "INPUT_REQUIRED"
NOTHING_TO_SEND = gettext_noop("Ask the user, or use a client that can ask for it.")


class Inquiry:
    """Asks for what a call lacks.

    Args:
        request: the view's request, REST framework's or Django's.
    """

    def __init__(self, request: Any) -> None:
        self.request = request
        self.call = find_call(request)

    @property
    def exchange(self) -> Exchange:
        return get_exchange(self.call)

    # --- Any questions ------------------------------------------------------------------------

    def collect(self, questions: tuple[Question, ...], failure: Failure) -> dict[str, Answer]:
        known = self.exchange.answers
        if missing := tuple(question for question in questions if question.key not in known):
            raise Asked(*missing, failure=failure)
        return {question.key: known[question.key] for question in questions}

    def collect_all(self, questions: tuple[Question, ...], message: str) -> dict[str, Answer]:
        failure = Failure(CODE, Category.VALIDATION, message, _(NOTHING_TO_SEND), soft=True)
        return self.collect(questions, failure)

    def demand(self, question: Question, failure: Failure) -> Answer:
        answer = self.collect((question,), failure)[question.key]
        if not answer.is_accepted:
            advice = _("Do not repeat the call. Ask the user what to do instead.")
            raise SoftFailure(_("The user declined."), "declined", remediation=advice)
        return answer

    # --- Forms --------------------------------------------------------------------------------

    def ask(self, serializer_class: type[BaseSerializer[Any]], message: str, key: str) -> Any:
        own = Form(self.make_serializer(serializer_class, {})).get_values(self.request.data)
        serializer = self.make_serializer(serializer_class, own)
        if serializer.is_valid():
            return serializer.validated_data
        errors = serializer.errors
        if self.call is None or not self.lacks_only(errors, own):
            # Over plain HTTP, and where the arguments are wrong, only the caller can mend it.
            raise ValidationError(errors)
        form = Form(serializer)
        key = key or re.sub(r"(?<!^)(?=[A-Z])", "_", serializer_class.__name__).lower()
        question = Question(key, force_str(message), form.get_schema(own))
        failure = self.get_failure(question)
        content = self.demand(question, failure).content
        complete = self.make_serializer(serializer_class, {**content, **own})
        if complete.is_valid():
            return complete.validated_data
        raise Asked(self.ask_again(question, complete.errors), failure=failure)

    def make_serializer(self, serializer_class: type[BaseSerializer[Any]], data: Any) -> Any:
        return serializer_class(data=data, context={"request": self.request})

    def lacks_only(self, errors: Any, own: Mapping[str, Any]) -> bool:
        return isinstance(errors, Mapping) and not own.keys() & errors.keys()

    def ask_again(self, question: Question, errors: Mapping[str, Any]) -> Question:
        reasons = [f"{name}: {' '.join(map(str, texts))}" for name, texts in errors.items()]
        message = f"{question.message} {' '.join(reasons)}".strip()
        return Question(question.key, message, question.schema)

    def get_failure(self, question: Question) -> Failure:
        assert question.schema is not None
        names = list(question.schema["properties"])
        required = question.schema.get("required", names)
        tool: Any = self.call and self.call.tool
        known = {argument.parameter.name: argument for argument in tool.arguments.arguments}
        if not all(name in known for name in names):
            remediation = _(NOTHING_TO_SEND)
            problems: tuple[Problem, ...] = ()
        else:
            sent = ", ".join(known[name].name for name in required)
            text = _("Ask the user, then call %(tool)s again with: %(arguments)s.")
            message = _("Ask the user for it.")
            remediation = text % {"tool": tool.name, "arguments": sent}
            problems = tuple(Problem("required", message, known[name].pointer) for name in required)
        return Failure(
            CODE, Category.VALIDATION, question.message, remediation, problems, soft=True
        )

    # --- Pages --------------------------------------------------------------------------------

    def visit(self, url: str, message: str, key: str) -> None:
        words = force_str(message)
        text = _("Ask the user to open %(url)s, then make the same call again.")
        remediation = text % {"url": url}
        if self.call is None:
            raise SoftFailure(words, "visit_required", data={"url": url}, remediation=remediation)
        failure = Failure(
            "VISIT_REQUIRED",
            Category.VALIDATION,
            words,
            remediation,
            context={"url": url},
            soft=True,
            data={"url": url},
        )
        self.demand(Question(key, words, url=url), failure)
