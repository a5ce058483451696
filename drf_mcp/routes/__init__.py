"""Tools: which routes are exposed, under what names, with what arguments.

The modules in the order in which a route becomes a tool::

    route          the URL patterns that lead to an API view, and the paths of a view
    endpoint       one HTTP method of a route
    options        what a project declares: mcp_tool, mcp_viewset
    exposure       which endpoints are tools
    naming         the name of a tool
    descriptions   its title and description; hints has what options add to them
    related        which other tool lists the objects that an argument identifies
    tool           one endpoint with its options, schema and arguments, or a tool without a URL
    registry       the tools of a project, by name
"""
