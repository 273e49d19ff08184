"""Docstrings that are made from parts."""

def wrap_paragraphs(text: str) -> str:
    """The text with each of its paragraphs, which empty lines separate, in lines of one width."""
