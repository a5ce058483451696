"""Figures of lists, compared with those computed by paging through the same lists."""
