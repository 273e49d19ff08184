from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

def tune_kernel(
    kernel_name: str,
    kernel_source: str | Path | Callable[[dict[str, Any]], object],
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: dict[str, Sequence[Any]],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Sequence[Any] | None = None,
    atol: float = 1e-6,
    verify: Callable[[Any, Any, float], object] | None = None,
    verbose: bool = False,
    lang: str | None = None,
    device: int = 0,
    compiler_options: Sequence[str] | None = None,
    iterations: int = 7,
    block_size_names: Sequence[str] | None = None,
    quiet: bool = False,
    strategy: str | None = None,
    strategy_options: dict[str, Any] | None = None,
    cache: str | Path | None = None,
    metrics: dict[str, Any] | None = None,
    simulation_mode: bool = False,
    observers: Sequence[Callable[[dict[str, Any], dict[str, Any]], dict[str, Any] | None]] | None = None,
    objective: str = "time",
    objective_higher_is_better: bool | None = None,
    cmem_args: dict[str, Any] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]: ...
