"""What the interpreter lacks, in the language that it has."""

from __future__ import annotations

import ast

# By the name that a rewritten program has for it. A part may use others.
PARTS: dict[str, str] = {
    "_map": """
def _map(function, *lists):
    return iter([function(*row) for row in zip(*lists)])
""",
    "_filter": """
def _filter(function, rows):
    return iter([row for row in rows if (row if function is None else function(row))])
""",
    "_sorted": """
def _sorted(rows, *, key=None, reverse=False):
    rows = list(rows)
    if key is None:
        return sorted(rows, reverse=reverse)
    keys = [key(row) for row in rows]
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: keys[i], reverse=reverse)]
""",
    "_sort": """
def _sort(rows, *, key=None, reverse=False):
    rows[:] = _sorted(rows, key=key, reverse=reverse)
""",
    "_max": """
def _max(*args, key=None, **more):
    rows = list(args[0] if len(args) == 1 else args)
    if key is None or not rows:
        return max(rows, **more)
    keys = [key(row) for row in rows]
    return rows[keys.index(max(keys))]
""",
    "_min": """
def _min(*args, key=None, **more):
    rows = list(args[0] if len(args) == 1 else args)
    if key is None or not rows:
        return min(rows, **more)
    keys = [key(row) for row in rows]
    return rows[keys.index(min(keys))]
""",
    "_zip": """
def _zip(*lists, strict=False):
    return iter(list(zip(*lists, strict=strict)))
""",
    "_enumerate": """
def _enumerate(rows, start=0):
    return iter(list(enumerate(rows, start)))
""",
    "_reversed": """
def _reversed(rows):
    return iter(list(reversed(rows)))
""",
    "_round": """
def _round(number, digits=None):
    # The interpreter rounds 2.675 up.
    if isinstance(number, float) and digits is not None and digits >= 0:
        return float(f"{number:.{digits}f}")
    return round(number, digits)
""",
    "_wraps": """
def _wraps(function):
    return lambda wrapper: wrapper
""",
    "_plain": """
def _plain(value, default):
    if isinstance(value, dict):
        return {name: _plain(member, default) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, default) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return _plain(default(value), default)
""",
    "_isocalendar": """
from collections import namedtuple as _namedtuple
from datetime import date as _date, timedelta as _timedelta
_IsoCalendarDate = _namedtuple("IsoCalendarDate", "year week weekday")
def _isocalendar(day):
    day = _date(day.year, day.month, day.day)
    thursday = day + _timedelta(days=3 - day.weekday())
    week = (thursday - _date(thursday.year, 1, 1)).days // 7 + 1
    return _IsoCalendarDate(thursday.year, week, day.weekday() + 1)
""",
    "_is_integer": """
def _is_integer(number):
    return number == int(number)
""",
    "_utcnow": """
def _utcnow(kind):
    return kind.now()
""",
    "_fromtimestamp": """
from datetime import date as _date, timedelta as _timedelta, timezone as _timezone
def _fromtimestamp(kind, seconds, tz=None):
    if kind is _date:
        return kind(1970, 1, 1) + _timedelta(days=seconds // 86400)
    moment = kind(1970, 1, 1, tzinfo=_timezone.utc) + _timedelta(seconds=seconds)
    return moment.replace(tzinfo=None) if tz is None else moment.astimezone(tz)
""",
    "_format_map": """
def _format_map(text, members):
    return text.format(**members)
""",
    "_re_sub": """
import re as _re
def _re_sub(pattern, function, text, count=0, flags=0):
    parts, end = [], 0
    for number, match in enumerate(_re.finditer(pattern, text, flags)):
        if count and number >= count:
            break
        parts += [text[end:match.start()], function(match)]
        end = match.end()
    return "".join([*parts, text[end:]])
""",
    "_asyncio": """
class _asyncio:
    def gather(*values):
        return list(values)
    def run(value):
        return value
    def create_task(value):
        return value
    def ensure_future(value):
        return value
    def wait_for(value, timeout=None):
        return value
    def as_completed(values):
        return iter(list(values))
    def sleep(seconds, result=None):
        return result
""",
    "_contextlib": """
class _suppress:
    def __init__(self, *kinds):
        self.kinds = kinds
    def __enter__(self):
        return None
    def __exit__(self, kind, error, trace):
        return error is not None and isinstance(error, self.kinds)
class _nullcontext:
    def __init__(self, value=None):
        self.value = value
    def __enter__(self):
        return self.value
    def __exit__(self, kind, error, trace):
        return False
class _contextlib:
    suppress = _suppress
    nullcontext = _nullcontext
""",
    "_statistics": """
import math as _math
def _total(rows):
    return _math.fsum(rows) if any(isinstance(row, float) for row in rows) else sum(rows)
def _mean(data):
    rows = list(data)
    if not rows:
        raise ValueError("mean requires at least one data point")
    mean = _total(rows) / len(rows)
    whole = all(isinstance(row, int) for row in rows) and mean == int(mean)
    return int(mean) if whole else mean
def _spread(data, less, mean):
    rows = list(data)
    if len(rows) <= less:
        raise ValueError("variance requires more data points")
    mean = _mean(rows) if mean is None else mean
    return _total([(row - mean) ** 2 for row in rows]) / (len(rows) - less)
def _middle(data, low, high):
    rows = sorted(data)
    if not rows:
        raise ValueError("no median for empty data")
    one, other = rows[(len(rows) - 1) // 2], rows[len(rows) // 2]
    if low or high or len(rows) % 2:
        return one if low else other
    return (one + other) / 2
def _modes(data):
    counts = {}
    for row in data:
        counts[row] = counts.get(row, 0) + 1
    most = max(counts.values(), default=0)
    return [row for row in counts if counts[row] == most]
def _first_mode(data):
    modes = _modes(data)
    if not modes:
        raise ValueError("no mode for empty data")
    return modes[0]
def _quantiles(data, n=4):
    rows, cuts = sorted(data), []
    for i in range(1, n):
        place = i * (len(rows) + 1)
        j = min(max(place // n, 1), len(rows) - 1)
        delta = place - j * n
        cuts.append((rows[j - 1] * (n - delta) + rows[j] * delta) / n)
    return cuts
class _statistics:
    StatisticsError = ValueError
    mean = _mean
    multimode = _modes
    mode = _first_mode
    quantiles = _quantiles
    def fmean(data):
        rows = [float(row) for row in data]
        return float(_mean(rows))
    def median(data):
        return _middle(data, False, False)
    def median_low(data):
        return _middle(data, True, False)
    def median_high(data):
        return _middle(data, False, True)
    def variance(data, xbar=None):
        return _spread(data, 1, xbar)
    def pvariance(data, mu=None):
        return _spread(data, 0, mu)
    def stdev(data, xbar=None):
        return float(_spread(data, 1, xbar)) ** 0.5
    def pstdev(data, mu=None):
        return float(_spread(data, 0, mu)) ** 0.5
""",
    "_operator": """
class _operator:
    def itemgetter(*names):
        if len(names) == 1:
            return lambda row: row[names[0]]
        return lambda row: tuple(row[name] for name in names)
    def attrgetter(name):
        return lambda row: getattr(row, name)
    def add(a, b):
        return a + b
    def sub(a, b):
        return a - b
    def mul(a, b):
        return a * b
    def truediv(a, b):
        return a / b
    def floordiv(a, b):
        return a // b
    def mod(a, b):
        return a % b
    def neg(a):
        return -a
    def eq(a, b):
        return a == b
    def ne(a, b):
        return a != b
    def lt(a, b):
        return a < b
    def le(a, b):
        return a <= b
    def gt(a, b):
        return a > b
    def ge(a, b):
        return a >= b
    def contains(a, b):
        return b in a
    def getitem(a, b):
        return a[b]
    def not_(a):
        return not a
""",
    "_heapq": """
class _heapq:
    def nlargest(n, rows, key=None):
        return _sorted(rows, key=key, reverse=True)[:n]
    def nsmallest(n, rows, key=None):
        return _sorted(rows, key=key)[:n]
    def heapify(heap):
        heap.sort()
    def heappush(heap, item):
        heap.append(item)
        heap.sort()
    def heappop(heap):
        return heap.pop(0)
    def merge(*lists, key=None, reverse=False):
        return iter(_sorted([row for rows in lists for row in rows], key=key, reverse=reverse))
""",
    "_textwrap": """
def _wrap(text, width=70):
    lines = []
    for word in text.split():
        while len(word) > width:
            if lines and len(lines[-1]) < width - 1:
                room = width - len(lines[-1]) - 1
                lines[-1] = lines[-1] + " " + word[:room]
                word = word[room:]
            else:
                lines.append(word[:width])
                word = word[width:]
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] = lines[-1] + " " + word
        elif word:
            lines.append(word)
    return lines
class _textwrap:
    wrap = _wrap
    def fill(text, width=70):
        return "\\n".join(_wrap(text, width))
    def shorten(text, width, placeholder=" [...]"):
        text = " ".join(text.split())
        if len(text) <= width:
            return text
        words, kept = text.split(), ""
        for word in words:
            longer = (kept + " " + word).strip()
            if len(longer) + len(placeholder) > width:
                break
            kept = longer
        return kept + placeholder if kept else placeholder.strip()
    def indent(text, prefix):
        lines = text.split("\\n")
        return "\\n".join(prefix + line if line.strip() else line for line in lines)
    def dedent(text):
        lines = text.split("\\n")
        least = min([len(x) - len(x.lstrip()) for x in lines if x.strip()], default=0)
        return "\\n".join(line[least:] if line.strip() else "" for line in lines)
""",
    "_string": """
class _string:
    ascii_lowercase = "abcdefghijklmnopqrstuvwxyz"
    ascii_uppercase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ascii_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    digits = "0123456789"
    hexdigits = "0123456789abcdefABCDEF"
    punctuation = "!\\"#$%&'()*+,-./:;<=>?@[\\\\]^_`{|}~"
    whitespace = " \\t\\n\\r\\x0b\\x0c"
    def capwords(text):
        return " ".join(word.capitalize() for word in text.split())
""",
    "_calendar": """
from datetime import date as _date
class _calendar:
    month_name = ["", "January", "February", "March", "April", "May", "June", "July", "August",
        "September", "October", "November", "December"]
    month_abbr = ["", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
        "Dec"]
    day_name = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    day_abbr = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    def isleap(year):
        return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    def weekday(year, month, day):
        return _date(year, month, day).weekday()
    def monthrange(year, month):
        first = _date(year, month, 1)
        after = _date(year + month // 12, month % 12 + 1, 1)
        return (first.weekday(), (after - first).days)
""",
    "_zoneinfo": """
from datetime import timezone as _timezone
class _zoneinfo:
    def ZoneInfo(name):
        if name.upper() in ("UTC", "GMT", "ETC/UTC"):
            return _timezone.utc
        raise ValueError("There is no ZoneInfo but UTC: use timezone(timedelta(hours=...)).")
""",
    "_Enumeration": """
class _Member:
    def __init__(self, name, value):
        self.name = name
        self.value = value
class _Enumeration:
    def __init__(self, pairs, plain):
        self.members = [value if plain else _Member(name, value) for name, value in pairs]
        self.pairs = pairs
    def __iter__(self):
        return iter(self.members)
    def __call__(self, value):
        for number, pair in enumerate(self.pairs):
            if pair[1] == value:
                return self.members[number]
        raise ValueError(repr(value) + " is not a member")
    def __getitem__(self, name):
        for number, pair in enumerate(self.pairs):
            if pair[0] == name:
                return self.members[number]
        raise KeyError(name)
""",
}
# The modules of Python that are parts.
MODULES = {
    name.removeprefix("_"): name
    for name in (
        *("_asyncio", "_calendar", "_contextlib", "_heapq", "_operator", "_statistics"),
        *("_string", "_textwrap", "_zoneinfo"),
    )
}


def write_prelude(tree: ast.AST) -> str:
    """Return the parts that a program uses, and those that these use."""
    names, found = find_loaded_names(tree), dict.fromkeys(PARTS, False)
    while new := [name for name in PARTS if name in names and not found[name]]:
        for name in new:
            found[name] = True
            names |= find_loaded_names(ast.parse(PARTS[name]))
    return "".join(text for name, text in PARTS.items() if found[name])


def find_loaded_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
