"""The store of results: location, export and import."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rtcg import _native
from rtcg._conversions import as_path, as_sequence, converts
from rtcg._messages import shown

if TYPE_CHECKING:
    from rtcg._native import TuningKernelKey, TuningRecords


def as_store(name: str, value: Any) -> Store:
    """`value`, which must be a store of results."""
    if not isinstance(value, Store):
        raise TypeError(f"{name} is {shown(value)}; expected rtcg.tune.Store")
    return value


class Store:
    """A store of search results, with one file per kernel.

    Parameters
    ----------
    folder : path, optional
        The folder to write to. By default the environment variable ``RTCG_TUNING_DIR``, else ``rtcg/tuning`` in the
        user's data folder.
    also_read : sequence of path
        Additional folders to search, such as one next to a program or in a package.
    """

    @converts(folder=as_path, also_read=as_sequence)
    def __init__(self, folder: str | Path | None = None, also_read: Sequence[str | Path] = ()) -> None:
        self.folder = Path(folder) if folder is not None else default_folder()
        self._native = _native.TuningStore(self.folder, [Path(other) for other in also_read])

    def _known(self, kernel: TuningKernelKey) -> TuningRecords:
        """The records of a kernel, cached after the first read; damaged lines are reported in a warning."""
        return _warn_of_damage(self._native.known(kernel))

    def kernels(self) -> list[tuple[str, str, list[str]]]:
        """The kernels that have results: ``(name, hash, parameters)``."""
        return [(key.name, key.hash, key.parameters) for key in self._native.kernels()]

    def results(self, name: str | None = None) -> list[dict[str, Any]]:
        """All results as dictionaries, or those of the kernels with this name."""
        keys = [key for key in self._native.kernels() if name in (None, key.name, key.hash)]
        read = [(key, _warn_of_damage(self._native.read(key))) for key in keys]
        return [row | {"kernel": key.name, "hash": key.hash} for key, records in read for row in records.to_dicts()]

    def export(self, path: str | Path) -> int:
        """Write all results to one JSON file, which :meth:`import_` reads; returns their number."""
        Path(path).write_text(self._native.export_text(), encoding="utf-8")
        return len(self.results())

    def export_t4(self, path: str | Path, name: str) -> int:
        """Write the results of one kernel, given by name or hash, in the T4 format (1.0.0); returns their number.

        Raises
        ------
        ValueError
            Unless exactly one kernel has that name.
        """
        keys = [key for key in self._native.kernels() if name in (key.name, key.hash)]
        if len(keys) != 1:
            raise ValueError(f"name is {shown(name)}; {len(keys)} kernels of this store are called so, expected one")
        text, count = self._native.t4_text(keys[0])
        Path(path).write_text(text, encoding="utf-8")
        return count

    def import_(self, path: str | Path) -> int:
        """Add the results of an exported file that this store lacks.

        Returns
        -------
        int
            The number of added results.

        Raises
        ------
        ValueError
            If the file is not an export.
        """
        return _warn_of_refused(*self._native.import_text(Path(path).read_text(encoding="utf-8")))

    def merge(self, other: Store) -> int:
        """Add the results of another store that this one lacks; returns the number of added results."""
        return _warn_of_refused(*self._native.merge(other._native))

    def prune(self, keep: int = 10) -> int:
        """Keep the `keep` best results and the chosen one per kernel, device and problem; returns the number removed.

        Raises
        ------
        ValueError
            If `keep` is less than 1.
        """
        if keep < 1:
            raise ValueError(f"keep is {keep}; expected 1 or more")
        return sum(self._native.prune(key, keep) for key in self._native.kernels())

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"


def _warn_of_refused(added: int, refused: list[str]) -> int:
    if refused:
        import warnings

        warnings.warn(f"{len(refused)} results were refused, such as: {refused[0]}", stacklevel=3)
    return added


def _warn_of_damage(records: TuningRecords) -> TuningRecords:
    if records.damaged:
        import warnings

        shown = "; ".join(records.damaged[:3]) + ("; ..." if len(records.damaged) > 3 else "")
        warnings.warn(f"{len(records.damaged)} damaged results were left out: {shown}", stacklevel=4)
    return records


def default_folder() -> Path:
    """The user's results folder: ``RTCG_TUNING_DIR``, or ``rtcg/tuning`` in the user's data folder."""
    folder = _native.default_results_folder()
    if folder is None:
        raise RuntimeError("no folder for results is known: set HOME, or RTCG_TUNING_DIR")
    return Path(folder)


def tool_versions() -> dict[str, Any]:
    """The versions of the tools with which a result was measured."""
    import rtcg
    from rtcg import driver

    return {"rtcg": _native.__version__, "driver": driver.get_driver_version(), "package": rtcg.__name__}


_default: list[Store] = []


def store() -> Store:
    """Return the store that searches use by default."""
    if not _default or _default[0].folder != default_folder():
        _default[:] = [Store()]
    return _default[0]
