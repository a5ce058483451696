"""Signals of proposals, for a project's own code to connect to, each with ``proposal``."""

from __future__ import annotations

from django.dispatch import Signal

proposal_made = Signal()
"""Sent when a call waits for an approval, again when it has to be approved anew."""

proposal_ended = Signal()
"""Sent once when a proposal was declined or withdrawn, has expired, or its call was made."""
