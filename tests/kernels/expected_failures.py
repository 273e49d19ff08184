"""Cases known to fail, by name, each with its reason; one that passes is a failure too."""

from __future__ import annotations

#: On the virtual GPU.
VIRTUAL: dict[str, str] = {
    "tensor_core_matrix_product": "the virtual GPU has no tensor cores yet: wmma is refused when the module is loaded",
}

#: On a real GPU.
REAL: dict[str, str] = {}
