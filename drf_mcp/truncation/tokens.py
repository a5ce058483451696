"""Estimates the tokens of a text for a language model, without a tokenizer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from drf_mcp.json_text import encode_plain


def _make_table(classes: Mapping[str, bytes], other: str = " ") -> bytes:
    # For bytes.translate: each byte becomes the sign of its class.
    table = bytearray(other.encode() * 256)
    for sign, members in classes.items():
        for member in members:
            table[member] = ord(sign)
    return bytes(table)


# The weights are fitted to o200k_base with texts in forty languages, code and data. As its
# tokenizer does first, the estimate splits text into runs of letters, digits, punctuation and
# space. It does so in bytes, one for each character, which is faster than regular expressions.
_SMALL, _CAPITALS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMERALS = b"0123456789"
_MARKS = b"!\"#$%&'()*+,-./:;<=>?@"
_BRACKETS = b"[\\]^_`{|}~"
_CLASSES = _make_table(
    {
        "a": _SMALL + bytes(range(0xC0, 0x100)),
        "A": _CAPITALS,
        "0": _NUMERALS,
        ":": _MARKS,
        "[": _BRACKETS,
        "!": bytes(range(0xA1, 0xC0)),
        **{sign: sign.encode() for sign in " \n\t"},
    },
    other="\0",
)
# Of classes, and of ASCII, too.
_LETTERS = _make_table({"a": b"aA"})
_DIGITS = _make_table({"0": _NUMERALS})
_PUNCTUATION = _make_table({"!": _MARKS + _BRACKETS})
_SPACES, _LINE_FEEDS, _TABS = (_make_table({"x": sign}) for sign in (b" ", b"\n", b"\t"))
_WIDE = re.compile(r"[^\x00-\x7f]+")
# What becomes one byte.
_ACCENTED = re.compile(r"[\u00c0-\u024f\u1e00-\u1eff\u0300-\u036f]")
_WIDE_MARK = re.compile(r"[\u2010-\u2027\u20a0-\u20bf]")
_BEYOND = re.compile(r"[^\x00-\xff]+")
_EASTERN = re.compile(r"[\u0100-\u019f]")
_VIETNAMESE = re.compile(r"[\u01a0-\u01b0\u1ea0-\u1eff]")
_LITERAL = re.compile(rb",(?:null|true|false)\b")
# Base64 and random keys: no words, however long their runs of letters.
_KEYS = _make_table({"k": _SMALL + _CAPITALS + _NUMERALS + b"+/_-"})
_LONG_KEY = b"k" * 20
_MIXED = re.compile(rb"(?=[A-Za-z+/_-]{0,20}[0-9])(?=[a-z0-9+/_-]*[A-Z])(?=[A-Z0-9+/_-]*[a-z])")
_ENCODED_WEIGHT = 0.73

# Tokens of a word by its length. The languages differ in accented letters: few in English and
# code, Latin-1 in western Europe, others in eastern Europe and in Vietnamese.
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
    length = len(text)
    if length > CHARS_PER_TOKEN * limit:
        return False
    # A token has at least one byte, and a character at most four: most texts need not be counted.
    if 4 * length <= limit or len(text.encode(errors="replace")) <= limit:
        return True
    return count(text) <= limit


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
    wide = "" if text.isascii() else "\n".join(_WIDE.findall(text))
    data, tokens = _write_bytes(text), _estimate_other_scripts(wide) if wide else 0.0
    for start, end in reversed(list(_find_encoded(data))):
        tokens += _ENCODED_WEIGHT * (end - start)
        data = data[:start] + data[end:]
    classes = data.translate(_CLASSES)
    words = classes.replace(b"aA", b"a A").translate(_LETTERS).split()
    tokens += _estimate_words(Counter(map(len, words)), wide)
    digits = Counter(map(len, classes.translate(_DIGITS).split()))
    tokens += sum(count * -(-length // 3) for length, count in digits.items())
    marks = b" " + classes.translate(_PUNCTUATION)
    runs = marks.count(b" !")
    tokens += 0.75 * runs + 0.45 * (marks.count(b"!") - runs - marks.count(b" !!"))
    tokens += 0.25 * classes.count(b"0:0") - 0.75 * len(_LITERAL.findall(data))
    # A line feed behind a mark is one token with it, a space before a word one with the word.
    if b"\n" in classes:
        tokens += len(classes.translate(_LINE_FEEDS).split())
        tokens -= classes.count(b":\n") + classes.count(b"[\n")
    if b"\t" in classes:
        tokens += len(classes.translate(_TABS).split())
    if b"  " in classes:
        tokens += (b" " + classes.translate(_SPACES)).count(b" xx") - classes.count(b"  0")
    tokens += classes.count(b" 0")
    return -int(-tokens // 1)


def _write_bytes(text: str) -> bytes:
    # One for each character of words and punctuation, one for each run of another script.
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        text = _WIDE_MARK.sub("\xa1", _ACCENTED.sub("\xe0", text))
        return _BEYOND.sub("\x80", text).encode("latin-1")


def _find_encoded(data: bytes) -> Iterator[tuple[int, int]]:
    keys = data.translate(_KEYS) + b" "
    start = keys.find(_LONG_KEY)
    while start >= 0:
        end = keys.index(b" ", start)
        if _MIXED.match(data, start):
            yield start, end
        start = keys.find(_LONG_KEY, end)


def _estimate_words(words: Mapping[int, int], wide: str) -> float:
    if not wide:
        return _weigh(words, _ENGLISH)
    accented = len(_ACCENTED.findall(wide))
    share = (accented + len(_EASTERN.findall(wide))) / max(sum(words.values()), 1)
    # Without steps, so that one more character does not change the language of the text.
    western, other = _scale(share, 0.0, 0.08), _scale(share, 0.25, 0.37)
    latin = (
        (1 - western) * _weigh(words, _ENGLISH)
        + (western - other) * _weigh(words, _WESTERN)
        + other * _weigh(words, _OTHER_LATIN)
    )
    syllables = _scale(len(_VIETNAMESE.findall(wide)) / max(accented, 1), 0.0, 0.2)
    return (1 - syllables) * latin + syllables * _weigh(words, _SYLLABLES)


def _scale(value: float, low: float, high: float) -> float:
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _weigh(words: Mapping[int, int], weights: tuple[float, ...]) -> float:
    longest = len(weights) - 1
    return sum(
        count * (weights[min(length, longest)] + _LETTER_BEYOND * max(length - longest, 0))
        for length, count in words.items()
    )


def _estimate_other_scripts(wide: str) -> float:
    tokens, found = _OTHER_WEIGHT * len(_OTHER.findall(wide)), "".join(set(wide))
    for pattern, run, char in _RUNS:
        if pattern.search(found):
            runs = pattern.findall(wide)
            tokens += run * len(runs) + char * sum(map(len, runs))
    return tokens
