"""A call that is made once it is confirmed: by its second attempt, or by a person."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction
from django.utils import timezone

from drf_mcp.archives import CallObject, ShownObject
from drf_mcp.contrib.writes.dry_run import is_dry_run
from drf_mcp.features import CallState, Guard, Proceed, get_rows, mcp_settings
from drf_mcp.interaction.exchange import ANSWER_SECONDS, RERUN, Asked, read_exchange
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome, Question

# The key of the client's user's answer, among those to a view's own questions.
KEY = "confirm_call"
CONFIRMATION = "confirmation"
SALT = "drf_mcp.contrib.writes.confirmation"
# Seconds in which a confirmation can be sent; a person has as long as the question lasts.
TOKEN_AGE = 300
# Nothing to fill in: to accept the form is to agree, to decline it is not.
FORM = {"type": "object", "properties": {}}
INVALID, EXPIRED, USED, CHANGED = "invalid", "expired", "used", "changed"
FOREIGN, ARGUMENTS = "foreign", "other_arguments"
FAULTS = {
    INVALID: "The confirmation is not one that this tool gave.",
    EXPIRED: "The confirmation has expired.",
    USED: "The confirmation was used before.",
    FOREIGN: "The confirmation was given to another caller.",
    ARGUMENTS: "The confirmation was given for other arguments.",
    CHANGED: "What the call is about has changed since it was shown.",
}
ASKS = "The call was not made: it has to be confirmed."
# Of a call that is shown, this is not known.
UNTRIED = "Nothing was run or validated: the call itself may still be refused."
REMEDIATION = (
    "Compare the preview with what the user asked for. If it is that, call again with the arguments"
    " in 'next', or add the confirmation to the same arguments. If in doubt, ask the user first."
)
PERSON = (
    "The call was not made: a person has to agree to it, and this client has no forms to ask its"
    " user."
)
PERSON_ADVICE = (
    "Do not repeat the call here. Tell the user to make it with a client that has forms, or by"
    " themselves. The site can have such calls approved by people on a page: see its approvals."
)
PERSON_ONLY = "person"
# The objects that a question shows, and the members that they share.
MOST_MEMBERS = 10
CASCADES = "If it is deleted, what depends on it goes too."


def find_confirmation(tool: Any) -> bool | str:
    """Return whether the calls of a tool are confirmed: True, False or "person"."""
    own: bool | str | None = tool.options.confirm
    if tool.annotations["readOnlyHint"]:
        return False
    if own is not None:
        return own
    destroys = tool.options.choose_flag("destructive", tool.endpoint.method == "DELETE")
    return bool(destroys) and mcp_settings.CONFIRM


def needs_person(tool: Any) -> bool:
    return find_confirmation(tool) == PERSON_ONLY


def _find_used_confirmations() -> Any:
    return get_rows("drf_mcp_writes.UsedConfirmation")


def _shorten_hash(text: str) -> str:
    # 96 bits, in few tokens.
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:12]).decode()


class Confirmation:
    """The text that confirms one call, once: of one caller, on an object in one state."""

    def __init__(self, call: CallState, state: str) -> None:
        self.signer = signing.TimestampSigner(salt=f"{SALT}.{call.tool.name}")
        self.arguments = call.bound.arguments
        if any(control.name == CONFIRMATION for control in call.tool.controls):
            replace_control = call.tool.arguments.replace_control
            self.arguments = replace_control(self.arguments, CONFIRMATION, MISSING)
        self.binding = {
            FOREIGN: _shorten_hash(call.caller.principal),
            ARGUMENTS: _shorten_hash(
                hash_json(call.tool.arguments.leave_notes_out(self.arguments))
            ),
            CHANGED: _shorten_hash(state),
        }
        self.nonce = ""

    def write(self) -> str:
        """Return a new text."""
        return self.signer.sign(".".join((secrets.token_urlsafe(12), *self.binding.values())))

    def find_fault(self, text: Any, max_age: int) -> str:
        """Return why a text does not confirm the call, "" if it does, for this one time."""
        try:
            self.nonce, *parts = self.signer.unsign(str(text), max_age=max_age).split(".")
        except signing.SignatureExpired:
            return EXPIRED
        except signing.BadSignature:
            return INVALID
        given = zip(self.binding.items(), parts, strict=False)
        differing = (fault for (fault, part), other in given if part != other)
        return next(differing, "") or ("" if self.claim(max_age) else USED)

    def claim(self, max_age: int) -> bool:
        """Return whether the confirmation is unused, and use it up."""
        rows, expires = _find_used_confirmations(), timezone.now() + timedelta(seconds=max_age)
        try:
            with transaction.atomic(using=rows.db):
                rows.create(nonce=self.nonce, expires=expires)
        except IntegrityError:
            return False
        return True


@dataclass(frozen=True)
class ConfirmedObjects:
    """What a call is about.

    Attributes:
        objects: the objects that the caller is shown, up to ten of them.
        count: how many objects the call is about.
        state: a hash of the rows of all of them.
    """

    objects: Sequence[ShownObject]
    count: int
    state: str

    @classmethod
    def of(cls, call: CallState) -> ConfirmedObjects:
        requests = call.bound.requests if call.bound.is_batch else (call.bound,)
        named = [CallObject(call.caller, call.tool, bound) for bound in requests]
        # Several objects share the lines of one.
        most = max(1, MOST_MEMBERS // len(named))
        shown = [each.show(most) for each in named[:MOST_MEMBERS]]
        state = hash_json([each.hash_state() for each in named])
        return cls([each for each in shown if each], len(named), state)

    @property
    def label(self) -> str:
        """The objects by their models and keys, "" for none."""
        more = self.count - len(self.objects)
        names = [each.label for each in self.objects]
        named = ", ".join([*names, f"and {more} more"] if names and more else names)
        count = f"{self.count} objects" if self.count > 1 else ""
        return ": ".join(filter(None, (count, named)))

    @property
    def cascades(self) -> Sequence[str]:
        return [CASCADES] if any(each.cascades for each in self.objects) else []

    @property
    def lines(self) -> Iterator[str]:
        """The objects in words; texts of rows stand in quotation marks."""
        if self.count > 1:
            yield self.label
        for each in self.objects:
            yield from each.lines
        yield from self.cascades

    @property
    def data(self) -> dict[str, Any]:
        """The objects as JSON."""
        if self.count == 1:
            return self.objects[0].data if self.objects else {}
        return {"count": self.count, "objects": [each.data for each in self.objects]}


class ConfirmationGuard(Guard):
    """Shows a call and its object, and makes the call once that is confirmed.

    To ask is never to act: the view is asked for its permissions and the object, and no handler of
    it runs. A client that lets its user be asked is asked to; for others the answer has a text to
    send back as the argument ``confirmation``, or is a refusal where a person has to agree. The
    text shows that the model had the answer before it, the form that the client agreed: neither
    proves that a person did.
    """

    order = 520

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        if RERUN.get(call) or is_dry_run(call):
            return proceed(call)
        refusal: Outcome | None = call.dispatcher.find_early_refusal(call)
        if refusal is not None:
            return refusal
        subject = ConfirmedObjects.of(call)
        confirmation, exchange = Confirmation(call, subject.state), read_exchange(call)
        text, max_age = call.bound.controls.get(CONFIRMATION), TOKEN_AGE
        if KEY in exchange.answers and KEY in exchange.memory:
            if not exchange.answers[KEY].is_accepted:
                message = "The user was asked, and did not agree. The call was not made."
                advice = "Do not repeat the call, unless the user asks for it again."
                failure = Failure("DECLINED", Category.AUTHORIZATION, message, advice, soft=True)
                return Outcome(call.tool.name, 200, failure=failure)
            text, max_age = exchange.memory[KEY], ANSWER_SECONDS
        fault = "" if text is None else confirmation.find_fault(text, max_age)
        if text is None or fault:
            return self.ask(call, subject, confirmation, fault)
        try:
            return proceed(call)
        except Asked:
            # The view asks its own question: the next round sends the same confirmation.
            _find_used_confirmations().filter(nonce=confirmation.nonce).delete()
            raise

    def ask(
        self, call: CallState, subject: ConfirmedObjects, confirmation: Confirmation, fault: str
    ) -> Outcome:
        """Return the outcome that asks: a question, and a failure for who cannot be asked."""
        tool, text, arguments = call.tool, confirmation.write(), confirmation.arguments
        reason = [FAULTS[fault]] if fault else []
        title, shown = str(tool.title).rstrip("."), tool.sanitize_arguments(arguments)
        is_personal = needs_person(tool)
        lines = [*reason, f"{title}?", *subject.lines]
        if shown:
            # The model has seen the arguments that it sends; the person has not.
            lines.append(f"Arguments: {json.dumps(shown, ensure_ascii=False)}")
        question = "\n".join([*lines, UNTRIED])
        asked = Question(KEY, question, FORM, memory=text, is_personal=is_personal)
        if is_personal:
            message, advice = PERSON, PERSON_ADVICE
            failure = Failure(
                "FORBIDDEN", Category.AUTHORIZATION, message, advice, recoverable=False
            )
            return Outcome(tool.name, 403, failure=failure, questions=(asked,))
        named = f"{title}: {subject.label}." if subject.label else f"{title}."
        message = " ".join([ASKS, *reason, named, *subject.cascades, UNTRIED])
        data = {
            **({"reason": fault} if fault else {}),
            "preview": {"tool": tool.name, "arguments": shown, **subject.data},
            "confirmation": text,
            "expires_in_seconds": TOKEN_AGE,
        }
        # Arguments with secrets or files are not sent back.
        if shown == arguments:
            data["next"] = tool.arguments.replace_control(arguments, CONFIRMATION, text)
        return Outcome(
            tool.name,
            200,
            data=data,
            failure=Failure(
                "CONFIRMATION_REQUIRED", Category.VALIDATION, message, REMEDIATION, soft=True
            ),
            questions=(asked,),
        )
