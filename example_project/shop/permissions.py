"""Who may do what with a single row."""

from __future__ import annotations

from rest_framework.permissions import BasePermission, DjangoObjectPermissions


class IsOpenerOrStaff(BasePermission):
    """A ticket belongs to the user who opened it; staff may work on all of them."""

    message = "Only the user who opened this ticket, or staff, may do that."

    def has_object_permission(self, request, view, obj) -> bool:
        return request.user.is_staff or obj.opened_by_id == request.user.pk


class IsOwnerOrPermitted(DjangoObjectPermissions):
    """The owner may do anything with a row, others what their model permissions allow."""

    message = "This belongs to another user."
    perms_map = {
        "GET": ["%(app_label)s.view_%(model_name)s"],
        "HEAD": ["%(app_label)s.view_%(model_name)s"],
        "OPTIONS": [],
        # A POST that has a row is an action on it.
        "POST": ["%(app_label)s.change_%(model_name)s"],
        "PUT": ["%(app_label)s.change_%(model_name)s"],
        "PATCH": ["%(app_label)s.change_%(model_name)s"],
        "DELETE": ["%(app_label)s.delete_%(model_name)s"],
    }

    def has_permission(self, request, view) -> bool:
        return bool(request.user and request.user.is_authenticated)

    def has_object_permission(self, request, view, obj) -> bool:
        if obj.owner == request.user:
            return True
        required = self.get_required_object_permissions(request.method, type(obj))
        return request.user.has_perms(required)
