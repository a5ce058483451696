"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from docutils import nodes
from pydantic import BaseModel
from pydantic.dataclasses import is_pydantic_dataclass
from sphinx import addnodes
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


INCLUDE = re.compile(r"```\{include\} (\S+)\n:relative-docs: (\S+)\n```")
TOCTREE = re.compile(r"```\{toctree\}\n.*?\n```\n*", re.DOTALL)


def write_for_models(app: Sphinx, failure: Exception | None) -> None:
    """Write the Markdown of each page, and ``llms.txt`` with a link to each (llmstxt.org)."""
    if failure is not None:
        return

    def include(found: re.Match[str]) -> str:
        text = Path(app.srcdir, found[1]).read_text(encoding="utf-8")
        return text.replace(f"]({found[2]}", "](")

    for name in app.env.found_docs:
        written = Path(app.outdir, f"{name}.md")
        written.parent.mkdir(parents=True, exist_ok=True)
        text = TOCTREE.sub("", app.env.doc2path(name).read_text(encoding="utf-8"))
        written.write_text(INCLUDE.sub(include, text), encoding="utf-8")
    index = app.env.get_doctree(app.config.root_doc)
    summary = " ".join(index.next_node(nodes.paragraph).astext().split())
    lines = [f"# {project}", "", f"> {summary}"]
    for tree in index.findall(addnodes.toctree):
        lines += ["", f"## {tree['caption']}", ""]
        names = [name for _title, entry in tree["entries"] for name in list_pages(app, entry)]
        lines += [f"- [{app.env.titles[name].astext()}]({name}.md)" for name in names]
    Path(app.outdir, "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def list_pages(app: Sphinx, name: str) -> list[str]:
    """Return a page and the pages below it."""
    below = app.env.toctree_includes.get(name, [])
    return [name, *(page for each in below for page in list_pages(app, each))]


def setup(app: Sphinx) -> None:
    """Register what changes the pages, and what is written beside them."""
    app.connect("autodoc-process-signature", without_constraints)
    app.connect("build-finished", write_for_models)
