from collections.abc import Callable
from typing import Any

from rtcg._native import Context, Device

def set_import_context(namespace: dict[str, Any], ctx_maker: Callable[[Device], Context] | None = None) -> None: ...
