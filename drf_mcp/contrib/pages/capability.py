from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.core.checks import CheckMessage, Error
from django.template import TemplateDoesNotExist, TemplateSyntaxError
from django.template.loader import get_template

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.resources.routes import Document
from drf_mcp.exposure import Tool, Visibility
from drf_mcp.features import (
    JSON_OBJECT,
    WORDS,
    Capability,
    Either,
    Feature,
    Flag,
    MappingOf,
    MembersOf,
    RequestContext,
    Setting,
    Text,
    ToolSource,
    override_language,
)
from drf_mcp.protocol import REVISIONS

MEDIA_TYPE = "text/html;profile=mcp-app"
STOCK = {"table": "drf_mcp/pages/table.html", "form": "drf_mcp/pages/form.html"}
# Nothing is fetched from anywhere ("UI Resource Format").
CLOSED: Mapping[str, list[str]] = {
    "connectDomains": [],
    "resourceDomains": [],
    "frameDomains": [],
    "baseUriDomains": [],
}
EXTENSION = "io.modelcontextprotocol/ui"


PAGE_DETAILS = MembersOf(
    "a dict with template, and if need be csp ({'resourceDomains': ['https://...']}), "
    "permissions, domain and prefersBorder",
    {
        "template": Text(),
        "csp": MappingOf(WORDS, "a dict of lists of origins"),
        "permissions": JSON_OBJECT,
        "domain": Text(),
        "prefersBorder": Flag(),
    },
    "template",
)


class PagesFeature(Feature):
    tool_options = {
        # The page that hosts show with results: "table", "form" or the name of a Django template;
        # or a dict of template and of csp, permissions, domain and prefersBorder as SEP-1865 has
        # them. See docs/apps.md.
        "ui": Setting(None, Either(Text(), PAGE_DETAILS).or_none())
    }
    capability_classes = ("drf_mcp.contrib.pages.capability.UICapability",)
    tool_source = "drf_mcp.contrib.pages.capability.PagesSource"


class PagesSource(ToolSource):
    def get_definition_members(self, tool: Any) -> Mapping[str, Any]:
        if not tool.options.ui:
            return {}
        return {"_meta": {"ui": {"resourceUri": f"ui://tools/{tool.name}"}}}


class Page(Document):
    """The page of a tool: a Django template that knows the tool, and neither caller nor data.

    In the template ``tool`` has ``name``, ``title`` and ``inputSchema``. A host shows the page in
    a frame of its own, and sends it the arguments and the result of the call.
    """

    # It has the language of the tools.
    is_fixed = True

    def __init__(self, tool: Tool) -> None:
        self.tool, self.tools = tool, (tool,)
        given: Any = tool.options.ui
        details: dict[str, Any] = {"template": given} if isinstance(given, str) else dict(given)
        template = details.pop("template")
        self.template_name = STOCK.get(template, template)
        details["csp"] = {**CLOSED, **details.get("csp", {})}
        super().__init__(
            f"ui://tools/{tool.name}",
            self.render,
            name=tool.name,
            mime_type=MEDIA_TYPE,
            meta={"ui": {"prefersBorder": True, **details}},
        )

    def render(self) -> str:
        tool = self.tool
        members = {"name": tool.name, "title": tool.title, "inputSchema": tool.input_schema}
        with override_language():
            html: str = get_template(self.template_name).render({"tool": members})
        return html

    def find_fault(self) -> str:
        try:
            get_template(self.template_name)
        except TemplateDoesNotExist as exc:
            return f"there is no template {exc}."
        except TemplateSyntaxError as exc:
            return f"{self.template_name}: {exc}."
        return ""


class UICapability(Capability):
    """Declares that tools have pages, which are read as resources (SEP-1865)."""

    name = EXTENSION
    is_extension = True
    result_members = {revision: {} for revision in REVISIONS}

    @property
    def is_on(self) -> bool:
        tools = self.server.registry.tools(None, self.server.tool_options)
        return any(tool.options.ui for tool in tools.values())

    def find_page(self, uri: str, context: RequestContext) -> Page | None:
        """Return the page at a URI, None if the caller would not see its tool."""
        scheme, _, name = uri.rpartition("/")
        if scheme != "ui://tools" or context.era.revision not in self.result_members:
            return None
        tool = self.server.tools_capability.find_offered_tools(context).get(name)
        if tool is None or not tool.options.ui:
            return None
        return Page(tool) if Visibility(context.caller).sees_any([tool]) else None


@register_check()
def check_pages(project: Project) -> Iterator[CheckMessage]:
    for tool in project.tools.values():
        if tool.options.ui and (fault := Page(tool).find_fault()):
            yield Error(
                f"The page of the tool {tool.name} cannot be loaded: {fault}",
                hint="Correct ui=, or the template. Stock pages need a backend of Django's in "
                "TEMPLATES with APP_DIRS.",
                id="drf_mcp.E016",
            )
