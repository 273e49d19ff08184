"""What was recognised in a program, and the specialisers that may generate kernels for it."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rtcg._messages import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Model:
    """A stencil that was recognised, for arguments of certain types and a shape.

    Attributes
    ----------
    kind : str
        ``"stencil"``.
    name : str
        The name of the function.
    shape : tuple of int
        The shape of the fields.
    fields : tuple of (str, str, tuple)
        For each field the parameter's name, its dtype and the offsets at which it is read, ascending.
    scalars : tuple of (str, str)
        For each scalar the parameter's name and its dtype.
    outputs : tuple of str
        The dtypes of the results.
    radius : tuple of (int, int)
        For each axis how far elements are read, towards lower and towards higher indices.
    boundary, halo : str
        As `stencil` was given them.
    constant : number
        What is beyond the borders if `boundary` is ``"constant"``.
    ir : str
        The core program as text, in which the stencil is one ``gen`` statement: an expression of the element's
        indices.
    """

    kind: str
    name: str
    shape: tuple[int, ...]
    fields: tuple[tuple[str, str, tuple[tuple[int, ...], ...]], ...]
    scalars: tuple[tuple[str, str], ...]
    outputs: tuple[str, ...]
    radius: tuple[tuple[int, int], ...]
    boundary: str
    halo: str
    constant: Any
    ir: str

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def taps(self) -> int:
        """The number of elements that are read for each result."""
        return sum(len(offsets) for _, _, offsets in self.fields)


@dataclasses.dataclass(frozen=True)
class Generated:
    """A kernel that a specialiser generated.

    Its parameters are pointers to the outputs, pointers to the fields, the lengths of the axes (``long long``) and the
    scalars, in the order of the `Model`. Arrays are in C order without gaps.

    Attributes
    ----------
    source : str
        CUDA C++.
    kernel : str
        The kernel's name; it has to be ``extern "C"``.
    grid, block : tuple of int
        Blocks and threads of a block, along three axes.
    """

    source: str
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


@runtime_checkable
class Specialiser(Protocol):
    """What `register` takes: an object with a name and four methods."""

    name: str

    def matches(self, model: Model) -> Any:
        """What `generate` needs to know if this specialiser takes the model, else None."""

    def generate(self, found: Any, config: Mapping[str, Any]) -> Generated:
        """A kernel for what `matches` returned, with a value for each parameter of `space`."""

    def space(self, found: Any) -> Mapping[str, Sequence[Any]]:
        """The parameters of the kernel with their values, the usual one first; may be empty."""

    def reference(self, found: Any, *args: Any) -> Any:
        """The results in NumPy, to compare with: an array, or a tuple of them."""


_registered: list[Specialiser] = []
_lock = threading.Lock()


def register(specialiser: Specialiser) -> Specialiser:
    """Let a specialiser generate kernels for the models that it takes, before those registered earlier.

    Parameters
    ----------
    specialiser : Specialiser
        Its `matches` is called once for each type and shape of arguments of a function; the first specialiser that does
        not return None generates the kernel, and the one of this package does if none takes the model.

    Returns
    -------
    Specialiser
        The argument, so that this can decorate a class of which an instance is made: ``register(Mine())``.

    Raises
    ------
    TypeError
        If methods are missing.
    ValueError
        If one with the name is registered.
    """
    missing = [
        name for name in ("matches", "generate", "space", "reference") if not callable(getattr(specialiser, name, None))
    ]
    if missing or not isinstance(getattr(specialiser, "name", None), str):
        wanted = ", ".join(missing or ["name"])
        raise TypeError(f"specialiser is {shown(specialiser)}, which lacks {wanted}; expected a Specialiser")
    with _lock:
        if any(known.name == specialiser.name for known in _registered):
            raise ValueError(f"a specialiser with the name {specialiser.name!r} is registered; unregister it first")
        _registered.insert(0, specialiser)
    return specialiser


def unregister(specialiser: Specialiser) -> None:
    """Undo `register`. Raises `ValueError` if the specialiser is not registered."""
    with _lock:
        if specialiser not in _registered:
            raise ValueError(f"{shown(specialiser)} is not registered")
        _registered.remove(specialiser)


def specialisers() -> tuple[Specialiser, ...]:
    """Return the registered specialisers, in the order in which they are asked."""
    return tuple(_registered)
