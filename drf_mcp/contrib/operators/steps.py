from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

KINDS: Mapping[str, str] = {
    "narrowing": gettext_noop("narrowing"),
    "endpoint": gettext_noop("endpoint"),
    "permission": gettext_noop("permission"),
    "throttle": gettext_noop("throttle"),
    "rows": gettext_noop("rows"),
    "object permission": gettext_noop("object permission"),
}
# Those of `RateLimit`, which names them in English.
PERIODS = (
    # Translators: of a quota, as are minute, hour and day: 10 calls per second.
    gettext_noop("second"),
    gettext_noop("minute"),
    gettext_noop("hour"),
    gettext_noop("day"),
)


@dataclass(frozen=True)
class Step:
    """One decision over a call of a tool, in the language of its reader."""

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
        """The sentence about what is needed, "" if that is not known."""
        return _("Needed: %(needed)s.") % {"needed": self.needed} if self.needed else ""
