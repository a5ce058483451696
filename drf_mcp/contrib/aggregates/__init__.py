"""Figures of a list: its rows counted, summed and grouped by fields that a project declares.

Without them an agent that is asked how many, how much or which is the largest pages through the
whole list. The figures are made of the rows and columns that the list shows to the same caller.
"""
