from collections.abc import Callable, Mapping
from typing import Any

from drf_mcp.interaction.call_context import call_context as call_context
from drf_mcp.routes.options import mcp_tool as mcp_tool
from drf_mcp.routes.options import mcp_viewset as mcp_viewset
from drf_mcp.routes.registry import registry as registry
from drf_mcp.transports.in_process import preload as preload
from drf_mcp.transports.toolbox import Toolbox as Toolbox

__version__: str

def import_on_use(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]: ...
