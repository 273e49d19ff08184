"""Docstrings that are assembled from parts."""

from __future__ import annotations

import textwrap

# Stubs have them indented, in lines of 120 characters.
_WIDTH = 112


def wrap_paragraphs(text: str) -> str:
    """The text with each paragraph, separated by blank lines, wrapped to one width."""
    return "\n\n".join(
        textwrap.fill(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        for paragraph in text.strip().split("\n\n")
    )
