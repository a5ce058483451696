"""A call that destroys is made at the second attempt, which shows that the first was read."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from datetime import timedelta
from typing import Any

from django.core import signing
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from drf_mcp.contrib.writes.changes import is_dry_run
from drf_mcp.contrib.writes.previewer import Preview, preview
from drf_mcp.features import CallState, Guard, Proceed, get_rows
from drf_mcp.interaction.exchange import ANSWER_SECONDS, Asked, get_exchange
from drf_mcp.json_text import hash_json
from drf_mcp.outcomes import MISSING, Category, Failure, Outcome, Question

# The key of the client's user's answer, among those to a view's own questions.
KEY = "confirm_call"
CONFIRMATION = "confirmation"
SALT = "drf_mcp.contrib.writes.confirmation"
# Seconds in which a confirmation can be sent; a person who is asked has those of the question.
TOKEN_AGE = 300
# Nothing to fill in: to accept the form is to agree, to decline it is not.
FORM = {"type": "object", "properties": {}}
INVALID, EXPIRED, USED, CHANGED = "invalid", "expired", "used", "changed"
FOREIGN, ARGUMENTS = "foreign", "other_arguments"
FAULTS = {
    INVALID: gettext_noop("The confirmation is not one that this tool gave."),
    EXPIRED: gettext_noop("The confirmation has expired."),
    USED: gettext_noop("The confirmation was used before."),
    FOREIGN: gettext_noop("The confirmation was given to another caller."),
    ARGUMENTS: gettext_noop("The confirmation was given for other arguments."),
    CHANGED: gettext_noop("What the call is about has changed since it was shown."),
}
REMEDIATION = gettext_noop(
    "Compare the preview with what the user asked for. If it is that, call again with the arguments"
    " in 'next', or add the confirmation to the same arguments. If in doubt, ask the user first."
)


def get_used_confirmations() -> Any:
    return get_rows("drf_mcp_writes.UsedConfirmation")


def expire_confirmations() -> int:
    """Delete the confirmations that can be used no more, and return their number."""
    return int(get_used_confirmations().filter(expires__lte=timezone.now()).delete()[0])


def shorten_hash(text: str) -> str:
    # 96 bits, in few tokens.
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:12]).decode()


class Confirmation:
    """The text that confirms one call, once: of one caller, on an object in one state.

    Args:
        call: the call.
        preview: what the call would do.
    """

    def __init__(self, call: CallState, preview: Preview) -> None:
        arguments = call.tool.arguments
        self.signer = signing.TimestampSigner(salt=f"{SALT}.{call.tool.name}")
        self.arguments = arguments.replace_control(call.bound.arguments, CONFIRMATION, MISSING)
        self.binding = {
            FOREIGN: shorten_hash(call.caller.principal),
            ARGUMENTS: shorten_hash(hash_json(self.arguments)),
            CHANGED: shorten_hash(preview.state),
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
        rows, expires = get_used_confirmations(), timezone.now() + timedelta(seconds=max_age)
        try:
            with transaction.atomic(using=rows.db):
                rows.create(nonce=self.nonce, expires=expires)
        except IntegrityError:
            return False
        return True


class ConfirmationGuard(Guard):
    """Answers what a call would do, and makes the call once that is confirmed.

    A client that lets its user be asked is asked to; for others the answer has a text to send back
    as the argument ``confirmation``. The text shows that the model had the preview before it, the
    form that the client agreed: neither proves that a person did. A view's method
    ``preview_ACTION`` (``preview_METHOD`` where it is no viewset) adds what the action would do: it
    takes what the handler takes, changes nothing, and returns JSON or text, which is part of what
    is confirmed.
    """

    order = 520

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        if call.is_rerun or is_dry_run(call):
            return proceed(call)
        shown = preview(call)
        if isinstance(shown, Outcome):
            return shown
        confirmation, exchange = Confirmation(call, shown), get_exchange(call)
        text, max_age = call.bound.controls.get(CONFIRMATION), TOKEN_AGE
        if KEY in exchange.answers and KEY in exchange.memory:
            if not exchange.answers[KEY].is_accepted:
                message = _("The user was asked, and did not agree. The call was not made.")
                advice = _("Do not repeat the call, unless the user asks for it again.")
                failure = Failure("DECLINED", Category.AUTHORIZATION, message, advice, soft=True)
                return Outcome(call.tool.name, 200, failure=failure)
            text, max_age = exchange.memory[KEY], ANSWER_SECONDS
        fault = "" if text is None else confirmation.find_fault(text, max_age)
        if text is None or fault:
            return self.ask(call, shown, confirmation, fault)
        try:
            return proceed(call)
        except Asked:
            # The view asks its own question: the next round sends the same confirmation.
            get_used_confirmations().filter(nonce=confirmation.nonce).delete()
            raise

    def ask(
        self, call: CallState, preview: Preview, confirmation: Confirmation, fault: str
    ) -> Outcome:
        """Return the outcome that asks: a question, and a soft failure for who cannot be asked."""
        text, arguments = confirmation.write(), confirmation.arguments
        title, said = str(call.tool.title).rstrip("."), list(preview.sentences)
        reason = [_(FAULTS[fault])] if fault else []
        state = _("The call was not made: it has to be confirmed.")
        message = " ".join([state, *reason, f"{title}.", *said])
        question, advice = [*reason, f"{title}?", *said], _(REMEDIATION)
        # The model has seen the arguments that it sends; the person has not.
        shown = call.tool.sanitize_arguments(arguments)
        if shown:
            facts = {"arguments": json.dumps(shown, ensure_ascii=False)}
            question.append(_("Arguments: %(arguments)s") % facts)
        data = {
            **({"reason": fault} if fault else {}),
            "preview": preview.data,
            "confirmation": text,
            "expires_in_seconds": TOKEN_AGE,
        }
        # Arguments with secrets or files are not sent back.
        if shown == arguments:
            data["next"] = call.tool.arguments.replace_control(arguments, CONFIRMATION, text)
        return Outcome(
            call.tool.name,
            200,
            data=data,
            body={"detail": f"{message} {advice}", "data": data},
            failure=Failure(
                "CONFIRMATION_REQUIRED", Category.VALIDATION, message, advice, soft=True
            ),
            questions=(Question(KEY, "\n".join(question), FORM, memory=text),),
        )
