"""rtcg.tune: how candidates are timed, what a search minimises, the sensors of the device."""

import gc
import json
import shutil
import subprocess

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import _native, driver, tracing, tune
from rtcg.compiler import SourceModule
from rtcg.elementwise import ElementwiseKernel
from tests.python.subprocesses import ROOT, run_python


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    """Every test has a folder of results of its own, and no NVML."""
    monkeypatch.setenv("RTCG_TUNING_DIR", str(tmp_path / "results"))


SCALE = """
__global__ void scale(float *out, const float *in, int n) {
  for (int i = blockIdx.x * bx + threadIdx.x; i < n; i += gridDim.x * bx) out[i] = 2 * in[i];
}
"""


#: Numbers that a launch takes longer for than a window lasts.
LONG = 1_000_000


def scale_kernel():
    space = tune.Space(bx=[64, 128, 256], items=[1, 2])
    return tune.Kernel(
        SCALE, "scale", space, block=("bx",), grid=("ceil_div(n, bx * items)",), problem=("n",)
    )  # fmt: skip


def tune_scale(n=1000, **options):
    x = xp.ones(n, np.float32)
    options = {"isolate": False, "budget": "6 evaluations"} | options
    return scale_kernel().tune(xp.zeros_like(x), x, n=n, progress=False, **options)


# -- Windows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("isolate", [False, True])
def test_cold_launches_are_timed_one_by_one(context, isolate):
    # Few and long ones, of which a window needs one or two: each launch waits for all of the machine's last cache to be
    # written.
    report = tune_scale(LONG, cold=True, isolate=isolate, budget="2 evaluations")
    assert {trial["window"] for trial in report.trials} == {"cold"}
    assert report.best_score > 0 and not report.failures
    assert {row["window"] for row in report.rows()} == {"cold"}


def test_the_cache_is_flushed_before_each_cold_launch_and_outside_of_its_time(context, tmp_path):
    nothing = SourceModule("__global__ void nothing() {}").get_function("nothing")
    gc.collect()  # arrays of other tests
    without = driver.mem_get_info()[0]
    timer = _native.LaunchTimer(True, 1)
    before, calls = driver.mem_get_info()[0], []
    buffer_bytes = without - before

    def enqueue(count):
        calls.append(count)
        for _ in range(count):
            nothing(block=(1, 1, 1), grid=(1, 1))

    assert timer.time(3, enqueue) > 0 and timer.time(200, enqueue) > 0
    # On a processor whose last cache takes long to write, half a second ends a window.
    assert set(calls) == {1} and 4 <= len(calls) <= 53, "one launch at a time, 50 in a window at most"
    # Memory of other tests comes and goes.
    assert 0 < buffer_bytes and before - driver.mem_get_info()[0] < buffer_bytes, "it is allocated once, with the timer"
    with tracing.trace(tmp_path / "trace.json"):
        timer.time(2, enqueue)
    events = [event for event in json.loads((tmp_path / "trace.json").read_text()) if event["ph"] == "X"]
    kinds = ("cuMemsetD32", "cuEventRecord", "cuLaunchKernel", "cuEventElapsedTime")
    order = [kind for event in sorted(events, key=lambda event: event["ts"])
             for kind in kinds if event["name"].startswith(kind)]  # fmt: skip
    assert order == ["cuMemsetD32", "cuEventRecord", "cuLaunchKernel", "cuEventRecord"] * 2 + ["cuEventElapsedTime"] * 2


def test_short_launches_are_timed_in_a_graph(context):
    """With the same results as launches in a row, and as often as is said."""
    module = SourceModule("__global__ void count(int *n) { atomicAdd(n, 1); }")
    count = module.get_function("count")
    n = xp.zeros(1, np.int32)
    timer = _native.LaunchTimer(False, 64)
    made = []

    def enqueue(launches):
        made.append(launches)
        for _ in range(launches):
            count(n, block=(1, 1, 1), grid=(1, 1))

    timer.start_candidate("count")
    timer.time(1, enqueue)
    assert timer.window == "launches" and int(n.get()[0]) == 1
    for _ in range(20):
        # Another candidate, as long as the machine is busy with other things.
        timer.start_candidate(f"count {len(made)}")
        timer.time(200, enqueue)
        if timer.window == "graph":
            break
    assert timer.window == "graph"
    before, calls = int(n.get()[0]), len(made)
    timer.time(200, enqueue)
    assert int(n.get()[0]) - before == 256, "four times a graph of 64"
    assert len(made) == calls, "it is captured once"
    timer.time(20, enqueue)
    assert made[calls:] == [20], "once for each count"


def test_long_launches_are_timed_in_a_row(context):
    body = "long long x = 1; for (int i = 0; i < 100000; ++i) x = x * x + i; *out = x;"
    module = SourceModule(f"__global__ void spin(long long *out) {{ {body} }}")
    spin, out = module.get_function("spin"), xp.zeros(1, np.int64)
    timer = _native.LaunchTimer(False, 64)
    timer.start_candidate("spin")
    assert timer.time(3, lambda launches: [spin(out, block=(1, 1, 1), grid=(1, 1)) for _ in range(launches)]) > 20e-6
    assert timer.window == "launches"


def test_what_cannot_be_captured_is_launched_in_a_row(context):
    x = xp.ones(10, np.float32)

    def waits(k):
        return (x * k).get()

    report = tune.tune(waits, space=tune.Space(k=[2, 3]), verify=lambda: 2 * np.ones(10, np.float32))
    assert [trial["window"] for trial in report.trials] == ["launches", None], "k = 3 is wrong"
    # Nothing is left of the capture that failed.
    assert np.array_equal((x + 1).get(), np.full(10, 2, np.float32))


def test_an_interrupt_during_a_capture_is_raised(context):
    timer = _native.LaunchTimer(False, 64)

    def enqueue(launches):
        # Eight tell whether a launch is short; all nine are captured.
        if launches == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timer.time(9, enqueue)
    assert timer.window == "launches"


def test_callables_and_generated_kernels_may_be_cold(context):
    x = xp.ones(LONG, np.float32)
    report = tune.tune(lambda k: x * 2 if k else x + x, space=tune.Space(k=[0, 1]), cold=True, budget="2 evaluations")
    assert [trial["window"] for trial in report.trials] == ["cold", "cold"]
    double = ElementwiseKernel("float *x", "x[i] *= 2")
    report = tune.tune(double, x, cold=True, budget="2 evaluations")
    assert [trial["window"] for trial in report.trials] == ["cold", "cold"]


# -- Objectives ---------------------------------------------------------------------------------


def test_rates_order_like_time_and_have_units(context):
    report = tune_scale(objective="bandwidth", bytes="8 * n")
    assert (report.objective, report.unit) == ("bandwidth", "GB/s")
    scores = {trial["score"]: trial["observed"]["bandwidth"] for trial in report.trials}
    for seconds, rate in scores.items():
        assert rate == pytest.approx(8000 / seconds * 1e-9)
    assert report.best_value == pytest.approx(8000 / report.best_score * 1e-9)
    assert " GB/s" in str(report).splitlines()[1]
    flops = tune_scale(objective="flops", flops=1000)
    assert flops.unit == "GFLOP/s" and " GFLOP/s" in str(flops)
    kernel, x = scale_kernel(), xp.ones(1000, np.float32)
    assert "measured on this device for this problem" in kernel.explain(x, x, n=1000), "they are times"


def test_a_column_or_a_function_is_the_objective(context):
    def quality(config, trial):
        assert trial["score"] > 0 and trial["registers"] is not None
        return -abs(config["bx"] - 128) - config["items"]

    report = tune_scale(objective=quality, maximize=True)
    assert report.best == {"bx": 128, "items": 1} and report.best_value == -1 and report.best_score == 1
    assert (report.objective, report.unit, report.speedup) == ("quality", "", None)
    assert all(trial["observed"]["time"] > 0 for trial in report.trials)
    assert str(report).splitlines()[1] == "  -1"
    by_column = tune_scale(objective="threads", observers=[lambda config, trial: {"threads": np.int64(config["bx"])}])
    assert by_column.best["bx"] == 64 and by_column.rows()[0]["threads"] == by_column.trials[0]["config"]["bx"]
    least = tune_scale(objective="occupancy", maximize=True)
    assert least.best_value == max(trial["occupancy"] for trial in least.trials)
    lacking = tune_scale(objective="threads")
    assert lacking.best is None and "no observer gave a number" in str(lacking)


def test_what_was_not_confirmed_is_never_used(context, monkeypatch):
    from rtcg.tune._runner import KernelRunner

    space = tune.Space(bx=[64, 128])
    kernel = tune.Kernel(SCALE.replace("items", "1"), "scale", space, block="bx", grid="4", problem=("n",))
    x = xp.ones(1000, np.float32)
    windows: list[int] = []
    in_turn = [10e-6, 10e-6, 100e-6, 10e-6, 100e-6]

    def time(runner, launches):
        if runner._candidate.block[0] == 64:
            return 12e-6
        # Fast while it is measured alone; later fast in three of five rounds, which may be by chance.
        windows.append(launches)
        return in_turn[len(windows) // 2 % 5] if len(windows) > 16 else 10e-6

    def search():
        windows.clear()
        return kernel.tune(xp.zeros_like(x), x, n=1000, progress=False, isolate=False)

    monkeypatch.setattr(KernelRunner, "repeat", time)
    report = search()
    assert report.unconfirmed is not None and report.unconfirmed[0] == {"bx": 128} and report.best == {"bx": 64}
    assert "what was used before stays" in str(report)
    assert min(tune.store().results("scale"), key=lambda row: row["score"])["config"] == {"bx": 128}
    assert "bx=64" in kernel.explain(x, x, n=1000)
    # So does what an earlier search chose.
    in_turn[:] = 5 * [10e-6]
    assert search().best == {"bx": 128}
    in_turn[:] = [10e-6, 10e-6, 100e-6, 10e-6, 100e-6]
    assert search().unconfirmed is not None
    assert "bx=128" in kernel.explain(x, x, n=1000)


def test_results_for_other_objectives_are_no_results_for_time(context, tmp_path):
    kernel, x = scale_kernel(), xp.ones(1000, np.float32)
    largest = tune_scale(objective="items", maximize=True)
    assert largest.best["items"] == 2
    assert "nothing is stored" in kernel.explain(x, x, n=1000)
    tune_scale(objective=lambda config, trial: config["bx"])
    assert "nothing is stored" in kernel.explain(x, x, n=1000)
    assert {row["objective"] for row in tune.store().results()} == {"maximize items"}
    tune_scale()
    assert "measured on this device for this problem" in kernel.explain(x, x, n=1000)
    double = ElementwiseKernel("float *y", "y[i] *= 2")
    by_block = tune.tune(double, x, objective="block", maximize=True, budget="20 evaluations")
    assert by_block.best["block"] == 1024
    shown = run_python(
        "from rtcg.tune._command import main; import sys; main(['show', '--folder', sys.argv[1]])", tmp_path / "results"
    ).stdout
    assert "@objective='maximize items'" in shown and "  2  bx=" in shown
    assert any(f" {unit}  bx=" in shown for unit in ("us", "ms", "s")), shown


def test_a_search_may_maximise():
    space = tune.Space(x=range(9))
    report = tune.search(space, lambda x: 5 - (x - 3) ** 2, maximize=True, progress=False)
    assert report.best == {"x": 3} and report.best_value == 5 and report.best_score == -5
    assert str(report).splitlines()[1] == "  5"


def test_the_front_of_two_columns(tmp_path):
    space = tune.Space(x=range(8), y=range(3))
    report = tune.search(
        space, lambda x, y: (x - 2) ** 2 + y, observers=[lambda config, trial: {"cost": abs(config["x"] - 5)}],
        progress=False,
    )  # fmt: skip
    front = [trial["config"] for trial in report.pareto("score", "cost")]
    assert front == [{"x": x, "y": 0} for x in (2, 3, 4, 5)]
    worst = [trial["config"] for trial in report.pareto("score", "cost", maximize=["score", "cost"])]
    assert worst == [{"x": 7, "y": 2}, {"x": 0, "y": 2}]
    with pytest.raises(ValueError, match="column is 'energy'; expected one with numbers: .*cost.*score"):
        report.pareto("score", "energy")
    with pytest.raises(ValueError, match="expected two or more"):
        report.pareto("score")
    pytest.importorskip("matplotlib")
    report.plot(tmp_path / "front.png", pareto=("score", "cost"))
    assert (tmp_path / "front.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "options, message",
    [
        ({"objective": "bandwidth"}, "expected bytes="),
        ({"objective": "flops"}, "expected flops="),
        ({"objective": "time", "maximize": True}, "maximize is true"),
        ({"objective": "x", "until": 0.5}, "the objective is 'x'"),
        ({"observers": [3]}, "observer is 3; expected a function, or one of clock"),
        ({"observers": ["voltage"]}, "observer is voltage; expected a function, or one of clock, power, energy"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(ValueError) as raised:
        tune.search(tune.Space(x=[1, 2]), lambda x: x, progress=False, **options)
    assert message in str(raised.value)


def test_an_error_of_an_observer_ends_the_search():
    def broken(config, trial):
        raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        tune.search(tune.Space(x=[1, 2]), lambda x: x, observers=[broken], progress=False)


# -- Sensors ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def nvml(tmp_path_factory):
    compiler = shutil.which("cc")
    assert compiler, "these tests need a C compiler"
    path = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    source = ROOT / "tests" / "python" / "stub_nvml.c"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", path, source], check=True)
    return path


PROLOGUE = f"""
import numpy as np
import rtcg.autoinit
import rtcg.numpy as xp
from rtcg import driver, tune

SCALE = '''{SCALE}'''
space = tune.Space(bx=[64, 128, 256])
kernel = tune.Kernel(SCALE, "scale", space, block=("bx",), grid=("ceil_div(n, bx)",), problem=("n",))
x = xp.ones(100_000, np.float32)

def run(**options):
    return kernel.tune(xp.zeros_like(x), x, n=100_000, budget="3 evaluations", progress=False, **options)
"""


def run_with_nvml(nvml, results, code, **environment):
    bus_id = driver.Device(0).pci_bus_id()
    environment = {"STUB_BUS_ID": bus_id, "RTCG_TUNING_DIR": results, "RTCG_NVML": nvml, **environment}
    return run_python(PROLOGUE + code, **environment).stdout


def test_sensors_fill_columns(context, nvml, tmp_path):
    run_with_nvml(
        nvml,
        tmp_path,
        """
report = run(observers=[tune.observers.energy, "power", "clock", tune.observers.temperature])
for row in report.rows():
    assert row["clock"] == 1980 and row["temperature"] == 61
    assert 150 < row["power"] < 250, row
    # The tests of the crate compare it with a clock of their own.
    assert 0 < row["energy"] < 20, row
assert tune.observers.clock.read() == 1980
assert report.clock_change == 0 and "the clock changed" not in str(report)
assert report.pareto("score", "energy")
stored = next(tune.store().folder.glob("*.jsonl")).read_text()
assert '"sm_clock_mhz":1980.0' in stored and '"temperature_celsius":61.0' in stored
""",
    )


def test_energy_is_an_objective(context, nvml, tmp_path):
    code = """
report = run(objective="energy")
assert (report.objective, report.unit) == ("energy", "J")
best = min(report.trials, key=lambda trial: trial["observed"]["energy"])
assert report.best == best["config"] and report.best_score == best["observed"]["energy"] == report.best_value
assert report.speedup is None and str(report).splitlines()[1].partition(",")[0].endswith("J"), str(report)
assert "nothing is stored" in kernel.explain(x, x, n=100_000)
"""
    run_with_nvml(nvml, tmp_path, code)
    run_with_nvml(nvml, tmp_path / "power", code, STUB_COUNTER=0)


def test_a_clock_that_changes_marks_the_run(context, nvml, tmp_path):
    code = """
report = run()
assert report.clock_change > 0.02, report.clock_change
assert "the clock changed by" in str(report)
trial = next(trial for trial in report.trials if trial["config"] == report.best)
assert trial["observed"]["clock"] < 1980 and trial["observed"]["temperature"] == 61
"""
    run_with_nvml(nvml, tmp_path, code, STUB_CLOCKS=7)


@pytest.mark.parametrize(
    "missing, reason",
    [
        ({"RTCG_NVML": "none"}, "NVML is switched off"),
        ({"RTCG_NVML": "/nowhere/libnvidia-ml.so.1"}, "RTCG_NVML=/nowhere/libnvidia-ml.so.1"),
        ({"STUB_INIT": 18}, "nvmlInit_v2: Driver/library version mismatch"),
        ({"STUB_BUS_ID": "0000:99:00.0"}, "NVML does not know the device"),
    ],
)
def test_without_nvml_the_columns_are_empty(context, nvml, tmp_path, missing, reason):
    text = run_with_nvml(
        nvml,
        tmp_path,
        """
report = run(observers=["energy", "power", "clock", "temperature"])
assert report.best is not None and report.clock_change is None
for row in report.rows():
    assert {name: row[name] for name in ("energy", "power", "clock", "temperature")} == dict.fromkeys(
        ("energy", "power", "clock", "temperature"))
assert tune.observers.energy.read() is None
try:
    run(objective="energy")
except RuntimeError as error:
    print(error)
""",
        **missing,
    )
    assert 'objective is "energy"' in text and reason in text, text


def test_the_folder_may_be_named_after_the_command(tmp_path, capsys):
    from rtcg.tune._command import main

    for arguments in (["show", "--folder", str(tmp_path)], ["--folder", str(tmp_path), "show"]):
        main(arguments)
        assert capsys.readouterr().out == f"no results in {tmp_path}\n"


def test_a_real_device_has_sensors(context):
    if driver.Context.get_device().is_virtual:
        pytest.skip("a real GPU has sensors")
    assert 100 < tune.observers.clock.read() < 5000
    assert 0 < tune.observers.temperature.read() < 120
    report = tune_scale(n=10_000_000, observers=["energy", "power"], isolate=True)
    for row in report.rows():
        assert 20 < row["power"] < 2000 and row["energy"] == pytest.approx(row["power"] * row["score"], rel=0.5)


def test_kernels_that_are_shorter_than_their_launch_are_timed_in_a_graph(context):
    if driver.Context.get_device().is_virtual:
        pytest.skip("launches of a real GPU take longer than this kernel")
    report = tune_scale(isolate=True)
    assert {trial["window"] for trial in report.trials} == {"graph"}


def test_options_that_make_no_sense_are_refused(context):
    for name, stated, error, message in [
        ("bytes", -5, ValueError, "bytes is -5; expected a positive number"),
        ("bytes", float("inf"), ValueError, "bytes is inf; expected a finite number"),
        ("flops", 1j, TypeError, "flops is 1j; expected a positive number"),
        ("flops", [1], TypeError, r"flops is \[1\]; expected a positive number"),
        ("flops", "4 * m", ValueError, "flops is '4 .* m'; expected a positive number, or an expression .* m is unkn"),
        ("bytes", "-n", ValueError, "bytes is '-n'; expected .* bytes is -1000"),
    ]:
        with pytest.raises(error, match=message):
            tune_scale(**{name: stated})
        if not isinstance(stated, str):
            with pytest.raises(error, match=message):
                tune.search(tune.Space(x=[1]), lambda x: x, progress=False, **{name: stated})
    with pytest.raises(ValueError, match="it needs bytes= or flops="):
        tune_scale(until="95 % of roofline")
    with pytest.raises(ValueError, match="objective is 'energy' and cold is true"):
        tune_scale(objective="energy", cold=True)
    with pytest.raises(ValueError, match="objective is 'energy' and cold is true"):
        tune.tune(lambda k: None, space=tune.Space(k=[1, 2]), objective="energy", cold=True)
    with pytest.raises(TypeError, match="observers is 'energy'; expected a sequence"):
        tune_scale(observers="energy")
    with pytest.raises(TypeError, match="tune.. has no option 'objectiv', nor kernel .*; is it 'objective'"):
        tune_scale(objectiv="energy")
    with pytest.raises(TypeError, match="check is 'memory'; a ElementwiseKernel is not checked"):
        tune.tune(ElementwiseKernel("float *x", "x[i] += 1"), xp.ones(10, np.float32), check="memory")
    with pytest.raises(TypeError, match="space is .*; expected rtcg.tune.Space"):
        tune.Kernel("", "f", {"bx": [64]}, block=1, grid=1)
    with pytest.raises(TypeError, match="problem is 'width'; expected a sequence of names"):
        tune.Kernel("", "f", tune.Space(bx=[64]), block=1, grid=1, problem="width")


def test_a_function_as_objective_is_not_taken_for_a_column_of_its_name(context):
    def registers(config, trial):
        return -config["bx"]

    report = tune_scale(objective=registers, maximize=True)
    assert report.best["bx"] == min(trial["config"]["bx"] for trial in report.trials)
