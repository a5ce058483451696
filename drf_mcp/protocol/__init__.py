"""Messages of MCP: their reading and writing in every supported revision."""

from drf_mcp.protocol.capability import Capability as Capability
from drf_mcp.protocol.capability import join_name_parameters as join_name_parameters
from drf_mcp.protocol.constants import REVISIONS as REVISIONS
from drf_mcp.protocol.eras import ERAS as ERAS
from drf_mcp.protocol.eras import Era as Era
from drf_mcp.protocol.eras import HandshakeEra as HandshakeEra
from drf_mcp.protocol.eras import StatelessEra as StatelessEra
from drf_mcp.protocol.eras import encode_era_error as encode_era_error
from drf_mcp.protocol.eras import select_by_headers as select_by_headers
from drf_mcp.protocol.eras import select_era as select_era
from drf_mcp.protocol.jsonrpc import ClientResponse as ClientResponse
from drf_mcp.protocol.jsonrpc import Encoded as Encoded
from drf_mcp.protocol.jsonrpc import Message as Message
