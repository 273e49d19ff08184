"""What all applications share: the command line, checks against an oracle, tables of measurements, progress.

An application gives `run` its sizes and three functions. `check` compares results with an oracle and reports to a
`Checks`; `bench` fills a `Table`; `plot` returns a matplotlib figure.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

#: How long each search of a benchmark may take; the option ``--budget``.
budget = "20 s"


class Checks:
    """Comparisons of an application with its oracle; what differs is printed at the end."""

    def __init__(self):
        self.made, self.differences = 0, []

    def true(self, name, condition, otherwise):
        """Note that `condition` must hold; `otherwise` says what was found and what was expected."""
        self.made += 1
        if not condition:
            self.differences.append(f"{name}: {otherwise}")

    def equal(self, name, found, expected):
        """Note that two arrays or values must be the same, with the same shape."""
        found, expected = np.asarray(found), np.asarray(expected)
        if found.shape != expected.shape:
            return self.true(name, False, f"shape {found.shape}; expected {expected.shape}")
        wrong = np.argwhere(~((found == expected) | ((found != found) & (expected != expected))))
        where = tuple(wrong[0]) if len(wrong) else ()
        self.true(
            name, not len(wrong),
            f"{len(wrong)} of {found.size} differ, first at {list(map(int, where))}: "
            f"{found[where] if len(wrong) else ''}; expected {expected[where] if len(wrong) else ''}",
        )  # fmt: skip

    def close(self, name, found, expected, rtol=0.0, atol=0.0):
        """Note that two arrays or values must be within ``atol + rtol * abs(expected)``."""
        found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
        if found.shape != expected.shape:
            return self.true(name, False, f"shape {found.shape}; expected {expected.shape}")
        excess = np.abs(found - expected) - (atol + rtol * np.abs(expected))
        worst = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), excess.shape) if excess.size else None
        self.true(
            name, bool((excess <= 0).all()),
            f"{found[worst] if worst is not None else ''} at {list(map(int, worst or ()))}; "
            f"expected {expected[worst] if worst is not None else ''} within rtol={rtol}, atol={atol}",
        )  # fmt: skip

    def report(self):
        """Print what differs; the exit status: 1 if something does, or if nothing was compared."""
        for difference in self.differences:
            print(difference)
        if not self.made:
            print("nothing was compared")
        return 1 if self.differences or not self.made else 0


#: Seconds of a first call after which no second one is made.
LONGEST_FIRST_CALL = 60.0


class Table:
    """Rows of a benchmark, printed as they come, so that Ctrl-C leaves those that are done."""

    def __init__(self, title, unit, limit=None, limit_name="", error_name="error"):
        """`unit` of work a second, such as ``"Gpairs/s"``; `limit` in the same unit, or None where none is known."""
        self.unit, self.limit, self.rows = unit, limit, []
        print(title)
        if limit is not None:
            print(f"limit: {limit:.4g} {unit} ({limit_name})")
        print(
            f"{'':32} {'wall ms':>10} {'device ms':>10} {unit:>12} {'of limit':>9} {error_name:>9}  remarks", flush=True
        )

    def row(self, name, work, call, error=None, on_device=True, rounds=5, remarks=""):
        """Time `call`, which does `work` (in the table's unit times seconds), and print a row; return its result.

        The first call is not timed (it compiles; its time is noted). Wall time includes transfers and waiting; device
        time is that between two events around the call. `error` is a function of the result, or None. A call that
        raises ImportError is printed as not installed, another exception as its message: no peer ends the table.
        Where the first call takes more than 2 s, one more is timed, and where it takes more than 60 s, none: the row
        says so and has no rate, for a call that compiles tells nothing of the work.
        """
        kept = []
        try:
            first, _ = times(lambda: kept.append(call()), on_device, 1)
            result = kept.pop()
            if first > LONGEST_FIRST_CALL:
                print(f"{name:32} not timed: its first call took {first:.0f} s", flush=True)
                return result
            wall, device = times(call, on_device, 1 if first > 2 else rounds)
        except ImportError as problem:
            print(f"{name:32} not installed ({problem.name or problem})", flush=True)
            return None
        except Exception as problem:
            print(
                f"{name:32} {type(problem).__name__}: {str(problem).splitlines()[0] if str(problem) else ''}",
                flush=True,
            )
            return None
        best = device if device is not None else wall
        rate = work / best
        row = {
            "name": name, "wall_s": wall, "device_s": device, "rate": rate, "first_s": first,
            "of_limit": rate / self.limit if self.limit and on_device else None,
            "error": float(error(result)) if error else None, "remarks": remarks,
        }  # fmt: skip
        self.rows.append(row)
        texts = [
            f"{1e3 * wall:10.3f}", f"{1e3 * device:10.3f}" if device is not None else f"{'':10}", f"{rate:12.4g}",
            f"{row['of_limit']:9.1%}" if row["of_limit"] is not None else f"{'':9}",
            f"{row['error']:9.3g}" if error else f"{'':9}",
        ]  # fmt: skip
        print(f"{name:32} {' '.join(texts)}  first call {first:.2f} s{', ' if remarks else ''}{remarks}", flush=True)
        return result

    def published(self, name, rate, device, error=None):
        """Print a figure that others have published, with their device; it has no times."""
        self.rows.append({"name": name, "rate": rate, "error": error, "published_for": device})
        shown = f"{error:9.3g}" if error is not None else f"{'':9}"
        print(f"{name:32} {'':10} {'':10} {rate:12.4g} {'':9} {shown}  published, {device}", flush=True)


def times(call, on_device=True, rounds=5):
    """Medians of wall and device seconds of a call; device None for a call on the host."""
    walls, devices = [], []
    if on_device:
        from rtcg import driver

        begin, end, context = driver.Event(), driver.Event(), driver.Context.get_current()
    for _ in range(rounds):
        start = time.perf_counter()
        if on_device:
            begin.record()
        call()
        if on_device:
            # Other libraries leave a context of theirs current.
            context.push()
            end.record()
            end.synchronize()
            context.pop()
            devices.append(begin.time_till(end) * 1e-3)
        walls.append(time.perf_counter() - start)
    return float(np.median(walls)), float(np.median(devices)) if devices else None


def tuned(report):
    """What a search has found, and in which time, as a remark."""
    best = ", ".join(f"{name}={value}" for name, value in report.best.items())
    return f"{best}; tuned in {report.seconds:.0f} s"


def compile_c(source):
    """The library of a C file, for the base line on one core: a `ctypes.CDLL`."""
    library = Path(tempfile.mkdtemp(prefix="rtcg-app-")) / "reference.so"
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def instruction_rate():
    """Instructions a second that the threads of the device can issue, or None where that is no limit."""
    from rtcg import driver

    device = driver.Context.get_device()
    if device.compute_capability() < (9, 0):
        return None
    return device.multiprocessor_count * 128 * device.clock_rate * 1e3


def progress(steps, label):
    """Iterate over a list of steps; on a terminal, show how many are done and the time that is left."""
    if not sys.stderr.isatty() or len(steps) < 2:
        yield from steps
        return
    start = time.perf_counter()
    try:
        for done, step in enumerate(steps):
            left = (time.perf_counter() - start) / done * (len(steps) - done) if done else float("nan")
            print(f"\r{label}: {done} of {len(steps)}, {left:.0f} s left ", end="", file=sys.stderr, flush=True)
            yield step
    finally:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def run(description, sizes, check, bench, plot, reports=True):
    """The command line of an application: runs what is asked for and ends the process.

    Without `reports` the process only takes part, as one of several ranks: it prints nothing and writes no files.
    Exit status: 0; 1 where a check differs; 2 for wrong options; 130 after Ctrl-C, with what was done printed.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0], prog=f"python -m {_program()}")
    parser.add_argument("--size", choices=list(sizes), default="small", help="small: seconds on the virtual GPU")
    parser.add_argument("--check", action="store_true", help="compare with the oracle; silent where all agrees")
    parser.add_argument("--bench", action="store_true", help="measure, beside the peers that are installed")
    parser.add_argument("--plot", metavar="FILE", help="draw the picture, for example out.png")
    parser.add_argument("--json", metavar="FILE", help="with --bench: write the rows to a file")
    parser.add_argument("--budget", type=_budget, default=budget, help="with --bench: of each search for the fastest")
    options = parser.parse_args()
    if options.plot and not os.path.isdir(os.path.dirname(options.plot) or "."):
        parser.error(f"--plot {options.plot}: there is no folder {os.path.dirname(options.plot)}")
    if options.plot and (wrong := _why_no_picture(options.plot)):
        parser.error(wrong)
    if not (options.check or options.bench or options.plot):
        parser.error("give --check, --bench or --plot FILE")
    if options.json and not options.bench:
        parser.error("--json needs --bench")
    globals()["budget"] = options.budget
    if not reports:
        sys.stdout, options.plot, options.json = open(os.devnull, "w"), None, None
    import rtcg.autoinit  # noqa: F401

    status, tables = 0, []
    try:
        if options.check:
            checks = Checks()
            check(sizes[options.size], checks)
            status = checks.report()
        if options.bench:
            _print_device()
            bench(sizes[options.size], tables)
        if options.plot:
            plot(sizes[options.size]).savefig(options.plot, dpi=100, bbox_inches="tight")
            print(f"{options.plot} written")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = 130
    finally:
        if options.json:
            with open(options.json, "w") as file:
                json.dump([row for table in tables for row in table.rows], file, indent=1)
    sys.exit(status)


def _why_no_picture(path):
    """What keeps `--plot` from writing this file; None if nothing does."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        return "--plot needs Matplotlib: pip install matplotlib"
    kinds = sorted(FigureCanvasAgg.get_supported_filetypes())
    kind = os.path.splitext(path)[1].lstrip(".").lower()
    known = kind in ["", *kinds]
    return None if known else f"--plot {path}: the ending is {kind!r}; expected one of {', '.join(kinds)}"


def _budget(text):
    """The text of a budget."""
    from rtcg import tune

    try:
        tune.parse_budget(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _program():
    """The name that `python -m` was given."""
    spec = sys.modules["__main__"].__spec__
    return spec.name.removesuffix(".__main__") if spec else sys.argv[0]


def _print_device():
    from rtcg import driver

    device = driver.Context.get_device()
    major, minor = device.compute_capability()
    print(f"{device.name()}, compute capability {major}.{minor}, {time.strftime('%Y-%m-%d')}")
