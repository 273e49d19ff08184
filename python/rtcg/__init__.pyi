"""GPU run-time code generation: CUDA C++ as text, compiled, cached and launched."""

from typing import Any

from rtcg._exports import exports_wait as exports_wait
from rtcg._fuse import fuse as fuse
from rtcg.numpy import einsum as einsum
from rtcg.profile import benchmark as benchmark

__version__: str

def load_ipython_extension(shell: Any) -> None: ...
def unload_ipython_extension(shell: Any) -> None: ...
