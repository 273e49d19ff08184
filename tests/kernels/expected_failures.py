"""Cases known to fail, by name, each with its reason; one that passes is a failure too."""

from __future__ import annotations

#: On the virtual GPU.
VIRTUAL: dict[str, str] = {}

#: On a real GPU.
REAL: dict[str, str] = {}

#: What clang compiles otherwise than NVRTC, or not at all; the list only shrinks.
CLANG: dict[str, str] = {
    "access_that_the_compiler_proved_invalid": "reports the access, where NVRTC puts a trap",
    "f32_contracts_not_a_product_used_elsewhere": "fuses a product that has another use, which CUDA allows",
    "f64_contracts_not_a_product_used_elsewhere": "fuses a product that has another use, which CUDA allows",
}
