"""The permissions of a view, asked one by one on behalf of a caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework import permissions
from rest_framework.request import Request

from drf_mcp.dispatch.visibility import turns_away
from drf_mcp.exceptions import contain

KINDS: Mapping[str, str] = {
    "narrowing": gettext_noop("narrowing"),
    "endpoint": gettext_noop("endpoint"),
    "permission": gettext_noop("permission"),
    "throttle": gettext_noop("throttle"),
    "rows": gettext_noop("rows"),
    "object permission": gettext_noop("object permission"),
}
# Periods of a `RateLimit`, which names them in English.
PERIODS = (
    # Translators: of a quota, as are minute, hour and day: 10 calls per second.
    gettext_noop("second"),
    gettext_noop("minute"),
    gettext_noop("hour"),
    gettext_noop("day"),
)
# How many rows are asked about.
SAMPLE = 100
NEEDS: dict[type, str] = {
    permissions.IsAdminUser: gettext_noop("a user with is_staff"),
    permissions.IsAuthenticated: gettext_noop("a signed-in user"),
    permissions.IsAuthenticatedOrReadOnly: gettext_noop("a signed-in user"),
}
BOTH, EITHER = gettext_noop("%(first)s and %(last)s"), gettext_noop("%(first)s or %(last)s")
# REST framework's composed permissions: the operator between the names of their operands, and the
# text that joins what the operands need.
COMPOSED: dict[Any, tuple[str, str]] = {
    permissions.AND: ("and", BOTH),
    permissions.OR: ("or", EITHER),
}
NEGATED: Any = permissions.NOT


@dataclass(frozen=True)
class Step:
    """One decision about a call of a tool, in the language of its reader."""

    # One of `KINDS`.
    kind: str
    name: str
    # None where it depends on the row or cannot be asked.
    allows: bool | None
    says: str
    # What would change the decision, "" if that is not known.
    needed: str = ""

    @property
    def label(self) -> str:
        return _(KINDS[self.kind])

    @property
    def need(self) -> str:
        """The sentence that names what is needed, "" if that is not known."""
        return _("Needed: %(needed)s.") % {"needed": self.needed} if self.needed else ""


class AskedPermission:
    """A permission of a view, and what it answers to one request."""

    def __init__(self, permission: Any, request: Request, view: Any) -> None:
        self.permission = permission
        self.request = request
        self.view = view
        self.name = self._name(permission)

    def _name(self, permission: Any) -> str:
        for composed, (word, _joint) in COMPOSED.items():
            if isinstance(permission, composed):
                return f"({self._name(permission.op1)} {word} {self._name(permission.op2)})"
        if isinstance(permission, NEGATED):
            return f"not {self._name(permission.op1)}"
        return type(permission).__name__

    def make_step(self, kind: str) -> Step:
        allows: Any = contain(
            lambda: bool(self.permission.has_permission(self.request, self.view)), lambda exc: exc
        )
        if isinstance(allows, Exception):
            # Permissions of some projects raise their refusal.
            if turns_away(allows):
                says = _("refuses: %(reason)s") % {"reason": allows}
                return Step(kind, self.name, False, says)
            says = _("cannot be asked without a call: %(error)r") % {"error": allows}
            return Step(kind, self.name, None, says)
        if allows:
            return Step(kind, self.name, True, _("allows it"))
        return Step(kind, self.name, False, _("refuses"), self.find_needs(self.permission))

    def make_object_step(self, rows: Any) -> Step | None:
        # None for a permission without a check of objects.
        base = permissions.BasePermission.has_object_permission
        if getattr(type(self.permission), "has_object_permission", base) is base:
            return None
        kind, name = "object permission", f"{self.name}.has_object_permission"
        decisions = [
            contain(partial(self.allows_object, row), lambda exc: False)
            for row in islice(rows.all(), SAMPLE)
        ]
        allowed, asked = sum(decisions), len(decisions)
        plural = rows.model._meta.verbose_name_plural
        facts = {"allowed": allowed, "count": asked, "rows": plural}
        if allowed == asked:
            says = _("allows all %(count)d %(rows)s")
            if asked == SAMPLE:
                says = _("allows all the first %(count)d %(rows)s")
            return Step(kind, name, True, says % facts)
        says = _("allows %(allowed)d of %(count)d %(rows)s")
        if asked == SAMPLE:
            says = _("allows %(allowed)d of the first %(count)d %(rows)s")
        allows = None if allowed else False
        return Step(kind, name, allows, says % facts, self.find_needs(self.permission))

    def allows_object(self, row: Any) -> bool:
        return bool(self.permission.has_object_permission(self.request, self.view, row))

    def find_needs(self, permission: Any) -> str:
        for composed, (_word, joint) in COMPOSED.items():
            if isinstance(permission, composed):
                operands = (permission.op1, permission.op2)
                return self._join(filter(None, map(self.find_needs, operands)), joint)
        if isinstance(permission, NEGATED):
            return _("a caller whom %(name)s refuses") % {"name": self._name(permission.op1)}
        if isinstance(permission, permissions.DjangoModelPermissions):
            return contain(lambda: self._find_missing(permission), lambda exc: "")
        for known in type(permission).__mro__:
            if known in NEEDS:
                return _(NEEDS[known])
        docstring = (type(permission).__doc__ or "").strip().partition("\n")[0]
        return str(getattr(permission, "message", None) or docstring).rstrip(".")

    def _find_missing(self, permission: Any) -> str:
        # REST framework names the permissions that a method requires, not those that are missing.
        user, method = self.request.user, str(self.request.method)
        if not user.is_authenticated:
            return _(NEEDS[permissions.IsAuthenticated])
        model = permission._queryset(self.view).model
        required = permission.get_required_permissions(method, model)
        if isinstance(permission, permissions.DjangoObjectPermissions):
            required = permission.get_required_object_permissions(method, model)
        missing = [name for name in required if not user.has_perm(name)]
        return (
            _("the permission %(names)s") % {"names": self._join(missing, BOTH)} if missing else ""
        )

    def _join(self, texts: Iterable[str], joint: str) -> str:
        found = list(texts)
        return reduce(lambda first, last: _(joint) % {"first": first, "last": last}, found or [""])
