"""The pages of the reference that are rendered from the package's own source.

They are kept in the repository, so that they can be read without building anything, and a
test holds them against a fresh rendering. After a change::

    python -m docs.reference_pages --write
"""
