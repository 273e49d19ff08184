"""Arguments of tuned calls: their identity, and their copies for searches and other processes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from rtcg._messages import shown
from rtcg.tune._images import HostImage, Image, image_of


def identity_of(value: Any) -> Any:
    """The properties that distinguish two arguments of the problem."""
    value = image_of("", value)
    if hasattr(value, "shape") and np.ndim(value):
        return str(value.dtype), tuple(value.shape)
    return value


def scalar_values(bound: dict[str, Any]) -> dict[str, bool | int | float | str]:
    """The values of a call that expressions may name."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in bound.items()}
    return {name: value for name, value in plain.items() if isinstance(value, (bool, int, float, str))}


def plain_argument(name: str, argument: Any) -> Any:
    """An argument without `driver.In`, `Out` or `InOut` around it; the image of a texture or surface."""
    from rtcg import driver

    return image_of(name, argument.array if isinstance(argument, driver.ArgumentHandler) else argument)


def contents_of(argument: Any) -> Any:
    """An argument for host functions: a copy of an array's elements, or a scalar."""
    if not (hasattr(argument, "shape") and np.ndim(argument)):
        return argument
    copied = on_host("", argument)
    return (copied.contents if isinstance(copied, HostImage) else copied).copy()


def on_host(name: str, argument: Any) -> Any:
    """An argument in a form that can be sent to another process."""
    if isinstance(argument, Image):
        return argument.to_host()
    if isinstance(argument, (np.ndarray, np.generic, int, float, complex)):
        return argument
    if hasattr(argument, "get") and hasattr(argument, "dtype"):
        return argument.get()
    raise TypeError(f"argument {shown(name)} is of type {type(argument).__name__}, "
                    "which cannot be sent to the process that runs candidates; pass an array, "
                    "or isolate=False")  # fmt: skip


def check_free_memory(name: str, arguments: Sequence[Any], written: Collection[int]) -> None:
    """Refuse arguments if the device has no memory for their copies."""
    from rtcg import driver

    needed = sum(argument.nbytes for place, argument in enumerate(arguments) if hasattr(argument, "nbytes")
                 and np.ndim(argument) and place in written)  # fmt: skip
    free = driver.mem_get_info()[0]
    if 2 * needed > free:
        raise ValueError(
            f"restoring the arrays that kernel {shown(name)} writes takes {2 * needed} bytes of device memory; "
            f"{free} are free. Name fewer arrays in mutates=, or tune with smaller ones"
        )
