"""Cases known to fail, by name, each with its reason; one that passes is a failure too."""

from __future__ import annotations

#: On the virtual GPU.
VIRTUAL: dict[str, str] = {}

#: On a real GPU.
REAL: dict[str, str] = {}
