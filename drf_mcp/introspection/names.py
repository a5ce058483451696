"""Names and patterns that every client and model provider accepts, and names of secrets."""

from __future__ import annotations

import hashlib
import re

LONGEST = 64
PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

SECRET = re.compile(
    r"pass(?:w|code|phrase|key)|secret|token|(?:api|access|private)[-_]?key|credential"
    r"|authori[sz]ation|(?:\b|_)auth(?:\b|_)|\bcookies?\b|session[-_]?(?:id|key)\b"
    r"|security_?code|card_?number|cvv|cvc|ssn|iban|(?:\b|_)(?:pin|otp)(?:_?code)?(?:\b|_)"
)


def sounds_secret(name: str) -> bool:
    # Twice as fast as a pattern that ignores case.
    return SECRET.search(name.casefold()) is not None


def is_portable(name: str) -> bool:
    return PORTABLE.fullmatch(name) is not None


def make_portable_name(name: str) -> str:
    """Return a name that every client accepts. Two names may have the same portable name."""
    if is_portable(name):
        return name
    portable = re.sub(r"[^A-Za-z0-9_]", "_", name).rstrip("_")
    if not portable or portable[0].isdigit():
        portable = f"_{portable}"
    if len(portable) <= LONGEST:
        return portable
    # Long names with the same beginning differ in the digest.
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{portable[: LONGEST - 9]}_{digest}"


# Clients compile a ``pattern`` with JavaScript's ``u`` flag: one that does not compile can cost
# them the whole list of tools. So a pattern with anything unusual in it counts as not portable.
# Escapes with one meaning in both languages. \w, \b and their opposites know Unicode
# in Python and ASCII in ECMAScript, so they are not among them.
CHARACTER = r"\\[tnrfv](?![0-9])|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[\^$\\.*+?()\[\]{}|/]"
SET = r"\\[dDsS]"
# Doubled signs and nested brackets in a set are operators in newer engines.
SET_ITEM = rf"(?:(?!--|&&|~~|\|\|)(?:{SET}|{CHARACTER}|\\-|[^\\\[\]]))"
QUANTIFIER = r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??"
ATOM = rf"(?:{SET}|{CHARACTER}|\[\^?{SET_ITEM}+\]|[^\\^$.*+?()\[\]{{}}|]|\.)"
GROUP = r"\((?:\?(?::|=|!|<=|<!))?"

COMMON_PATTERN = re.compile(
    rf"(?:{ATOM}(?:{QUANTIFIER})?|{GROUP}|\)(?:{QUANTIFIER})?|\||[\^$])*", re.DOTALL
)
REPEATED_ASSERTION = re.compile(r"\(\?<?[=!].*\)[*+?{]", re.DOTALL)


# What Python writes in its own way, and ECMAScript in another that means the same. Escapes and
# sets are read whole, so that nothing inside them is taken for syntax.
PYTHON_ONLY = re.compile(
    r"(?P<end>\\Z)|(?P<start>\\A)|(?P<name>\(\?P<\w+>)|(?P<least>\{,(?=[0-9]))"
    r"|\\.|\[\^?(?:\\.|[^\\\]])+\]",
    re.DOTALL,
)
IN_ECMASCRIPT = {"end": "$", "start": "^", "name": "(", "least": "{0,"}


def translate_pattern(pattern: str, flags: int = 0) -> str | None:
    """Return a Python pattern as ECMAScript writes it, None where it cannot say exactly the same.

    ``$`` and ``\\Z`` differ in Python by a line break at the end, which makes no difference here.
    """
    if flags & ~re.UNICODE:
        return None
    written = PYTHON_ONLY.sub(lambda m: IN_ECMASCRIPT.get(m.lastgroup or "", m[0]), pattern)
    return written if is_ecmascript(written) else None


def is_ecmascript(pattern: str) -> bool:
    if COMMON_PATTERN.fullmatch(pattern) is None or REPEATED_ASSERTION.search(pattern):
        return False
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
