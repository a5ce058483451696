"""Figures of a list: its rows counted, summed and grouped by the fields that a project declares.

Serves agents that are asked how many, how much or which is the largest, who would have to page
through the whole list otherwise. Nothing is told that paging would not tell.
"""
