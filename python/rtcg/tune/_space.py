"""Search spaces and searches that are asked and told."""

import json
from collections.abc import Mapping
from pathlib import Path

from rtcg import _native
from rtcg._conversions import as_integer, converts
from rtcg._messages import shown

#: The names of the search strategies.
STRATEGIES = ("auto", "exhaustive", "random", "local", "genetic", "annealing")


def as_space(name, value):
    """`value`, which must have configurations."""
    if not hasattr(value, "configurations"):
        raise TypeError(f"{name} is {shown(value)}; expected rtcg.tune.Space")
    return value


class Space:
    """Named parameters with their values, and constraints.

    Parameters
    ----------
    *others : dict
        Parameters from elsewhere, such as those of a transformed tree: names with values. Keywords and earlier ones
        win.
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

    def __init__(self, *others, **parameters):
        self._native = _native.TuningSpace()
        self._table = None
        for more in (parameters, *others):
            self._native = (self + more)._native

    def __add__(self, more):
        """The space with the parameters of a dictionary that it does not have: names with values."""
        if not isinstance(more, Mapping):
            raise TypeError(f"a space is joined with {shown(more)}; expected a dictionary of names with values")
        native, known = self._native, set(self.names)
        for name, values in more.items():
            if name not in known:
                native = native.with_parameter(name, values)
        return self._wrap(native)

    @classmethod
    def _wrap(cls, native):
        space = cls.__new__(cls)
        space._native, space._table = native, None
        return space

    @classmethod
    def from_t1(cls, path):
        """Read the description of a search space in the T1 format (1.0.0), or BAT's older one.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        space : Space
        kernel : dict
            What the file says of the kernel: ``KernelName``, ``KernelFile``, ``LocalSize``, ``Arguments`` and the like.
        other : dict
            The rest of the file: ``General``, ``Search``, ``Budget``.

        Raises
        ------
        ValueError
            When the file is none; names it and says where.
        """
        try:
            native, kernel, other = _native.TuningSpace.from_t1(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{Path(path).name}: {error}") from error
        return cls._wrap(native), json.loads(kernel), json.loads(other)

    def to_t1(self, path, kernel=None, other=None):
        """Write the space as a T1 file, with what is said of the kernel and of the search."""
        text = self._native.to_t1(json.dumps(kernel or {}), json.dumps(other or {}))
        Path(path).write_text(text, encoding="utf-8")

    def parameter(self, name, values, when=None, default=None):
        """Return the space with one more parameter.

        Parameters
        ----------
        name : str
            An identifier.
        values : sequence
        when : str, optional
            An expression over other parameters. Where it does not hold, the parameter has its default, so that a
            meaningless choice is one configuration and not many.
        default : optional
            One of the values; the first one, if it is not given.

        Raises
        ------
        ValueError
            When the name is there already, or a value comes twice, is not finite, or of a type that does not fit.
        """
        return self._wrap(self._native.with_parameter(name, values, when, default))

    def require(self, *constraints):
        """Return the space with more constraints.

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
    def names(self):
        """The names of the parameters, in their order."""
        return tuple(self._native.names)

    @property
    def constraints(self):
        """The texts of the constraints."""
        return tuple(self._native.constraints)

    def values(self, name):
        """Return the values of a parameter."""
        return self._native.values(name)

    @property
    def default(self):
        """The configuration of all defaults; the first valid one where these violate a constraint.

        Raises
        ------
        ValueError
            When no configuration is valid.
        """
        config = self._native.default_config()
        try:
            self.check(config)
        except ValueError:
            return self.configurations()[0]
        return config

    def check(self, config):
        """Raise ValueError unless `config` has a declared value for each parameter and fulfils all constraints."""
        self._native.check(config)

    def configurations(self):
        """Return all valid configurations, as a sequence. Enumerated once.

        Raises
        ------
        ValueError
            When there is none: the message names constraints that contradict each other.
        """
        if self._table is None:
            self._table = self._native.enumerate()
        return self._table

    def __repr__(self):
        parameters = ", ".join(f"{name}={self.values(name)}" for name in self.names)
        return f"Space({parameters})" + "".join(f".require({text!r})" for text in self.constraints)


class Search:
    """A search that is asked for configurations and told their scores.

    Parameters
    ----------
    space : Space
    strategy : str or object
        One of `STRATEGIES`, or an object with ``ask(count, configurations, tried, pending)`` that returns rows, where
        `tried` has pairs of a row and its score (None for a failure).
    seed : int
        The same seed and the same scores ask for the same configurations.

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
    def __init__(self, space, strategy="auto", seed=0):
        self.space = as_space("space", space)
        self._table = space.configurations()
        self._native = _native.TuningSearch(self._table, strategy, seed)

    def ask(self, count=1):
        """Return up to `count` configurations to try; none when all have been asked."""
        return [self._table[row] for row in self._native.ask(count)]

    def tell(self, config, value, failure=None):
        """Tell what a configuration scored (the lower the better), or None and why it failed."""
        row = self._table.find(config)
        if row is None:
            self.space.check(config)
        if value is None:
            self._native.tell(row, None, "runtime", str(failure or ""))
        else:
            self._native.tell(row, float(value))

    @property
    def best(self):
        """``(configuration, score)`` of the best one so far, or None."""
        best = self._native.best()
        return None if best is None else (self._table[best[0]], best[1])
