"""What a call would do, as far as its caller may know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.dispatch.blockers import Rows
from drf_mcp.introspection.text import join_values


@dataclass(frozen=True)
class Preview:
    """What a call would do.

    Attributes:
        label: the object that the call is about, "" where none is known.
        deleted: the rows that are deleted with it.
        kept: the rows that stay, and no longer refer to it.
        changed: the rows that change with it, where the view has a way of its own to delete.
        own: what the view's own preview says, any JSON value; None for nothing.
        state: the hash of everything that the preview was made from.
    """

    label: str = ""
    deleted: tuple[Rows, ...] = ()
    kept: tuple[Rows, ...] = ()
    changed: tuple[Rows, ...] = ()
    own: Any = None
    state: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The preview as JSON, without what is empty."""
        rows = {"deleted": self.deleted, "kept": self.kept, "changed": self.changed}
        members = {name: [each.data for each in found] for name, found in rows.items()}
        every = {"object": self.label, **members, "preview": self.own}
        return {name: value for name, value in every.items() if value not in (None, "", [], {})}

    @property
    def sentences(self) -> Iterator[str]:
        """The preview in words; texts of rows and of the view stand in quotation marks."""
        if self.label:
            yield _("Object: %(label)s.") % {"label": self.label}
        if self.deleted:
            yield _("Deleted with it: %(rows)s.") % {"rows": join_values(self.deleted)}
        if self.kept:
            rows = join_values(self.kept)
            yield _("Kept, without a reference to it: %(rows)s.") % {"rows": rows}
        if self.changed:
            yield _("Changed with it: %(rows)s.") % {"rows": join_values(self.changed)}
        if self.own not in (None, "", [], {}):
            yield _("The view says: %(text)s") % {"text": json.dumps(self.own, ensure_ascii=False)}
