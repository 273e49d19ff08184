"""Search spaces, and searches with an ask-and-tell interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg._conversions import as_integer, converts
from rtcg._messages import shown

if TYPE_CHECKING:
    from rtcg._native import TuningTable

#: The names of the search strategies.
STRATEGIES: tuple[str, ...] = ("auto", "exhaustive", "random", "local", "genetic", "annealing")


def as_space(name: str, value: Any) -> Any:
    """`value`, which must have configurations."""
    if not hasattr(value, "configurations"):
        raise TypeError(f"{name} is {shown(value)}; expected rtcg.tune.Space")
    return value


class Space:
    """A search space: named parameters with their values, and constraints.

    Parameters
    ----------
    *others : dict
        Parameters from elsewhere, such as those of a transformed tree: values by name. Keywords and earlier
        dictionaries take precedence.
    **parameters : sequence
        The values of each parameter: bool, int, float, str, or tuples of these. The first one is the default.

    Notes
    -----
    Methods return a new space. A configuration is a dictionary with a value for each name.

    Examples
    --------
    >>> from rtcg import tune
    >>> space = tune.Space(bx=[16, 32, 64], by=[1, 2, 4, 8], stage=[False, True]).require("bx * by <= 256")
    >>> space = space.parameter("pad", [0, 1], when="stage")
    >>> len(space.configurations())
    33
    """

    def __init__(self, *others: Mapping[str, Iterable[Any]], **parameters: Iterable[Any]) -> None:
        self._native = _native.TuningSpace()
        self._table: TuningTable | None = None
        for more in (parameters, *others):
            self._native = (self + more)._native

    def __add__(self, more: Mapping[str, Iterable[Any]]) -> Space:
        """The space extended by the parameters of a dictionary that it does not have: values by name."""
        if not isinstance(more, Mapping):
            raise TypeError(f"a space is joined with {shown(more)}; expected a dictionary of names with values")
        native, known = self._native, set(self.names)
        for name, values in more.items():
            if name not in known:
                native = native.with_parameter(name, values)
        return self._wrap(native)

    @classmethod
    def _wrap(cls, native: Any) -> Space:
        space = cls.__new__(cls)
        space._native, space._table = native, None
        return space

    @classmethod
    def from_t1(cls, path: str | Path) -> tuple[Space, dict[str, Any], dict[str, Any]]:
        """Read a search space from a file in the T1 format (1.0.0), or in BAT's older one.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        space : Space
        kernel : dict
            The kernel's entries in the file: ``KernelName``, ``KernelFile``, ``LocalSize``, ``Arguments`` and the like.
        other : dict
            The rest of the file: ``General``, ``Search``, ``Budget``.

        Raises
        ------
        ValueError
            If the file is invalid; the message names the file and the position.
        """
        try:
            native, kernel, other = _native.TuningSpace.from_t1(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{Path(path).name}: {error}") from error
        return cls._wrap(native), json.loads(kernel), json.loads(other)

    def to_t1(
        self, path: str | Path, kernel: dict[str, Any] | None = None, other: dict[str, Any] | None = None
    ) -> None:
        """Write the space to a T1 file, with the entries about the kernel and the search."""
        text = self._native.to_t1(json.dumps(kernel or {}), json.dumps(other or {}))
        Path(path).write_text(text, encoding="utf-8")

    def parameter(self, name: str, values: Iterable[Any], when: str | None = None, default: Any = None) -> Space:
        """A new space with one more parameter.

        Parameters
        ----------
        name : str
            An identifier.
        values : sequence
        when : str, optional
            An expression of other parameters. If it is false, the parameter has its default, so that a meaningless
            choice counts as one configuration instead of many.
        default : optional
            One of the values; the first one by default.

        Raises
        ------
        ValueError
            If the name exists already, or a value occurs twice, is not finite, or has an unsuitable type.
        """
        return self._wrap(self._native.with_parameter(name, values, when, default))

    def require(self, *constraints: str | Callable[[dict[str, Any]], object]) -> Space:
        """A new space with more constraints.

        Parameters
        ----------
        *constraints : str or callable
            Expressions in Python's syntax (``"bx * by <= 1024"``), or functions of a configuration.
        """
        native = self._native
        for constraint in constraints:
            native = native.with_constraint(constraint)
        return self._wrap(native)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return tuple(self._native.names)

    @property
    def constraints(self) -> tuple[str, ...]:
        """The texts of the constraints."""
        return tuple(self._native.constraints)

    def values(self, name: str) -> list[Any]:
        """The values of a parameter."""
        return self._native.values(name)

    @property
    def default(self) -> dict[str, Any]:
        """The configuration with all defaults, or the first valid one if they violate a constraint.

        Raises
        ------
        ValueError
            If no configuration is valid.
        """
        config = self._native.default_config()
        try:
            self.check(config)
        except ValueError:
            return self.configurations()[0]
        return config

    def check(self, config: dict[str, Any]) -> None:
        """Raise ValueError unless `config` has a declared value for each parameter and fulfils all constraints."""
        self._native.check(config)

    def configurations(self) -> TuningTable:
        """All valid configurations, as a sequence; enumerated once.

        Raises
        ------
        ValueError
            If there are none; the message names constraints that contradict each other.
        """
        if self._table is None:
            self._table = self._native.enumerate()
        return self._table

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={self.values(name)}" for name in self.names)
        return f"Space({parameters})" + "".join(f".require({text!r})" for text in self.constraints)


class Search:
    """A search with an ask-and-tell interface: ask for configurations, and tell their scores.

    Parameters
    ----------
    space : Space
    strategy : str or object
        One of `STRATEGIES`, or an object with ``ask(count, configurations, tried, pending)`` that returns rows, where
        `tried` has pairs of a row and its score (None for a failure).
    seed : int
        The same seed and the same scores give the same configurations.

    Examples
    --------
    >>> from rtcg import tune
    >>> search = tune.Search(tune.Space(x=range(100)))
    >>> for _ in range(12):
    ...     for config in search.ask(4):
    ...         search.tell(config, abs(config["x"] - 70))
    >>> search.best[1] < 10
    True
    """

    @converts(seed=as_integer)
    def __init__(self, space: Space, strategy: Any = "auto", seed: int = 0) -> None:
        self.space: Space = as_space("space", space)
        self._table = space.configurations()
        self._native = _native.TuningSearch(self._table, strategy, seed)

    def ask(self, count: int = 1) -> list[dict[str, Any]]:
        """Up to `count` configurations to try; none when all have been returned."""
        return [self._table[row] for row in self._native.ask(count)]

    def tell(self, config: dict[str, Any], value: float | None, failure: object = None) -> None:
        """Report the score of a configuration (lower is better), or None and the reason of the failure."""
        row: Any = self._table.find(config)
        if row is None:
            self.space.check(config)
        if value is None:
            self._native.tell(row, None, "runtime", str(failure or ""))
        else:
            self._native.tell(row, float(value))

    @property
    def best(self) -> tuple[dict[str, Any], float] | None:
        """``(configuration, score)`` of the best one so far, or None."""
        best = self._native.best()
        return None if best is None else (self._table[best[0]], best[1])
