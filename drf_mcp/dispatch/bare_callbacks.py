"""What the callback of a route does, by an instance of the view that is made here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from django.http.response import HttpResponse, HttpResponseBase
from rest_framework.exceptions import APIException

from drf_mcp.access.authentication_reuse import PreAuthenticator, is_bare
from drf_mcp.dispatch.middleware import is_asynchronous, transactions


class BareCallback:
    """Answers for a callback as ``as_view`` makes it, which no decorator wraps.

    It is called in its place where the endpoint authenticates for the view.
    """

    cls: Callable[..., Any]
    initkwargs: Mapping[str, Any]
    actions: dict[str, str] | None = None

    def __init__(self, callback: Callable[..., Any]) -> None:
        # With what decorators said of it, such as the databases on which no transaction is wanted.
        vars(self).update(vars(callback))

    @classmethod
    @functools.lru_cache(maxsize=4096)
    def of(cls, callback: Callable[..., Any]) -> BareCallback | None:
        """Return what answers for a callback, None where only the callback itself can."""
        return None if is_asynchronous(callback) or not is_bare(callback) else cls(callback)

    def __call__(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Before any code of the view runs.
        try:
            authenticators = PreAuthenticator(request).find_authenticators()
        except APIException as exc:
            # The dispatcher knows why, and says it in the place of this response.
            return HttpResponse(status=exc.status_code)
        view = self.cls(**self.initkwargs)
        if authenticators is not None:
            view.get_authenticators = lambda: authenticators
        if self.actions is not None:
            if "get" in self.actions:
                self.actions.setdefault("head", self.actions["get"])
            view.action_map = self.actions
        return self.run(view, request, *args, **kwargs)

    def by(self, make_view: Callable[[], Any]) -> Callable[..., HttpResponseBase]:
        """Return what answers by another instance, in the transactions of the callback."""

        def respond(request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
            return self.run(make_view(), request, *args, **kwargs)

        vars(respond).update(vars(self))
        atomic: Callable[..., HttpResponseBase] = transactions.make_view_atomic(respond)
        return atomic

    def bind(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        """Give an instance of the view a request, and its handlers."""
        if self.actions is None:
            view.setup(request, *args, **kwargs)
            return
        for method, action in view.action_map.items():
            setattr(view, method, getattr(view, action))
        view.request, view.args, view.kwargs = request, args, kwargs

    def run(self, view: Any, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the response of an instance of the view."""
        self.bind(view, request, *args, **kwargs)
        response: HttpResponseBase = view.dispatch(request, *args, **kwargs)
        return response
