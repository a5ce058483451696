"""Figures of lists, against what paging through the same lists tells."""
