"""What Dask asks when it is imported (its entry points ``dask.sizeof``): how large device arrays are."""

from __future__ import annotations

from typing import Any


def register(sizeof: Any) -> None:
    """Tell Dask's dispatcher `sizeof` of arrays, as soon as it meets one; imports no more than that."""

    @sizeof.register_lazy("rtcg")  # type: ignore[misc]  # Dask has no types
    def register_arrays() -> None:
        from rtcg.numpy import GPUArray

        @sizeof.register(GPUArray)  # type: ignore[misc]
        def sizeof_array(array: Any) -> int:
            return int(array.nbytes)
