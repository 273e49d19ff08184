"""What Dask asks when it is imported (its entry points ``dask.sizeof``): how large device arrays are.

It is also when distributed has to learn how they are sent (`rtcg._dask_serializers`): a worker that receives an array
has met no other thing of rtcg's before.
"""

from __future__ import annotations

import sys
from importlib import import_module, util
from typing import Any

#: The last module of distributed's serialisers, which is imported after `dask.sizeof`.
_SERIALIZERS = "distributed.protocol.cuda"


def register(sizeof: Any) -> None:
    """Tell Dask's dispatcher `sizeof` of arrays, as soon as it meets one; imports no more than that."""

    @sizeof.register_lazy("rtcg")  # type: ignore[misc]  # Dask has no types
    def register_arrays() -> None:
        from rtcg.numpy import GPUArray

        @sizeof.register(GPUArray)  # type: ignore[misc]
        def sizeof_array(array: Any) -> int:
            return int(array.nbytes)

    if _SERIALIZERS in sys.modules:
        _register_serializers()
    elif not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())


def _register_serializers() -> None:
    """Tell distributed's dispatchers which module to import when they meet a class of rtcg's."""
    from distributed.protocol.cuda import cuda_deserialize, cuda_serialize
    from distributed.protocol.serialize import dask_deserialize, dask_serialize

    for dispatcher in (cuda_serialize, cuda_deserialize, dask_serialize, dask_deserialize):
        dispatcher.register_lazy("rtcg", lambda: import_module("rtcg._dask_serializers"))


class _AfterImport:
    """A finder that lets `_register_serializers` follow the import of distributed's serialisers, and then goes."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module's own spec, for `_SERIALIZERS` alone."""
        if name != _SERIALIZERS:
            return None
        sys.meta_path.remove(self)
        spec = util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _register_serializers()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # of this one loader
        return spec
