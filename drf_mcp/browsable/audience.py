from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

from django.apps import apps
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from rest_framework.permissions import DjangoModelPermissions, DjangoObjectPermissions

from drf_mcp.access.authentication_reuse import lets_all_in
from drf_mcp.contrib.operators.permission_trace import PermissionTrace, TracedPermission
from drf_mcp.exceptions import contain
from drf_mcp.tools.tool import Tool

ANYBODY = gettext_noop("anybody")


@dataclass(frozen=True)
class Requirement:
    # The permission class, and whom it lets in, in words.
    name: str
    says: str
    # What the project's own class says of itself.
    about: str = ""
    # The groups that have the model permissions which it requires.
    groups: tuple[str, ...] = ()


class Audience:
    """Whom the permissions of a tool's view let in, whoever asks."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    def requirements(self) -> list[Requirement]:
        trace = PermissionTrace(self.tool, None)
        return [self.describe(traced) for traced in contain(trace.get_permissions, lambda exc: [])]

    @property
    def words(self) -> str:
        """The requirements in one line."""
        anybody = _(ANYBODY)
        says = (requirement.says for requirement in self.requirements)
        return "; ".join(dict.fromkeys(text for text in says if text != anybody)) or anybody

    def describe(self, traced: TracedPermission) -> Requirement:
        permission = traced.permission
        if lets_all_in(permission):
            return Requirement(traced.name, _(ANYBODY))
        names = contain(lambda: self.get_required(traced), lambda exc: ())
        if names:
            groups = contain(lambda: self.find_groups(names), lambda exc: ())
            both = _("%(first)s and %(last)s")
            held = reduce(lambda first, last: both % {"first": first, "last": last}, names)
            says = _("a user with %(permissions)s") % {"permissions": held}
            return Requirement(traced.name, says, self.get_about(permission), groups)
        says = traced.get_needs(permission) or traced.name
        return Requirement(traced.name, says, self.get_about(permission))

    def get_about(self, permission: Any) -> str:
        # REST framework's docstrings tell programmers.
        if type(permission).__module__.startswith("rest_framework."):
            return ""
        return (type(permission).__doc__ or "").strip().partition("\n")[0]

    def get_required(self, traced: TracedPermission) -> tuple[str, ...]:
        permission, method = traced.permission, str(traced.request.method)
        # One that asks of the row is described by its own words.
        if not isinstance(permission, DjangoModelPermissions) or (
            isinstance(permission, DjangoObjectPermissions)
            and type(permission).has_permission is not DjangoModelPermissions.has_permission
        ):
            return ()
        model = permission._queryset(traced.view).model
        return tuple(permission.get_required_permissions(method, model))

    def find_groups(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if not apps.is_installed("django.contrib.auth"):
            return ()
        groups: Any = apps.get_model("auth", "Group").objects.all()
        for name in names:
            label, _, codename = name.partition(".")
            groups = groups.filter(
                permissions__content_type__app_label=label, permissions__codename=codename
            )
        return tuple(groups.order_by("name").values_list("name", flat=True).distinct())
