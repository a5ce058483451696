"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from pydantic import BaseModel
from pydantic.dataclasses import is_pydantic_dataclass
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# What the reference of the Python API has to import.
settings.configure(
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "rest_framework",
        "drf_mcp",
    ],
    ROOT_URLCONF="drf_mcp.urls",
)
django.setup()

import drf_mcp  # noqa: E402

project = "drf_mcp"
author = "drf_mcp contributors"
copyright = author
release = version = drf_mcp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
nitpicky = True

# Pages: links to headings are written as GitHub writes them, down to the third level.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# Docstrings: `name` is code, and members stand in the order of the source.
default_role = "code"
add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 80
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_attr_annotations = False
# Not linked: types of other projects, and those that only the package itself needs.
nitpick_ignore_regex = [(r"py:.*", r"(?!drf_mcp\.).*|drf_mcp(?:\.\w+){3,}")]

html_theme = "furo"
html_title = f"drf_mcp {release}"
# The colours of the page that the endpoint shows.
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6450", "color-brand-content": "#0b6450"},
    "dark_css_variables": {"color-brand-primary": "#5cc7a5", "color-brand-content": "#5cc7a5"},
}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_exclude = ".linenos, .gp, .go"


def without_constraints(
    app: Sphinx, kind: str, name: str, documented: Any, options: Any, *signature: str | None
) -> tuple[str, str] | None:
    """Leave out the signatures of pydantic models: their fields have a page."""
    is_class = isinstance(documented, type)
    if is_class and (issubclass(documented, BaseModel) or is_pydantic_dataclass(documented)):
        return "", ""
    return None


def setup(app: Sphinx) -> None:
    """Register what changes the pages."""
    app.connect("autodoc-process-signature", without_constraints)
