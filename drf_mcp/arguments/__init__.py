"""The arguments of a call, and the path, query and body of the request that is made of them.

The modules in the order in which a description becomes arguments, and arguments a request::

    call        one argument of a tool; the path, query and body of a call
    fields      the arguments that no view describes: fields and ids
    encoders    a body in a media type that the view reads
    table       all arguments of a tool: their names, places and paths, and the input schema
    uploads     texts that become files
    binding     the request that is made of what a caller sent
    errors      what is wrong with a name, and what to send instead
    pointers    the argument that an error of the view is about
"""
