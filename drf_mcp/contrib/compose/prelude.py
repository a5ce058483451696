"""What the interpreter lacks, in the language that it has."""

from __future__ import annotations

import ast

# A part of it goes with each program that uses its name. Parts may use others.
TEXT = """
import math as _math
import re as _re
from collections import namedtuple as _namedtuple
from datetime import date as _date
from datetime import timedelta as _timedelta
from datetime import timezone as _timezone
_UTC = _timezone.utc

def _map(function, *lists):
    return iter([function(*row) for row in zip(*lists)])
def _filter(function, rows):
    return iter([row for row in rows if (row if function is None else function(row))])
def _sorted(rows, *, key=None, reverse=False):
    rows = list(rows)
    if key is None:
        return sorted(rows, reverse=reverse)
    keys = [key(row) for row in rows]
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: keys[i], reverse=reverse)]
def _sort(rows, *, key=None, reverse=False):
    rows[:] = _sorted(rows, key=key, reverse=reverse)
def _first(choose, args, key, more):
    rows = list(args[0] if len(args) == 1 else args)
    if key is None or not rows:
        return choose(rows, **more)
    keys = [key(row) for row in rows]
    return rows[keys.index(choose(keys))]
def _max(*args, key=None, **more):
    return _first(max, args, key, more)
def _min(*args, key=None, **more):
    return _first(min, args, key, more)
def _zip(*lists, **more):
    return iter(list(zip(*lists, **more)))
def _enumerate(rows, start=0):
    return iter(list(enumerate(rows, start)))
def _reversed(rows):
    return iter(list(reversed(rows)))
def _iter(function, end):
    found = []
    while (value := function()) != end:
        found.append(value)
    return iter(found)
def _round(number, digits=None):
    # The interpreter rounds 2.675 up.
    if isinstance(number, float) and digits is not None and digits >= 0:
        return float(f"{number:.{digits}f}")
    return round(number, digits)
def _end(value):
    kind = type(value).__name__
    is_lazy = "iterator" in kind or kind.startswith("dict_") or kind == "range"
    return list(value) if is_lazy else value
def _wraps(function):
    return lambda wrapper: wrapper
def _plain(value, default):
    if isinstance(value, dict):
        return {name: _plain(member, default) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, default) for item in value]
    is_plain = value is None or isinstance(value, (str, int, float, bool))
    return value if is_plain else _plain(default(value), default)

_IsoCalendarDate = _namedtuple("IsoCalendarDate", "year week weekday")
def _isocalendar(day):
    day = _date(day.year, day.month, day.day)
    thursday = day + _timedelta(days=3 - day.weekday())
    week = (thursday - _date(thursday.year, 1, 1)).days // 7 + 1
    return _IsoCalendarDate(thursday.year, week, day.weekday() + 1)
def _toordinal(day):
    return (_date(day.year, day.month, day.day) - _date(1, 1, 1)).days + 1
def _utcnow(kind):
    return kind.now()
def _fromtimestamp(kind, seconds, tz=None):
    if kind is _date:
        return kind(1970, 1, 1) + _timedelta(days=seconds // 86400)
    moment = kind(1970, 1, 1, tzinfo=_UTC) + _timedelta(seconds=seconds)
    return moment.replace(tzinfo=None) if tz is None else moment.astimezone(tz)
def _is_integer(number):
    return number == int(number)
def _re_sub(pattern, function, text, count=0, flags=0):
    parts, end = [], 0
    for match in list(_re.finditer(pattern, text, flags))[:count or None]:
        parts += [text[end:match.start()], function(match)]
        end = match.end()
    return "".join([*parts, text[end:]])

class _asyncio:
    gather = lambda *values, return_exceptions=False: list(values)
    run = lambda value: value
    create_task = lambda value: value
    ensure_future = lambda value: value
    wait_for = lambda value, timeout=None: value
    as_completed = lambda values: iter(list(values))
    sleep = lambda seconds, result=None: result

class _suppress:
    def __init__(self, *kinds):
        self.kinds = kinds
    def __enter__(self):
        return None
    def __exit__(self, kind, error, trace):
        return error is not None and isinstance(error, self.kinds)
class _contextlib:
    suppress = _suppress

def _data(data, least, what):
    rows = list(data)
    if len(rows) < least:
        raise ValueError(f"{what} requires at least {least} data points")
    return rows
def _total(rows):
    return _math.fsum(rows) if any([isinstance(row, float) for row in rows]) else sum(rows)
def _mean(data):
    rows = _data(data, 1, "mean")
    return _total(rows) / len(rows)
def _variance(data, less, mean):
    rows = _data(data, less + 1, "variance")
    mean = _mean(rows) if mean is None else mean
    return _total([(row - mean) ** 2 for row in rows]) / (len(rows) - less)
def _median(data):
    rows = sorted(_data(data, 1, "median"))
    one, other = rows[(len(rows) - 1) // 2], rows[len(rows) // 2]
    return one if len(rows) % 2 else (one + other) / 2
def _modes(data):
    counts = {}
    for row in data:
        counts[row] = counts.get(row, 0) + 1
    most = max(counts.values(), default=0)
    return [row for row in counts if counts[row] == most]
def _quantiles(data, n=4):
    rows, cuts = sorted(_data(data, 2, "quantiles")), []
    for place in range(len(rows) + 1, n * (len(rows) + 1), len(rows) + 1):
        j = min(max(place // n, 1), len(rows) - 1)
        delta = place - j * n
        cuts.append((rows[j - 1] * (n - delta) + rows[j] * delta) / n)
    return cuts
class _statistics:
    StatisticsError = ValueError
    mean = _mean
    fmean = lambda data: float(_mean(data))
    median = _median
    multimode = _modes
    mode = lambda data: _modes(_data(data, 1, "mode"))[0]
    quantiles = _quantiles
    variance = lambda data, xbar=None: _variance(data, 1, xbar)
    pvariance = lambda data, mu=None: _variance(data, 0, mu)
    stdev = lambda data, xbar=None: float(_variance(data, 1, xbar)) ** 0.5
    pstdev = lambda data, mu=None: float(_variance(data, 0, mu)) ** 0.5

def _itemgetter(*names):
    if len(names) == 1:
        return lambda row: row[names[0]]
    return lambda row: tuple([row[name] for name in names])
class _operator:
    itemgetter = _itemgetter
    attrgetter = lambda name: lambda row: getattr(row, name)
    add = lambda a, b: a + b
    sub = lambda a, b: a - b
    mul = lambda a, b: a * b
    truediv = lambda a, b: a / b
    floordiv = lambda a, b: a // b
    mod = lambda a, b: a % b
    neg = lambda a: -a
    eq = lambda a, b: a == b
    ne = lambda a, b: a != b
    lt = lambda a, b: a < b
    le = lambda a, b: a <= b
    gt = lambda a, b: a > b
    ge = lambda a, b: a >= b
    contains = lambda a, b: b in a
    getitem = lambda a, b: a[b]
    not_ = lambda a: not a

def _push(heap, item):
    heap.append(item)
    heap.sort()
class _heapq:
    nlargest = lambda n, rows, key=None: _sorted(rows, key=key, reverse=True)[:n]
    nsmallest = lambda n, rows, key=None: _sorted(rows, key=key)[:n]
    heapify = lambda heap: heap.sort()
    heappush = _push
    heappop = lambda heap: heap.pop(0)
    merge = lambda *lists, **more: iter(_sorted([x for rows in lists for x in rows], **more))

def _wrap(text, width=70):
    lines = []
    for word in text.split():
        for part in [word[i:i + width] for i in range(0, len(word), width)]:
            if lines and len(lines[-1]) + 1 + len(part) <= width:
                lines[-1] += " " + part
            else:
                lines.append(part)
    return lines
def _shorten(text, width, placeholder=" [...]"):
    words = text.split()
    for most in range(len(words), -1, -1):
        kept = " ".join(words[:most]) + ("" if most == len(words) else placeholder)
        if len(kept) <= width:
            return kept if most else kept.strip()
    raise ValueError("placeholder too large for max width")
def _dedent(text):
    lines = text.split("\\n")
    least = min([len(x) - len(x.lstrip()) for x in lines if x.strip()], default=0)
    return "\\n".join([line[least:] if line.strip() else "" for line in lines])
class _textwrap:
    wrap = _wrap
    fill = lambda text, width=70: "\\n".join(_wrap(text, width))
    shorten = _shorten
    dedent = _dedent

class _string:
    ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
    ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ascii_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    digits = "0123456789"
    punctuation = "!\\"#$%&'()*+,-./:;<=>?@[\\\\]^_`{|}~"
    capwords = lambda text: " ".join([word.capitalize() for word in text.split()])

_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
def _isleap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
def _monthrange(year, month):
    first = _date(year, month, 1)
    return (first.weekday(), (_date(year + month // 12, month % 12 + 1, 1) - first).days)
class _calendar:
    month_name = ["", *_MONTHS.split()]
    month_abbr = ["", *[name[:3] for name in _MONTHS.split()]]
    day_name = _DAYS.split()
    day_abbr = [name[:3] for name in _DAYS.split()]
    isleap = _isleap
    weekday = lambda year, month, day: _date(year, month, day).weekday()
    monthrange = _monthrange

def _zone(name):
    if name.upper() in ("UTC", "GMT", "ETC/UTC"):
        return _UTC
    raise ValueError("There is no ZoneInfo but UTC: use timezone(timedelta(hours=...)).")
class _zoneinfo:
    ZoneInfo = _zone

class _Member:
    def __init__(self, name, value):
        self.name = name
        self.value = value
class _Enumeration:
    def __init__(self, values, plain):
        self.values = values
        self.members = {n: v if plain else _Member(n, v) for n, v in values.items()}
        for name, member in self.members.items():
            setattr(self, name, member)
    def __iter__(self):
        return iter(list(self.members.values()))
    def __getitem__(self, name):
        return self.members[name]
    def __call__(self, value):
        for name, each in self.values.items():
            if each == value:
                return self.members[name]
        raise ValueError(repr(value) + " is not a member")
"""


def _name_part(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return str(node.names[0].asname)
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    return node.name


PARTS = {_name_part(node): node for node in ast.parse(TEXT).body}
EMULATED = ("asyncio", "calendar", "contextlib", "heapq", "operator", "statistics", "string")
# The modules of Python that are parts, with the names in them.
MODULES: dict[str, list[str]] = {
    name: [_name_part(each) for each in getattr(PARTS[f"_{name}"], "body", ())]
    for name in (*EMULATED, "textwrap", "zoneinfo")
}


def write_prelude(tree: ast.AST) -> str:
    """Return the parts that a program uses, and the parts that these use."""
    found: set[str] = set()
    waiting = find_loaded_names(tree)
    while waiting:
        name = waiting.pop()
        if name in PARTS and name not in found:
            found.add(name)
            waiting |= find_loaded_names(PARTS[name])
    return "\n".join(ast.unparse(node) for name, node in PARTS.items() if name in found)


def find_loaded_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
