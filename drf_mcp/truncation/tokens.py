"""Estimates the tokens of a text for a language model, without a tokenizer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from drf_mcp.json_text import encode_plain

# The weights are fitted to o200k_base with texts in forty languages, code and data. As its
# tokenizer does first, these expressions split text into runs of letters, digits, punctuation and
# space. Each starts with a set of characters, which Python searches fastest.
_SMALL = "a-z\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f"
_WORD = re.compile(rf"[A-Z]+[{_SMALL}]*|[{_SMALL}]+")
_ACCENTED = re.compile(r"[\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f]")
_EASTERN = re.compile(r"[\u0100-\u019f]")
_VIETNAMESE = re.compile(r"[\u01a0-\u01b0\u1ea0-\u1eff]")
_DIGITS = re.compile(r"[0-9]+")
_MARKS = re.compile(r"[!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u2027\u20a0-\u20bf]+")
_BETWEEN_DIGITS = re.compile(r"[!-/:-@](?<=[0-9].)(?=[0-9])")
# A line feed behind a mark is one token with it, a space before a word one with the word.
_SPACE = re.compile(r"\n(?<![!-/:-@\[-`{-~\n]\n)\n*| (?: +|(?=[0-9]))|\t+")
_LITERAL = re.compile(r",(?:null|true|false)\b")
# Base64 and random keys: no words, however long their runs of letters.
_RUN = re.compile(r"[A-Za-z0-9+/_-]{20,}")
_MIXED = r"(?=[A-Za-z+/_-]{0,20}[0-9])(?=[a-z0-9+/_-]*[A-Z])(?=[A-Z0-9+/_-]*[a-z])"
_FIRST_MIXED = re.compile(f"^{_MIXED}", re.MULTILINE)
_ENCODED = re.compile(f"(?<![A-Za-z0-9+/_-]){_MIXED}{_RUN.pattern}")
_ENCODED_WEIGHT = 0.73

# Tokens of a word by its length. The languages differ in accented letters: few in English and
# code, Latin-1 in western Europe, others in eastern Europe, and those of Vietnamese.
_ENGLISH = (0, 1.05, 1.05, 1.05, 1.0, 1.05, 1.1, 1.25, 1.35, 1.45, 1.7, 1.85, 2.1, 2.5, 2.8)
_WESTERN = (0, 1.0, 1.0, 1.0, 1.1, 1.25, 1.4, 1.65, 1.85, 2.1, 2.4, 2.7, 3.0, 3.2, 3.5)
_OTHER_LATIN = (0, 1.0, 1.1, 1.3, 1.7, 1.9, 2.3, 2.7, 2.9, 3.2, 3.5, 3.8, 4.0, 4.3, 4.6)
_SYLLABLES = (0, 1.1, 1.2, 1.25, 1.25, 1.35, 1.5, 1.7, 2.1, 2.3, 2.6, 3.0, 3.3, 3.6, 4.0)
_LETTER_BEYOND = 0.3

_SCRIPTS: tuple[tuple[str, float, float], ...] = (
    # Characters, tokens of a run, tokens of each character in it.
    ("\u0400-\u052f", 0.78, 0.195),  # Cyrillic
    ("\u0402-\u040f\u0452-\u052f", 0.50, 0.10),  # its letters that Russian lacks
    ("\u0370-\u03ff\u1f00-\u1fff", 0.85, 0.28),  # Greek
    ("\u0530-\u058f", 0.80, 0.30),  # Armenian
    ("\u0590-\u05ff", 0.80, 0.28),  # Hebrew
    ("\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff", 0.70, 0.225),  # Arabic
    ("\u0900-\u0963\u0966-\u097f", 0.45, 0.295),  # Devanagari
    ("\u0964\u0965\u0980-\u09ff", 0.85, 0.28),  # Bengali
    ("\u0a00-\u0b7f", 0.85, 0.35),  # Gurmukhi, Gujarati, Odia
    ("\u0b80-\u0bff", 0.80, 0.28),  # Tamil
    ("\u0c00-\u0cff", 0.85, 0.33),  # Telugu, Kannada
    ("\u0d00-\u0dff", 0.83, 0.32),  # Malayalam, Sinhala
    ("\u0e00-\u0eff", 0.75, 0.41),  # Thai, Lao
    ("\u1000-\u109f\u1780-\u17ff", 0.90, 0.55),  # Burmese, Khmer
    ("\u10a0-\u10ff", 0.85, 0.27),  # Georgian
    ("\uac00-\ud7af\u1100-\u11ff\u3130-\u318f", 1.13, 0.43),  # Korean
    ("\u3040-\u30ff", 0.75, 0.34),  # Kana
    ("\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff", 0.95, 0.68),  # Han
    ("\u3000-\u303f\uff00-\uffef", 1.10, 0.30),  # their punctuation
)
_RUNS = tuple((re.compile(f"[{chars}]+"), run, char) for chars, run, char in _SCRIPTS)
_KNOWN = "".join(chars for chars, *_ in _SCRIPTS)
# Emoji and rare scripts are spelled in bytes.
_OTHER = re.compile(
    rf"[^\x00-\x7f\u00a1-\u024f\u0300-\u036f\u1e00-\u1eff\u2010-\u2027\u20a0-\u20bf{_KNOWN}]"
)
_OTHER_WEIGHT = 2.2


CHARS_PER_TOKEN = 4
"""A result has no more characters for each token of its budget: clients count either."""


def count_tokens(text: str) -> int:
    """Return the tokens of a text, one for each four of its characters at least."""
    return max(estimate_tokens(text), -(-len(text) // CHARS_PER_TOKEN))


def is_within(text: str, limit: int, count: Callable[[str], int] = count_tokens) -> bool:
    """Return whether a text has no more tokens than a limit."""
    if len(text) > CHARS_PER_TOKEN * limit:
        return False
    # A token has at least one byte, so most texts need not be counted.
    return len(text.encode(errors="replace")) <= limit or count(text) <= limit


def cut_text(text: str, room: int, count: Callable[[str], int] = count_tokens) -> str:
    """Return the beginning of a text that takes no more tokens than a room, as JSON."""
    part = text[: CHARS_PER_TOKEN * room]
    while part:
        size = count(encode_plain(part))
        if size <= room:
            break
        part = part[: min(len(part) * room // size, len(part) - 1)]
    if len(part) == len(text):
        return part
    # At the end of a line or a word, where one is near.
    for end in ("\n", " "):
        near = part.rfind(end, len(part) - len(part) // 20)
        if near > 0:
            return part[: near + 1]
    return part


def clip_text(text: str, length: int) -> str:
    """Return text in no more than this many characters, cut at the end of a word."""
    text = text.strip()
    if len(text) <= length:
        return text
    if length < 1:
        return ""
    cut = text[: length - 1]
    space = max(cut.rfind(" "), cut.rfind("\n"))
    # Scripts without spaces, and words without end, are cut where they are.
    return (cut[:space] if space > length // 2 else cut).rstrip() + "…"


def estimate_tokens(text: str) -> int:
    """Return how many tokens of o200k_base a text is, within 15 % for every kind of text."""
    tokens = 0.0
    # Most texts have none, and the runs alone are searched fastest.
    if _FIRST_MIXED.search("\n".join(_RUN.findall(text))):
        length = len(text)
        text = _ENCODED.sub("", text)
        tokens += _ENCODED_WEIGHT * (length - len(text))
    tokens += _estimate_words(text)
    if not text.isascii():
        tokens += _estimate_other_scripts(text)
    for length, count in Counter(map(len, _DIGITS.findall(text))).items():
        tokens += count * -(-length // 3)
    for length, count in Counter(map(len, _MARKS.findall(text))).items():
        tokens += count * (0.75 + 0.45 * max(length - 2, 0))
    tokens += 0.25 * len(_BETWEEN_DIGITS.findall(text)) - 0.75 * len(_LITERAL.findall(text))
    tokens += len(_SPACE.findall(text))
    return -int(-tokens // 1)


def _estimate_words(text: str) -> float:
    words = Counter(map(len, _WORD.findall(text)))
    if text.isascii():
        return _weigh(words, _ENGLISH)
    accented = len(_ACCENTED.findall(text))
    share = (accented + len(_EASTERN.findall(text))) / max(words.total(), 1)
    # Without steps, so that one more character does not change the language of the text.
    western, other = _scale(share, 0.0, 0.08), _scale(share, 0.25, 0.37)
    latin = (
        (1 - western) * _weigh(words, _ENGLISH)
        + (western - other) * _weigh(words, _WESTERN)
        + other * _weigh(words, _OTHER_LATIN)
    )
    syllables = _scale(len(_VIETNAMESE.findall(text)) / max(accented, 1), 0.0, 0.2)
    return (1 - syllables) * latin + syllables * _weigh(words, _SYLLABLES)


def _scale(value: float, low: float, high: float) -> float:
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _weigh(words: Mapping[int, int], weights: tuple[float, ...]) -> float:
    longest = len(weights) - 1
    return sum(
        count * (weights[min(length, longest)] + _LETTER_BEYOND * max(length - longest, 0))
        for length, count in words.items()
    )


def _estimate_other_scripts(text: str) -> float:
    tokens = _OTHER_WEIGHT * len(_OTHER.findall(text))
    for pattern, run, char in _RUNS:
        runs = pattern.findall(text)
        tokens += run * len(runs) + char * sum(map(len, runs))
    return tokens
