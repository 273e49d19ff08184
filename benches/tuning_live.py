"""Live tuning beside Kernel Tuner: the same space, problem and arguments, in one run on one GPU.

`make gpu-bench-tuning DATA=folder` takes T1 files of CUDA kernels from `folder/t1` (sources in `kernels/` there).
Both tuners get the same call of `tune_kernel` and as many seconds. Printed are the best time that each found, and the
seconds after which it was within 5 % of the best of all. Kernel Tuner checks nothing here: what it timed is checked
afterwards, and left out where it is wrong. It comes from the package index; where it is missing, only our rows are printed. The last table is the rate at which configurations compile, by threads.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import io
import json
import os
import time
from pathlib import Path

import numpy as np

os.environ["PYCUDA_DISABLE_CACHE"] = "1"  # Nothing comes compiled from an earlier run.
NAMES = ("convolution_milo", "hotspot_milo")
PEERS = ("adaptive_tabu_greywolf", "genetic_algorithm", "random_sample")


def load_problem(path):
    """The arguments of `tune_kernel` that a T1 file describes."""
    from rtcg import tune

    benchmark = tune.from_t1(path, folder=path.parent / "kernels")
    t1 = json.loads(path.read_text())
    specification = t1["KernelSpecification"]
    return {
        "kernel_name": specification["KernelName"],
        "kernel_source": (path.parent / "kernels" / specification["KernelFile"]).read_text(),
        "problem_size": tuple(benchmark.values.values()),
        "arguments": [getattr(argument, "array", argument) for argument in benchmark.arguments],
        "tune_params": {name: list(benchmark.space.values(name)) for name in benchmark.space.names},
        "grid_div_x": specification.get("GridDivX"), "grid_div_y": specification.get("GridDivY"),
        "restrictions": [entry["Expression"] for entry in t1["ConfigurationSpace"].get("Conditions", [])],
        "cmem_args": benchmark.constants or None,
    }  # fmt: skip


def make_answer(problem):
    """What the arguments hold after a launch of the first valid configuration; None for those that stay."""
    from rtcg import tune

    written = []

    def keep(answer, result, atol):
        written[:] = result
        return True

    arguments = problem["arguments"]
    tune.tune_kernel(
        **problem, answer=[argument if getattr(argument, "ndim", 0) else None for argument in arguments], verify=keep,
        strategy="exhaustive", strategy_options={"max_fevals": 1}, quiet=True,
    )  # fmt: skip
    return [
        new if getattr(old, "ndim", 0) and not np.array_equal(old, new) else None
        for old, new in zip(arguments, written, strict=True)
    ]


def run_ours(problem, seconds, seed):
    """`(seconds since the start, milliseconds)` of each configuration that worked."""
    from rtcg import tune

    start = time.time()
    results, _ = tune.tune_kernel(
        **problem, strategy="auto", strategy_options={"time_limit": seconds, "seed": seed}, quiet=True,
        observers=[lambda config, trial: {"at": time.time() - start}],
    )  # fmt: skip
    return [(row["at"], row["time"]) for row in results if isinstance(row["time"], float)], len(results)


def run_peer(problem, strategy, seconds):
    """As `run_ours`, by Kernel Tuner, which gets no `answer`: it would end at the first wrong result."""
    import kernel_tuner

    start = time.time()
    unchecked = {name: value for name, value in problem.items() if name not in ("answer", "atol")}
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            **unchecked, strategy=strategy, strategy_options={"time_limit": seconds, "max_fevals": 100000}, quiet=True
        )
    steps, wrong = [], 0
    for row in results:
        if not isinstance(row["time"], float):
            continue
        if is_right(problem, row):
            at = datetime.datetime.fromisoformat(row["timestamp"]).timestamp() - start
            steps.append((at, row["time"]))
        else:
            wrong += 1
    if wrong:
        print(f"{strategy}: {wrong} configurations were timed whose results are wrong or that do not run; left out")
    return steps, len(results)


def is_right(problem, row):
    """Whether a configuration runs and computes the answer."""
    from rtcg import tune

    one = problem | {"tune_params": {name: [row[name]] for name in problem["tune_params"]}, "restrictions": None}
    results, _ = tune.tune_kernel(**one, quiet=True, iterations=1)
    return isinstance(results[0]["time"], float)


def seconds_to_within(steps, goal):
    """When the best so far was first as good as `goal`; infinite where it never was."""
    return min((at for at, score in steps if score <= goal), default=float("inf"))


def compile_rates(problem, counts):
    """Configurations compiled per second, by threads: one configuration again and again, so that all take as long."""
    from rtcg import tune
    from rtcg.driver import Context

    space = tune.Space(**problem["tune_params"]).require(*problem["restrictions"])
    kernel = tune.Kernel(problem["kernel_source"], problem["kernel_name"], space, block=(1,), grid=(1,),
                         options=["-Dkernel_tuner=1"])  # fmt: skip
    rates = {}
    for count in counts:
        with concurrent.futures.ThreadPoolExecutor(count, initializer=Context.get_current().push) as pool:
            list(pool.map(kernel.compile, [kernel.default] * count))
            start = time.perf_counter()
            list(pool.map(kernel.compile, [kernel.default] * (4 * count)))
            rates[count] = 4 * count / (time.perf_counter() - start)
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with T1 files in t1/")
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--peers", default=",".join(PEERS), help="strategies of Kernel Tuner")
    parser.add_argument("--seconds", type=float, default=60, help="of each search (default: 60)")
    options = parser.parse_args()
    import rtcg.autoinit  # noqa: F401
    from rtcg.driver import Context

    print(f"{Context.get_device().name()}, {os.cpu_count()} cores, {options.seconds:g} s a search")
    for name in options.names.split(","):
        problem = load_problem(options.folder / "t1" / f"{name}.json")
        problem |= {"answer": make_answer(problem), "atol": 1e-2}
        rows = {f"rtcg auto, seed {seed}": run_ours(problem, options.seconds, seed) for seed in (0, 1)}
        for strategy in filter(None, options.peers.split(",")):
            try:
                rows[f"kernel tuner {strategy}"] = run_peer(problem, strategy, options.seconds)
            except ImportError as error:
                print(f"not run: {error}")
                break
        best = min(score for steps, _ in rows.values() for _, score in steps)
        print(f"\n{name}: best known {best:.4f} ms")
        print(f"{'':42} {'tried':>6} {'best ms':>8} {'of best':>8} {'s to 5 %':>9}")
        for row, (steps, tried) in rows.items():
            found = min((score for _, score in steps), default=float("inf"))
            print(f"{row:42} {tried:6} {found:8.4f} {best / found:8.3f} {seconds_to_within(steps, 1.05 * best):9.1f}")
        counts = [count for count in (1, 4, 16) if count <= (os.cpu_count() or 1)]
        rates = compile_rates(problem, counts)
        shown = ", ".join(f"{count}: {rate:.1f} ({rate / rates[1] / count:.2f})" for count, rate in rates.items())
        print(f"configurations compiled a second by threads (efficiency): {shown}", flush=True)


if __name__ == "__main__":
    main()
