from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.contrib.skills.skill import Skill
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.exceptions import InvalidParams
from drf_mcp.json_text import to_bytes
from drf_mcp.protocol import Capability, Encoded
from drf_mcp.protocol.capability import cut_page
from drf_mcp.protocol.constants import CACHE_MEMBERS
from drf_mcp.protocol.context import RequestContext
from drf_mcp.settings import mcp_settings

EXTENSION = "io.modelcontextprotocol/skills"


class SkillsCapability(Capability):
    """Lists the skills that were added to the registry; their files are resources (SEP-2640)."""

    name = EXTENSION
    is_extension = True
    methods = {"skills/list": "list_skills", "skills/get": "get_skill"}
    result_members = {
        "2026-07-28": {
            "skills/list": CACHE_MEMBERS | {"skills", "nextCursor", "_meta", "resultType"},
            "skills/get": CACHE_MEMBERS | {"skill", "_meta", "resultType"},
        },
    }

    @property
    def is_on(self) -> bool:
        """Whether there are skills."""
        return bool(self.get_skills())

    def get_skills(self) -> Sequence[Skill]:
        """Return the skills of the server."""
        skills: Sequence[Skill] = self.server.registry.find_added(Skill)
        return skills

    def list_skills(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        params, size = context.message.params, mcp_settings.TOOLS_PAGE_SIZE
        page, following = cut_page(self.get_skills(), params, size, lambda s: s.uri)
        entries = [skill.get_entry() for skill in page]
        members: dict[str, Any] = {"skills": Encoded(to_bytes(encode_data(entries)))}
        return members if following is None else {**members, "nextCursor": following}

    def get_skill(self, context: RequestContext) -> dict[str, Any]:
        context.caller.authenticate()
        uri = context.message.params.get("uri")
        if not isinstance(uri, str):
            message = _('The params of skills/get must name a skill: "uri", a string.')
            raise InvalidParams(message)
        for skill in self.get_skills():
            if skill.uri == uri:
                return {"skill": skill.get_entry()}
        message = _("No skill is served at %(uri)s") % {"uri": uri[:200]}
        raise InvalidParams(message, data={"uri": uri}, http_status=200)
