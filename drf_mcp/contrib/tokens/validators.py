"""What a token's patterns and networks have to look like."""

from __future__ import annotations

import ipaddress
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from drf_mcp.option_types.patterns import read_pattern


def validate_patterns(value: Any) -> None:
    for text in read_texts(value):
        try:
            read_pattern(text)
        except ValueError as exc:
            message = _("%(text)r is no pattern: %(error)s.") % {"text": text, "error": exc}
            raise ValidationError(message) from exc


def validate_networks(value: Any) -> None:
    for text in read_texts(value):
        try:
            network = ipaddress.ip_network(text, strict=False)
        except ValueError as exc:
            message = _("%(text)r is no network such as 10.0.0.0/8.") % {"text": text}
            raise ValidationError(message) from exc
        if ipaddress.ip_interface(text).ip != network.network_address:
            message = _("%(text)r is an address within a network: the network is %(network)s.")
            raise ValidationError(message % {"text": text, "network": network})


def read_texts(value: Any) -> list[str]:
    # A text alone would be taken letter by letter.
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValidationError(_("%(value)r is no list of texts.") % {"value": value})
    return value
