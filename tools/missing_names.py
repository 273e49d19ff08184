"""Writes the list of NumPy's names that `rtcg.numpy` lacks into docs/arrays.md: ``python tools/missing_names.py``."""

from pathlib import Path

import numpy as np

import rtcg.numpy as rnp
from rtcg.numpy import _namespace

PAGE = Path(__file__).resolve().parents[1] / "docs/arrays.md"
BEGIN, END = "<!-- names of NumPy that are missing -->", "<!-- end of the names -->"
VERSION = ".".join(np.__version__.split(".")[:2])
#: What a user of NumPy does not call: tests, its build, compilers.
INSIDE = {"__version__", "__array_namespace_info__", "core", "ctypeslib", "dtypes", "emath", "exceptions", "f2py",
          "get_include", "info",
          "lib", "show_config", "show_runtime", "test", "testing", "typing"}  # fmt: skip


def missing_names():
    """The public names of NumPy that `rtcg.numpy` lacks, sorted."""
    public = {name for name in np.__all__ if hasattr(np, name)} - INSIDE
    return sorted(name for name in public if not hasattr(rnp, name))


def table():
    """The list, a row for each thing to do instead."""
    rows = {}
    for name in missing_names():
        rows.setdefault(_namespace.INSTEAD.get(name, _namespace.OF_THE_HOST), []).append(f"`{name}`")
    lines = [
        f"| {', '.join(names)} | {text.replace('{name}', 'NAME')} |"
        for text, names in sorted(rows.items(), key=lambda row: row[1])
    ]
    return "\n".join([BEGIN, "", f"| name of NumPy {VERSION} | instead |", "|---|---|", *lines, "", END])


def with_table(page):
    """The text of the page with the list of today."""
    before, _, rest = page.partition(BEGIN)
    return before + table() + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
