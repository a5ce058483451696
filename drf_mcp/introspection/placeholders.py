"""Values for the kwargs of a path that nobody requested: of the right type, and of no row."""

from __future__ import annotations

import re
import uuid
from functools import partial
from typing import Any

from django.db import models

from drf_mcp.introspection.inspection import model_of_class
from drf_mcp.introspection.path_parameters import is_version, named_field
from drf_mcp.introspection.safe_call import attempt
from drf_mcp.introspection.types import PathKwarg, PathKwargs

NUMBER, UUID, WORD = "0", str(uuid.UUID(int=0)), "placeholder"


def placeholders(view: Any, kwargs: PathKwargs) -> dict[str, Any]:
    """Return what a view finds in its kwargs while it is described.

    A version is left out, so that the default one counts.
    """
    nothing: Any = None
    model = attempt("", partial(model_of_class, view), "", [], nothing)
    return {
        name: attempt(name, partial(placeholder, view, kwarg, model), "", [], NUMBER)
        for name, kwarg in kwargs.items()
        if not attempt(name, partial(is_version, view, kwarg), "", [], False)
    }


def placeholder(view: Any, kwarg: PathKwarg, model: Any) -> Any:
    """Return a value that the route may capture, of the type of the key that it names."""
    field = named_field(view, kwarg, model)
    while getattr(field, "remote_field", None) is not None:
        field = field.target_field
    texts = (UUID, NUMBER, WORD) if isinstance(field, models.UUIDField) else (NUMBER, UUID, WORD)
    fitting = (text for text in texts if re.fullmatch(kwarg.pattern or ".*", text))
    text = next(fitting, NUMBER)
    return text if kwarg.converter is None else kwarg.converter.to_python(text)
