"""NumPy, imported when it is first needed.

A program that passes only device memory to kernels need not wait for an import that takes longer than all of this
package.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

__all__ = ["np"]


class _LazyNumPy:
    def __getattr__(self, name: str) -> Any:
        import numpy

        value = getattr(numpy, name)
        setattr(self, name, value)
        return value


if not TYPE_CHECKING:
    np = _LazyNumPy()
