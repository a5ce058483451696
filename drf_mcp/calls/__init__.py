"""tools/list and tools/call: the room that sees both REST framework and MCP.

The modules::

    capability     tools/list and tools/call
    budget         how long a result may be
    results        the result of a call, and what the list says of results
    summaries      the signature of a tool, and the instructions of a server
    standardized   a decorator for views that answer in a contract of their own
"""
