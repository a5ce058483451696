"""Which Python regular expressions an ECMAScript engine compiles to the same meaning.

Clients compile the ``pattern`` of a schema with JavaScript's ``u`` flag, and one that
does not compile can cost them the whole list of tools.
"""

from __future__ import annotations

import re

# Escapes with one meaning in both languages. \w, \b and their opposites know Unicode
# in Python and ASCII in ECMAScript, so they are not among them.
CHARACTER = r"\\[tnrfv](?![0-9])|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[\^$\\.*+?()\[\]{}|/]"
SET = r"\\[dDsS]"
# Doubled signs and nested brackets in a set are operators in newer engines.
SET_ITEM = rf"(?:(?!--|&&|~~|\|\|)(?:{SET}|{CHARACTER}|\\-|[^\\\[\]]))"
QUANTIFIER = r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??"
ATOM = rf"(?:{SET}|{CHARACTER}|\[\^?{SET_ITEM}+\]|[^\\^$.*+?()\[\]{{}}|]|\.)"
GROUP = r"\((?:\?(?::|=|!|<=|<!))?"

COMMON = re.compile(
    rf"(?:{ATOM}(?:{QUANTIFIER})?|{GROUP}|\)(?:{QUANTIFIER})?|\||[\^$])*", re.DOTALL
)
REPEATED_ASSERTION = re.compile(r"\(\?<?[=!].*\)[*+?{]", re.DOTALL)


def is_ecmascript(pattern: str) -> bool:
    """Return True if the pattern surely compiles in ECMAScript and means the same.

    Conservative: a pattern with anything unusual in it counts as not portable.
    """
    if COMMON.fullmatch(pattern) is None or REPEATED_ASSERTION.search(pattern):
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
