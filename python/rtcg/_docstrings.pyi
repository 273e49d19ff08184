"""Docstrings that are assembled from parts."""

def wrap_paragraphs(text: str) -> str:
    """The text with each paragraph, separated by blank lines, wrapped to one width."""
