"""Search quality on recorded spaces: our strategies beside Kernel Tuner's, in one run. Needs no GPU.

`make bench-tuning DATA=folder` reads Kernel Tuner's cache files (`*.json`, `*.json.xz`) from the folder. A search is
replayed many times with different seeds; the figure is the median fraction of the optimum (optimum over best found) after
50, 100 and 200 evaluations of distinct configurations. The last row of a space is our default when each evaluation gives
one recorded sample in place of the mean. `kernel-tuner` comes from the package index; where it is missing, only our rows
are printed.
"""

import argparse
import concurrent.futures
import contextlib
import io
import json
import lzma
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUDGETS = (50, 100, 200)
OURS = "auto,random,local,genetic,annealing"
PEERS = (
    "genetic_algorithm,pso,firefly_algorithm,diff_evo,simulated_annealing,basinhopping,dual_annealing,mls,"
    "greedy_ils,random_sample,hybrid_vndx,adaptive_tabu_greywolf"
)
GOALS = (0.95, 0.98, 0.995)


def unpack(folder, target):
    """Write the cache files of a folder, unpacked, into another one; their paths."""
    paths = []
    for path in sorted(folder.glob("*.json*")):
        if path.suffix in (".xz", ".json"):
            data = path.read_bytes()
            paths.append(target / path.name.removesuffix(".xz"))
            paths[-1].write_bytes(lzma.decompress(data) if path.suffix == ".xz" else data)
    if not paths:
        sys.exit(f"{folder} has no *.json or *.json.xz")
    return paths


def our_rows(folder, seeds, strategies):
    """`{(space, name): fractions}` of our strategies; `auto, noisy` is the default with noise."""
    command = [
        "cargo",
        "run",
        "--release",
        "-q",
        "-p",
        "rtcg-tune",
        "--example",
        "replay",
        folder,
        str(seeds),
        strategies,
    ]
    rows = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        for line in child.stdout:
            row = json.loads(line)
            print(f"{row['space']}: {row['strategy']}{', noisy' if row['noisy'] else ''} replayed", file=sys.stderr)
            if not row["noisy"] or row["strategy"] == "auto":
                name = row["strategy"] + (", noisy" if row["noisy"] else "")
                rows[row["space"], f"rtcg {name}"] = row["fractions"]
    return rows


def peer_run(path, strategy, seed):
    """Fractions of one run of Kernel Tuner in its simulation mode."""
    import kernel_tuner
    import numpy as np

    cache = json.loads(Path(path).read_text())
    keys = cache["tune_params_keys"]
    times = {key: entry["time"] for key, entry in cache["cache"].items()}

    def key_of(config):
        return ",".join(str(config[name]) for name in keys)

    def is_recorded(config):
        return key_of(config) in times

    random.seed(seed)
    np.random.seed(seed)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            cache["kernel_name"], "", cache["problem_size"], [], {name: cache["tune_params"][name] for name in keys},
            restrictions=is_recorded, strategy=strategy,
            strategy_options={"max_fevals": BUDGETS[-1]}, simulation_mode=True, cache=str(path), lang="CUDA",
        )  # fmt: skip
    best, series, seen = float("inf"), [], set()
    for result in results:
        key = key_of(result)
        if key not in seen:
            seen.add(key)
            if isinstance(result["time"], (int, float)):
                best = min(best, result["time"])
            series.append(best)
    optimum = min(time for time in times.values() if isinstance(time, (int, float)))
    return [optimum / series[min(budget, len(series)) - 1] if series else 0.0 for budget in BUDGETS]


def peer_rows(paths, seeds, strategies):
    """`{(space, name): fractions}` of Kernel Tuner's strategies, on all processors."""
    jobs = [(path, strategy, seed) for path in paths for strategy in strategies for seed in range(seeds)]
    found, failed = {}, {}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        pending = {pool.submit(peer_run, *job): job for job in jobs}
        for done, future in enumerate(concurrent.futures.as_completed(pending), 1):
            if done % 100 == 0:
                print(f"Kernel Tuner: {done} of {len(jobs)} runs", file=sys.stderr)
            path, strategy, _ = pending[future]
            try:
                fractions = future.result()
                found.setdefault((path.stem, f"KT {strategy}"), []).append(fractions)
            except Exception as error:  # a peer may fail in any way; the table says how
                failed[strategy] = f"{type(error).__name__}: {error}"
    for strategy, reason in failed.items():
        print(f"Kernel Tuner's {strategy} failed: {reason[:150]}")
    return {key: [statistics.median(run[at] for run in runs) for at in range(3)] for key, runs in found.items()}


def print_table(rows, spaces):
    names = list(dict.fromkeys(name for _, name in rows))
    print(f"\n{'strategy':<32}" + "".join(f"{space[:18]:>20}" for space in spaces) + f"{'mean':>20}")
    for name in names:
        cells = [rows.get((space, name)) for space in spaces]
        shown = [" ".join(f"{value:.3f}" for value in cell) if cell else "-" for cell in cells]
        complete = [cell for cell in cells if cell]
        means = [statistics.mean(cell[at] for cell in complete) for at in range(3)] if complete else []
        print(f"{name:<32}" + "".join(f"{text:>20}" for text in shown) + f"{' '.join(f'{m:.3f}' for m in means):>20}")


def print_goals(rows, spaces):
    """Our default beside the goals: the mean, and its distance to the best peer of each cell."""
    ours = {space: rows[space, "rtcg auto"] for space in spaces}
    for at, (budget, goal) in enumerate(zip(BUDGETS, GOALS, strict=True)):
        mean = statistics.mean(ours[space][at] for space in spaces)
        print(f"mean after {budget}: {mean:.3f}, goal {goal}{'' if mean >= goal else '  missed'}")
    gaps = []
    for (space, name), cells in rows.items():
        if name.startswith("KT ") and space in ours:
            gaps += [(cells[at] - ours[space][at], space, budget, name) for at, budget in enumerate(BUDGETS)]
    if gaps:
        gap, space, budget, name = max(gaps)
        print(f"largest distance below a peer: {gap:.3f} ({space}, {budget}, {name}), goal 0.05"
              f"{'' if gap <= 0.05 else '  missed'}")  # fmt: skip
    loss = max(ours[space][at] - rows[space, "rtcg auto, noisy"][at] for space in spaces for at in range(3))
    print(f"largest loss by noise: {loss:.3f}, goal 0.01{'' if loss <= 0.01 else '  missed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with cache files")
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--peer-seeds", type=int, default=25, help="of Kernel Tuner, which is slower (default: 25)")
    parser.add_argument("--ours", default=OURS)
    parser.add_argument("--peers", default=PEERS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rtcg-bench-") as folder:
        paths = unpack(options.data, Path(folder))
        rows = our_rows(folder, options.seeds, options.ours)
        try:
            import kernel_tuner  # noqa: F401
        except ImportError as error:
            print(f"Kernel Tuner is missing ({error}): pip install kernel-tuner")
        else:
            rows |= peer_rows(paths, options.peer_seeds, [name for name in options.peers.split(",") if name])
        spaces = [path.stem for path in paths]
        print(f"median fraction of the optimum after {', '.join(map(str, BUDGETS))} evaluations, {options.seeds} seeds")
        print_table(rows, spaces)
        print_goals(rows, spaces)


if __name__ == "__main__":
    main()
