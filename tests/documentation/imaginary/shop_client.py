"""The client in docs/commands.md, as the command writes it."""

import io

from django.core.management import call_command

written = io.StringIO()
call_command("mcp_client", "python", stdout=written)
exec(compile(written.getvalue(), "shop_client.py", "exec"), globals())
