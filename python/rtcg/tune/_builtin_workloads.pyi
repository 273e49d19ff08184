from collections.abc import Callable, Iterator
from typing import Any

FAMILIES: tuple[str, ...]

def workloads(family: str, is_virtual: bool) -> Iterator[tuple[str, Callable[[], Any], dict[str, Any]]]: ...
