"""What the interpreter lacks, in the language that it has."""

from __future__ import annotations

import ast
import html
import inspect
import operator
import string
from typing import Any

# A part of it goes with each program that uses its name. Parts may use others.
TEXT = """
import math as _math
import re as _re
from collections import namedtuple as _namedtuple
from datetime import date as _date
from datetime import timedelta as _timedelta
from datetime import timezone as _timezone
_UTC = _timezone.utc
def _map(function, *lists): return iter([function(*row) for row in zip(*lists)])
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
def _max(*args, key=None, **more): return _first(max, args, key, more)
def _min(*args, key=None, **more): return _first(min, args, key, more)
def _zip(*lists, **more): return iter(list(zip(*lists, **more)))
def _enumerate(rows, start=0): return iter(list(enumerate(rows, start)))
def _reversed(rows): return iter(list(reversed(rows)))
def _iter(function, end):
    found = []
    while (value := function()) != end:
        found.append(value)
    return iter(found)
def _sum(rows, start=0):
    # Python adds floats without the errors of single steps.
    rows = list(rows)
    return _math.fsum([start, *rows]) if rows and _are_floats(rows) else sum(rows, start)
def _are_floats(rows):
    kinds = [type(row) for row in rows]
    return float in kinds and kinds.count(float) + kinds.count(int) == len(kinds)
def _len(rows): return rows.__len__() if type(rows).__name__ in _LENGTHS else len(rows)
def _round(number, ndigits=None):
    # The interpreter rounds 2.675 up.
    if isinstance(number, float) and ndigits is not None and ndigits >= 0:
        return float(f"{number:.{ndigits}f}")
    return round(number, ndigits)
def _end(value, depth=0):
    kind = type(value).__name__
    if isinstance(value, dict) and depth < 50:
        return {name: _end(member, depth + 1) for name, member in value.items()}
    is_rows = kind in ("list", "tuple", "range") or kind.startswith("dict_") or "iterator" in kind
    if is_rows and depth < 50:
        return [_end(row, depth + 1) for row in value]
    if _callable(value):
        raise TypeError("A function is no value: call it.")
    return value
def _callable(value):
    return type(value).__name__ in ("function", "builtin_function_or_method", "type")
def _bind(of, call): return lambda *args, **more: call(of, *args, **more)
def _name(of):
    text = repr(of)
    if text.startswith("<function '"):
        return text.split("'")[1]
    return "ToolError" if of.__name__ == "RuntimeError" else of.__name__
def _wraps(function): return lambda wrapper: wrapper
def _cast(kind, value=None, **more): return value
class _SimpleNamespace:
    def __init__(self, **members):
        for name, value in members.items():
            setattr(self, name, value)
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
def _toordinal(day): return (_date(day.year, day.month, day.day) - _date(1, 1, 1)).days + 1
def _fromordinal(kind, days): return kind(1, 1, 1) + _timedelta(days=days - 1)
def _fromisocalendar(kind, year, week, day):
    first = kind(year, 1, 4)
    return first + _timedelta(days=7 * week - 8 + day - first.weekday())
def _delta(days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
    days, seconds = days + 7 * weeks, seconds + 60 * minutes + 3600 * hours
    more = round(((days * 86400 + seconds) * 1000 + milliseconds) * 1000 + microseconds)
    return _timedelta(seconds=more // 1000000, microseconds=more % 1000000)
def _today(kind): return kind.today() if kind is _date else kind.now()
def _utcnow(kind): return kind.now()
def _fromtimestamp(kind, seconds, tz=None):
    if kind is _date:
        return kind(1970, 1, 1) + _timedelta(days=int(seconds // 86400))
    moment = kind(1970, 1, 1, tzinfo=_UTC) + _delta(seconds=seconds)
    return moment.replace(tzinfo=None) if tz is None else moment.astimezone(tz)
def _is_integer(number): return number == int(number)
def _maketrans(kind, table, to=None, without=""):
    pairs = table.items() if to is None else [*zip(table, to), *[(x, None) for x in without]]
    return {ord(x) if isinstance(x, str) else x: y for x, y in pairs}
def _translate(text, table):
    found = [table.get(ord(x), x) for x in text]
    return "".join([chr(x) if isinstance(x, int) else x or "" for x in found])
def _re_sub(pattern, function, text, count=0, flags=0):
    if isinstance(pattern, str):
        pattern = _re.compile(pattern, flags)
    parts, end = [], 0
    for match in list(pattern.finditer(text))[:count or None]:
        parts += [text[end:match.start()], function(match)]
        end = match.end()
    return "".join([*parts, text[end:]])
class _Group:
    def __init__(self, *args, **more): pass
    def __enter__(self): return self
    def __exit__(self, kind, error, trace): return None
    def create_task(self, value): return value
class _asyncio:
    gather = lambda *values: list(values)
    run = lambda value: value
    create_task = lambda value: value
    ensure_future = lambda value: value
    wait_for = lambda value, timeout=None: value
    as_completed = lambda values: iter(list(values))
    sleep = lambda seconds, result=None: result
    to_thread = lambda function, *args, **more: function(*args, **more)
    TaskGroup = _Group
    Semaphore = _Group
    Lock = _Group
    timeout = _Group
class _StringIO:
    def __init__(self, text=""): self.text = text
    def write(self, text):
        self.text += text
        return len(text)
    def getvalue(self): return self.text
class _io:
    StringIO = _StringIO
class _suppress:
    def __init__(self, *kinds): self.kinds = kinds
    def __enter__(self): return None
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
    mean = (total := _total(rows)) / len(rows)
    return int(mean) if isinstance(total, int) and total % len(rows) == 0 else mean
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
def _quantiles(data, n=4, method="exclusive"):
    rows, cuts = sorted(_data(data, 2, "quantiles")), []
    more = 1 if method == "exclusive" else -1
    for number in range(1, n):
        place = number * (len(rows) + more) + (0 if more == 1 else n)
        j = min(max(place // n, 1), len(rows) - 1)
        delta = place - j * n
        cuts.append((rows[j - 1] * (n - delta) + rows[j] * delta) / n)
    return cuts
class _statistics:
    StatisticsError = ValueError
    mean = _mean
    geometric_mean = lambda data: _math.exp(_mean([_math.log(x) for x in data]))
    harmonic_mean = lambda data: 1 / _mean([1 / x for x in data])
    median_low = lambda data: (x := sorted(_data(data, 1, "median")))[(len(x) - 1) // 2]
    median_high = lambda data: (x := sorted(_data(data, 1, "median")))[len(x) // 2]
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
        if len(kept.strip()) <= width:
            return kept.strip()
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
    indent = lambda text, prefix: "".join(
        [prefix + x if x.strip() else x for x in text.splitlines(True)]
    )
class _html:
    pass
class _string:
    capwords = lambda text: " ".join([word.capitalize() for word in text.split()])
_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
def _isleap(year): return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
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
class _Zone:
    def __init__(self, key):
        self.key = key
        _offset(key, _date(2000, 1, 1))
    def __str__(self): return self.key
class _zoneinfo:
    ZoneInfo = _Zone
def _place(moment, zone):
    return _timezone(_offset(zone.key, moment)) if isinstance(zone, _Zone) else zone
def _astimezone(moment, tz=None): return moment.astimezone(_place(moment, tz))
def _now(kind, tz=None):
    return kind.now(_UTC).astimezone(_place(kind.now(_UTC), tz)) if tz else kind.now()
def _in_zone(make, zone, *args, **more):
    moment = make(*args, **more)
    return moment.replace(tzinfo=_place(moment.replace(tzinfo=None), zone))
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
    def __iter__(self): return iter(list(self.members.values()))
    def __getitem__(self, name): return self.members[name]
    def __call__(self, value):
        for name, each in self.values.items():
            if each == value:
                return self.members[name]
        raise ValueError(repr(value) + " is not a member")
def _value(member): return member if isinstance(member, (str, int)) else member.value
"""
CONSTANTS = ("ascii_lowercase", "ascii_uppercase", "ascii_letters", "digits", "hexdigits")
# Functions of `operator` that the interpreter cannot read.
UNREAD = {"abs", "delitem", "index", "length_hint", "matmul", "imatmul"}
# Members of modules that are alike.
MEMBERS = {
    # Python has them in its own language, too.
    "_operator": [inspect.getsource(operator)],
    "_html": [inspect.getsource(html.escape)],
    "_string": [
        f"{name} = {getattr(string, name)!r}" for name in (*CONSTANTS, "punctuation", "whitespace")
    ],
}


def _name_part(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return str(node.names[0].asname)
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    return node.name


PARTS: dict[str, Any] = {_name_part(node): node for node in ast.parse(TEXT).body}
for _name, _members in MEMBERS.items():
    _nodes = ast.parse("\n".join(_members)).body
    _nodes = [each for each in _nodes if isinstance(each, (ast.Assign, ast.FunctionDef))]
    PARTS[_name].body += [
        each for each in _nodes if _name_part(each)[0] != "_" and _name_part(each) not in UNREAD
    ]
EMULATED = ("asyncio", "calendar", "contextlib", "heapq", "html", "io", "operator", "statistics")
# The modules of Python that are parts, with the names in them.
MODULES: dict[str, list[str]] = {
    name: [_name_part(each) for each in PARTS[f"_{name}"].body if not isinstance(each, ast.Pass)]
    for name in (*EMULATED, "string", "textwrap", "zoneinfo")
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
