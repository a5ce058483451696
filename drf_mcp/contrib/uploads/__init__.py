"""Files that are uploaded over HTTP first, and named in the arguments of a call."""

# What a reference in the arguments begins with.
PREFIX = "upload:"
