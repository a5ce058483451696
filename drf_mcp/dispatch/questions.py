"""What decides who sees a tool: a question, which is a constant of the tool."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from rest_framework import permissions
from rest_framework.permissions import SAFE_METHODS, DjangoModelPermissions
from rest_framework.views import APIView

from drf_mcp.access.authentication_reuse import find_view_classes
from drf_mcp.exceptions import contain
from drf_mcp.introspection.inspection import Inspection
from drf_mcp.introspection.source.members import find_class_attribute

permission_steps = attrgetter("get_permissions", "check_permissions")
find_steps = attrgetter(
    "get_permissions", "check_permissions", "permission_denied", "get_authenticators"
)
# What REST framework's own permission classes look at: nothing, the user and the method, or the
# model of the view's queryset as well.
OPEN, USER, MODEL = range(3)
STOCK: Mapping[type, int] = {
    permissions.BasePermission: OPEN,
    permissions.AllowAny: OPEN,
    permissions.IsAuthenticated: USER,
    permissions.IsAdminUser: USER,
    permissions.IsAuthenticatedOrReadOnly: USER,
    permissions.DjangoModelPermissions: MODEL,
    permissions.DjangoModelPermissionsOrAnonReadOnly: MODEL,
    permissions.DjangoObjectPermissions: MODEL,
}
# A class that has one of these asks something of its own.
OWN_STEPS = frozenset({"has_permission", "get_required_permissions", "_queryset"}) | {
    "__init__",
    "__new__",
    "__getattr__",
    "__getattribute__",
}
DATA = ("perms_map", "authenticated_users_only")


class AccessQuestion:
    """What a view asks of a caller before it looks at a row.

    Attributes:
        authentication: the classes that tell the view who is calling, None if only the view knows.
        is_kept: whether the answer holds for the caller's next list as well.
    """

    authentication: tuple[Any, ...] | None
    is_kept: bool

    def ask(self, visibility: Any, tool: Any) -> bool:
        """Return whether the caller of a `Visibility` may call a tool."""
        raise NotImplementedError


@dataclass(frozen=True)
class StockQuestion(AccessQuestion):
    """Asked by REST framework's own classes: tools with an equal one have one answer.

    Attributes:
        method: an HTTP method, "GET" standing for all safe ones where the model does not matter.
        model: that of the view's queryset, None where it is not looked at.
    """

    permissions: tuple[Any, ...]
    authentication: tuple[Any, ...] | None
    method: str
    model: Any = None
    is_kept = True

    def ask(self, visibility: Any, tool: Any) -> bool:
        # All that the classes look at: making the view would cost more than asking it.
        request = StockRequest(visibility, self, tool)
        view = SimpleNamespace(queryset=SimpleNamespace(model=self.model))

        def ask() -> bool:
            return all(made().has_permission(request, view) for made in self.permissions)

        # Rights may be read by a tenant that middleware sets; the user alone is known without it.
        answer: bool = visibility.ask_within_middleware(tool, ask) if self.model else ask()
        return answer


class StockRequest:
    def __init__(self, visibility: Any, question: StockQuestion, tool: Any) -> None:
        self.method = question.method
        self.identify = functools.partial(visibility.identify, question.authentication, tool)

    @property
    def user(self) -> Any:
        # Who need not be known is not authenticated.
        return self.identify().user


@dataclass(frozen=True, eq=False)
class ViewQuestion(AccessQuestion):
    """Asked by classes of the project, which see the view and the request.

    Attributes:
        model: that of the queryset, where the view's class declares one.
    """

    authentication: tuple[Any, ...] | None = None
    is_kept: bool = False
    model: Any = None

    def ask(self, visibility: Any, tool: Any) -> bool:
        answer: bool = visibility.ask_view(tool, self.model)
        return answer


class OpenQuestion(AccessQuestion):
    authentication = None
    is_kept = True

    def ask(self, visibility: Any, tool: Any) -> bool:
        return True


UNASKED = OpenQuestion()


@functools.lru_cache(maxsize=4096)
def get_question(tool: Any) -> AccessQuestion:
    """Return what decides whether a caller sees a tool."""
    return contain(lambda: QuestionFinder(tool).find(), lambda exc: ViewQuestion())


class QuestionFinder:
    def __init__(self, tool: Any) -> None:
        self.tool = tool
        self.endpoint = tool.endpoint
        self.view_class = tool.endpoint.view_class
        self.permissions = self.find_classes("permission_classes")

    def find_classes(self, name: str) -> tuple[Any, ...] | None:
        return find_view_classes(self.endpoint.route.callback, name)

    def find(self) -> AccessQuestion:
        kinds = self.find_kinds()
        if kinds is None or self.permissions is None:
            return ViewQuestion(model=self.spared_model)
        if permission_steps(self.view_class) == permission_steps(APIView) and kinds <= {OPEN}:
            return UNASKED
        authentication = self.find_classes("authentication_classes")
        if authentication is None or find_steps(self.view_class) != find_steps(APIView):
            return ViewQuestion(model=self.spared_model)
        if MODEL not in kinds and None not in kinds:
            method = "GET" if self.endpoint.method in SAFE_METHODS else "POST"
            return StockQuestion(self.permissions, authentication, method)
        if None in kinds or (model := self.find_model()) is None:
            return ViewQuestion(authentication, True, self.spared_model)
        return StockQuestion(self.permissions, authentication, self.endpoint.method, model)

    def find_kinds(self) -> set[int | None] | None:
        # None among them for a class that says itself that its verdicts may be kept.
        kinds: set[int | None] = set()
        for leaf in find_leaves(self.permissions or ()):
            own, kind = classify(leaf)
            if not own:
                return None
            kinds.add(kind)
        return kinds

    @property
    def declared_model(self) -> Any:
        own = self.endpoint.route.initkwargs.get("queryset")
        declared = find_class_attribute(self.view_class, "queryset") if own is None else own
        return getattr(declared, "model", None)

    @property
    def spared_model(self) -> Any:
        # None where no permission makes the queryset to find its model.
        is_own = self.permissions is None or find_steps(self.view_class) != find_steps(APIView)
        every = find_leaves(self.permissions or ())
        looks = (isinstance(e, type) and issubclass(e, DjangoModelPermissions) for e in every)
        return self.declared_model if is_own or any(looks) else None

    def find_model(self) -> Any:
        if getattr(self.view_class, "_ignore_model_permissions", False):
            return None
        if self.declared_model is not None or not hasattr(self.view_class, "get_queryset"):
            return self.declared_model
        return Inspection(self.tool.view, self.endpoint.method).model


def find_leaves(every: Iterable[Any]) -> Iterator[Any]:
    """Yield the classes of which permission classes are composed, with ``&``, ``|`` and ``~``."""
    for each in every:
        if isinstance(each, permissions.OperandHolder):
            yield from find_leaves((each.op1_class, each.op2_class))
        elif isinstance(each, permissions.SingleOperandHolder):
            yield from find_leaves((each.op1_class,))
        else:
            yield each


def classify(permission_class: Any) -> tuple[bool, int | None]:
    """Return whether verdicts of a class may be kept, and what it looks at if it is no other's."""
    changed = False
    for base in getattr(permission_class, "__mro__", ()):
        own = vars(base)
        if "list_cache" in own:
            # What a subclass changes, it has to speak for itself.
            return own["list_cache"] is True and not changed, None
        if base in STOCK:
            return True, STOCK[base]
        if any(name in OWN_STEPS or is_computed(own, name) for name in own):
            break
        changed = changed or any(callable(own[n]) for n in own if n != "has_object_permission")
    return False, None


def is_computed(own: Mapping[str, Any], name: str) -> bool:
    return name in DATA and hasattr(type(own[name]), "__get__")


class Audience:
    """Tools that are listed together, by what decides who sees each of them.

    A set of the tools is a number, with a bit for each: the first tool has the lowest.

    Attributes:
        tools: the tools, in the order of the list.
        open: those that every caller sees.
        groups: the questions of the others, each with its tools and the first of them.
        kept: those whose answer holds for the caller's next list.
        authentications: the classes by which views know the caller, and a tool of each.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        self.tools = tools
        self.questions = [get_question(tool) for tool in tools]
        asked: dict[AccessQuestion, int] = {}
        for number, question in enumerate(self.questions):
            asked[question] = asked.get(question, 0) | 1 << number
        self.open = asked.pop(UNASKED, 0)
        self.groups = [(q, bits, self.get_first(bits)) for q, bits in asked.items()]
        self.kept = sum(bits for question, bits in asked.items() if question.is_kept)
        self.anew = [group for group in self.groups if not group[0].is_kept]
        self.authentications = {q.authentication: t for q, _, t in self.groups if q.is_kept}
        self.picked: dict[int, Sequence[Any]] = {}

    @classmethod
    @functools.lru_cache(maxsize=128)
    def of(cls, tools: tuple[Any, ...]) -> Audience:
        """Return the audience of these tools, found out once."""
        return cls(tools)

    def get_first(self, bits: int) -> Any:
        return self.tools[(bits & -bits).bit_length() - 1]

    @property
    def is_open(self) -> bool:
        """Whether every caller sees every tool."""
        return not self.groups

    def pick(self, bits: int) -> Sequence[Any]:
        """Return the tools of a set, as the same object each time it is one of the last sets."""
        picked = self.picked.get(bits)
        if picked is None:
            if len(self.picked) >= MOST_PICKED:
                self.picked.clear()
            selected = map(int, reversed(f"{bits:b}"))
            picked = self.picked[bits] = tuple(compress(self.tools, selected))
        return picked


# Sets of tools of one audience: of as many kinds of callers.
MOST_PICKED = 64
