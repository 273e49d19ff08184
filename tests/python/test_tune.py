"""rtcg.tune: spaces, searches, tuned kernels, faults, the store."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import _native, driver, tune
from rtcg.compiler import SourceModule
from rtcg.elementwise import ElementwiseKernel
from rtcg.reduction import ReductionKernel
from tests.python.subprocesses import run_python


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    """Every test has a folder of results of its own."""
    monkeypatch.setenv("RTCG_TUNING_DIR", str(tmp_path / "results"))


# -- Spaces and searches ------------------------------------------------------------------------


def test_a_space_has_the_configurations_that_fulfil_its_constraints():
    space = tune.Space(bx=[16, 32, 64], by=[1, 2, 4], mode=["a", "b"]).require("bx * by <= 64", "mode == 'a' or by > 1")
    space = space.require(lambda config: config["bx"] != 64 or config["mode"] == "a")
    expected = [
        {"bx": bx, "by": by, "mode": mode}
        for bx in (16, 32, 64) for by in (1, 2, 4) for mode in "ab"
        if bx * by <= 64 and (mode == "a" or by > 1) and (bx != 64 or mode == "a")
    ]  # fmt: skip
    assert list(space.configurations()) == expected
    assert space.default == {"bx": 16, "by": 1, "mode": "a"}
    assert tune.Space(bx=[1, 32, 64]).require("bx >= 32").default == {"bx": 32}, "the first valid one"


def test_values_of_numpy_and_tuples_are_parameters():
    space = tune.Space(tile=[(16, np.int64(8)), (8, 4)], scale=np.linspace(0, 1, 3), n=np.arange(2), flag=[np.True_])
    assert space.configurations()[0] == {"tile": (16, 8), "scale": 0.0, "n": 0, "flag": True}
    assert len(space.configurations()) == 12


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: tune.Space(a=[]), '"a" has no values'),
        (lambda: tune.Space(a=[1, 1]), '"a" has the value 1 twice'),
        (lambda: tune.Space(a=[float("nan")]), "expected finite numbers"),
        (lambda: tune.Space(a=[object()]), "is of type object"),
        (lambda: tune.Space(a=3), '"a"'),
        (lambda: tune.Space(a=[1]).require("a <"), "expected a value"),
        (lambda: tune.Space(a=[1]).require("b < 1").configurations(), "names b, which is no parameter"),
        (lambda: tune.Space(a=[1]).require(3), "constraint is 3; expected text or a function"),
        (lambda: tune.Space(a=[1, 2]).require("a < 2", "a > 1").configurations(), '"a < 2", "a > 1"'),
        (lambda: tune.Space(a=[1]).require(lambda config: config["b"]).configurations(), "KeyError: 'b'"),
        (lambda: tune.Space(a=[1, 2]).check({"a": "1); evil("}), "expected one of 1, 2"),
        (lambda: tune.Search(tune.Space(a=[1]), strategy="best"), 'strategy is "best"; expected one of auto'),
        (lambda: tune.search(tune.Space(a=[1]), lambda a: a, budget="soon"), 'budget is "soon"; expected such as'),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError) as raised:
        make()
    assert message in str(raised.value)


def test_budgets_are_read():
    for given, wanted in [
        ("20 s", (20.0, None)), ("1.5min, 200 evaluations", (90.0, 200)), (3, (3.0, None)), (None, (None, None)),
        (np.float32(0.5), (0.5, None)), (tune.Budget(evaluations=4), (None, 4)),
    ]:  # fmt: skip
        assert tune.parse_budget(given) == wanted, given
    report = tune.search(tune.Space(a=range(9)), lambda a: a, budget=tune.parse_budget("4 evaluations"), progress=False)
    assert len(report.trials) == 4
    for wrong, error, shown in [
        ("50 km", ValueError, '"50 km"'), (0, ValueError, "0"), (float("nan"), ValueError, "nan"),
        ([3], TypeError, r"\[3\]"), (b"3 s", TypeError, "b'3 s'"), (1j, TypeError, "1j"),
    ]:  # fmt: skip
        with pytest.raises(error, match=f"budget is {shown}; expected such as"):
            tune.parse_budget(wrong)


def test_a_function_is_minimised_and_failures_are_kept():
    def measure(x, y):
        if x == 7:
            raise ArithmeticError("seven")
        return abs(x - 8) + y if y < 9 else float("nan")

    report = tune.search(tune.Space(x=range(20), y=range(10)), measure, budget="1000 evaluations", progress=False)
    assert report.best == {"x": 8, "y": 0} and report.best_score == 0
    messages = {message for _, message in report.failures["runtime"]}
    assert messages == {"ArithmeticError: seven", "the score is nan; expected a finite number"}
    assert len(report.trials) == 200 and report.stopped_by == "exhausted"
    assert [number for number, _, _ in report.best_so_far()] == sorted({n for n, _, _ in report.best_so_far()})


def test_a_strategy_of_the_users_is_asked():
    class Backwards:
        def ask(self, count, configurations, tried, pending):
            rows = {row for row, _ in tried} | set(pending)
            return [row for row in reversed(range(len(configurations))) if row not in rows][:count]

    search = tune.Search(tune.Space(x=range(5)), strategy=Backwards())
    assert [config["x"] for config in search.ask(3)] == [4, 3, 2]
    search.tell({"x": 4}, None, "too slow")
    search.tell({"x": 3}, 0.5)
    assert search.best == ({"x": 3}, 0.5)


def test_a_seed_decides_what_is_asked():
    def asked(seed):
        search = tune.Search(tune.Space(x=range(50), y=range(50)), seed=seed)
        configs = []
        for _ in range(8):
            for config in search.ask(4):
                configs.append((config["x"], config["y"]))
                search.tell(config, config["x"] + config["y"])
        return configs

    assert asked(1) == asked(1) != asked(2)


# -- Tuned kernels ------------------------------------------------------------------------------

SMOOTH = """
__global__ void smooth(float *out, const float *in, int width, int height)
{
#if rows == 5
  this does not compile;
#endif
  for (int r = 0; r < rows; ++r) {
    const int x = blockIdx.x * bx + threadIdx.x, y = (blockIdx.y * by + threadIdx.y) * rows + r;
    if (rows == 6) out[(long)width * 1000000000] = 1;
    while (rows == 7 && *(volatile float *)out > -1e30f) if (*(const volatile float *)in == 12345.0f) break;
    if (x >= width || y >= height) return;
    out[y * width + x] = in[y * width + x] * (rows == 8 ? 1.5f : 0.5f) + (rows == 7);
  }
}
"""


def smooth_kernel(rows=(1, 2, 4), **more):
    space = tune.Space(bx=[32, 16, 64], by=[4, 1, 2, 8], rows=rows).require("bx * by <= 256")
    return tune.Kernel(
        SMOOTH, "smooth", space, block=("bx", "by"), grid=("ceil_div(width, bx)", "ceil_div(height, by * rows)"),
        problem=("width", "height"), **more,
    )  # fmt: skip


def half(out, image, width, height):
    return image * np.float32(0.5)


def arrays(width=150, height=70):
    image = np.random.default_rng(0).random((height, width), np.float32)
    return xp.zeros_like(xp.asarray(image)), xp.asarray(image), image


def test_a_kernel_runs_with_its_default_until_a_result_is_known(context):
    kernel = smooth_kernel()
    out, image, host = arrays()
    kernel(out, image, width=150, height=70)
    assert (out.get() == host / 2).all()
    assert "the default, since nothing is stored" in kernel.explain(out, image, 150, 70)
    out.fill(7)
    report = kernel.tune(out, image, 150, 70, budget="20 evaluations", verify=half, progress=False)
    assert (out.get() == 7).all(), "tuning works on copies"
    assert len(report.trials) == 20 and not report.failures
    assert "measured on this device for this problem" in kernel.explain(out, image, width=150, height=70)
    kernel(out, image, width=150, height=70)
    assert (out.get() == host / 2).all()
    assert "for the nearest problem" in kernel.explain(out, image, 160, 70)
    out, image, host = arrays(160, 40)
    for _ in range(3):
        out.fill(0)
        kernel(out, image, 160, 40)
        assert (out.get() == host / 2).all()
    again = smooth_kernel()
    assert again.explain(out, image, 150, 70).startswith(", ".join(f"{k}={v}" for k, v in report.best.items()))


def test_a_variant_is_launched_whatever_is_stored(context):
    kernel = smooth_kernel()
    out, image, host = arrays()
    one_and_a_half = kernel.variant(bx=16, rows=8)  # a value that the space does not have
    one_and_a_half(out, image, width=150, height=70)
    assert (out.get() == host * np.float32(1.5)).all()
    kernel.variant()(out, image, 150, 70, stream=driver.Stream())
    context.synchronize()
    assert (out.get() == host / 2).all()
    with pytest.raises(ValueError, match="'bz' is no parameter of kernel 'smooth'; expected some of bx, by, rows"):
        kernel.variant(bz=1)
    with pytest.raises(TypeError, match="argument 'height' is missing"):
        one_and_a_half(out, image, 150)


def test_a_call_may_change_every_time(context):
    kernel = smooth_kernel()
    for width, height in [(32, 8), (100, 3), (32, 8), (1, 1), (64, 64)] * 2:
        out, image, host = arrays(width, height)
        kernel(out, image, np.int32(width), height=height)
        assert (out.get() == host / 2).all(), (width, height)


def test_a_call_goes_to_its_stream_whatever_the_last_one_named(context):
    kernel, stream = smooth_kernel(), driver.Stream()
    out, image, host = arrays()
    kernel(out, image, 150, 70, stream=None)
    out.fill(0)
    context.synchronize()
    with stream.capture() as graph:
        kernel(out, image, 150, 70, stream=stream)
    assert not out.get().any()
    graph.instantiate().launch()
    assert (out.get() == host / 2).all()


def test_one_kernel_runs_in_several_contexts(context):
    kernel, here = smooth_kernel(), arrays()
    other = context.get_device().make_context()
    there = arrays()
    driver.Context.pop()
    for _ in range(3):
        kernel(*here[:2], 150, 70)
        with other:
            kernel(*there[:2], 150, 70)
            assert (there[0].get() == there[2] / 2).all()
            there[0].fill(0)
        assert (here[0].get() == here[2] / 2).all()
        here[0].fill(0)
    with other:
        del there
    other.detach()


@pytest.mark.skipif(os.name != "posix", reason="candidates run in another process on POSIX systems only")
def test_planted_faults_are_named_and_none_is_chosen(context):
    kernel = smooth_kernel(rows=(1, 2, 5, 6, 7, 8))
    space = kernel.space
    kernel.space = space.require("bx == 32 and by == 4")
    out, image, _ = arrays()
    report = kernel.tune(
        out, image, 150, 70, verify=half, budget="60 s", strategy="exhaustive", timeout=3, progress=False
    )
    assert report.stopped_by == "exhausted" and len(report.trials) == 6
    assert report.best["rows"] in (1, 2)
    found = {config["rows"]: (kind, message) for kind, all_of in report.failures.items() for config, message in all_of}
    assert {rows: kind for rows, (kind, _) in found.items()} == {
        5: "compile", 6: "runtime", 7: "timeout", 8: "correctness",
    }  # fmt: skip
    assert "this does not compile" in found[5][1] or "error" in found[5][1]
    assert "elements of argument 0 are wrong" in found[8][1]
    kernel(out, image, 150, 70)
    context.synchronize()


def test_wrong_calls_are_refused(context):
    kernel = smooth_kernel()
    out, image, _ = arrays()
    for call, message in [
        (lambda: kernel(out, image, 1), "argument 'height' is missing"),
        (lambda: kernel(out, image, 1, 2, 3), "takes 4 arguments"),
        (lambda: kernel(out, image, 1, 2, width=3), "two values of 'width'"),
        (lambda: kernel(out, image, 1, depth=3), "no parameter 'depth'"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(ValueError, match="verify gives 2 arrays; the kernel writes 1"):
        kernel.tune(out, image, 150, 70, verify=(1, 2), progress=False)
    with pytest.raises(TypeError, match="verify returned {'out': 1}; expected the array for 'out'"):
        kernel.tune(out, image, 150, 70, verify=lambda *arguments: {"out": 1}, progress=False)
    with pytest.raises(ValueError, match="expected one of 1, 2, 4"):
        smooth_kernel(default={"rows": 3})


def test_source_may_be_a_function_of_the_configuration(context):
    from rtcg import template

    loop = "{% for i in range(n) %}\n  x[{{ i }}] = {{ i }};\n{% endfor %}\n"
    text = template.Template(f"__global__ void fill(int *x) {{\n{loop}}}")
    kernel = tune.Kernel(text, "fill", tune.Space(n=[4, 4 + 4]), block=1, grid=1)
    x = xp.zeros(8, np.int32)
    kernel(x)
    assert list(x.get()) == [0, 1, 2, 3, 0, 0, 0, 0]
    report = kernel.tune(x, verify=lambda x: np.arange(8), budget="2 evaluations", progress=False)
    assert report.best == {"n": 8} and list(report.failures) == ["correctness"]


def test_auto_tunes_unknown_problems(context):
    kernel = smooth_kernel()
    out, image, host = arrays()
    with tune.auto(budget="3 evaluations", progress=False):
        kernel(out, image, 150, 70)
        assert len(tune.store().results("smooth")) == 4
        kernel(out, image, 150, 70)
    assert len(tune.store().results("smooth")) == 4, "a known problem is not searched again"
    assert (out.get() == host / 2).all()


def test_a_search_is_a_picture_and_a_table(tmp_path):
    measure = lambda x, mode: x + (mode == "slow") if x != 3 else 1 / 0  # noqa: E731
    report = tune.search(
        tune.Space(x=range(1, 9), mode=["fast", "slow"]), measure, budget="99 evaluations", progress=False
    )
    report.plot(tmp_path / "search.png")
    assert (tmp_path / "search.png").read_bytes().startswith(b"\x89PNG")
    assert len(report.rows()) == 16 and "<table>" in report._repr_html_()
    assert {row["failure"] for row in report.rows()} == {None, "runtime"}


# -- Two lines for generated kernels and plain functions -------------------------------------------


def test_generated_kernels_keep_their_results_for_later_processes(context):
    axpy = ElementwiseKernel("float *z, const float *x, float a", "z[i] += a * x[i]", name="tuned_axpy")
    x, z = xp.ones(50_000, np.float32), xp.zeros(50_000, np.float32)
    report = tune.tune(axpy, z, x, np.float32(2), budget="25 evaluations", progress=False)
    assert not report.failures and (z.get() == 0).all(), "arrays are restored"
    axpy(z, x, np.float32(2))
    assert (z.get() == 2).all()
    program = """
        import json, numpy as np, rtcg.autoinit, rtcg.numpy as xp
        from rtcg.elementwise import ElementwiseKernel
        axpy = ElementwiseKernel("float *z, const float *x, float a", "z[i] += a * x[i]", name="tuned_axpy")
        x, z = xp.ones(50_000, np.float32), xp.zeros(50_000, np.float32)
        axpy(z, x, np.float32(2))
        print(json.dumps([axpy._launch_choice(50_000), float(z.get().sum())]))
    """
    choice, total = json.loads(run_python(program).stdout.splitlines()[-1])
    assert total == 100_000
    best = {name: None if value == "auto" else value for name, value in report.best.items()}
    assert choice == [best["block"], best["waves"], best["packed"]]


def test_reductions_are_tuned(context):
    dot = ReductionKernel(np.float64, "0", "a + b", "x[i] * y[i]", "const float *x, const float *y", name="tuned_dot")
    x = xp.asarray((np.arange(30_000) % 100).astype(np.float32))
    report = tune.tune(dot, x, x, budget="30 evaluations", progress=False)
    assert not report.failures
    assert dot(x, x).get() == ((np.arange(30_000.0) % 100) ** 2).sum()


def test_the_block_of_a_plain_function_is_chosen(context):
    source = """__global__ void twice(float *x, int n)
    {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) x[i] *= 2;
    }"""
    function = SourceModule(source).get_function("twice")
    x = xp.ones(10_000, np.float32)
    report = tune.tune(function, x, np.int32(10_000), size=10_000, budget="5 evaluations", progress=False)
    assert (x.get() == 1).all() and not report.failures
    function(x, np.int32(10_000), **report.launch)
    assert (x.get() == 2).all()
    with pytest.raises(TypeError, match="needs size="):
        tune.tune(function, x, np.int32(10_000))


def test_anything_that_can_be_called_is_tuned(context):
    x = xp.ones(4096, np.float32)

    def total(parts):
        return sum((part.sum() for part in x.reshape(parts, -1)), xp.zeros((), np.float32))

    report = tune.tune(total, space=tune.Space(parts=[1, 2, 4]), budget="3 evaluations", progress=False)
    assert len(report.trials) == 3 and not report.failures
    with pytest.raises(TypeError, match="needs space="):
        tune.tune(total)


# -- The store ------------------------------------------------------------------------------------


def test_results_travel_and_damage_is_named(context, tmp_path):
    kernel = smooth_kernel()
    out, image, _ = arrays()
    kernel.tune(out, image, 150, 70, budget="4 evaluations", progress=False)
    store = tune.store()
    assert store.export(tmp_path / "wisdom.json") == 5
    other = tune.Store(tmp_path / "other")
    assert (other.import_(tmp_path / "wisdom.json"), other.import_(tmp_path / "wisdom.json")) == (5, 0)
    assert store.merge(other) == 0 and other.kernels() == store.kernels()
    [file] = store.folder.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.warns(UserWarning, match="1 damaged results were left out"):
        assert len(store.results()) == 4
    assert other.prune(keep=1) == 3
    shipped = smooth_kernel(wisdom=other.folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "measured on this device for this problem" in shipped.explain(out, image, 150, 70)


def test_values_of_a_hostile_file_never_reach_source(context):
    kernel = smooth_kernel()
    out, image, host = arrays()
    kernel.tune(out, image, 150, 70, budget="2 evaluations", progress=False)
    [file] = tune.store().folder.glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[1:]:
        line["config"]["rows"] = "1\n#error hostile"
        line["score"] = 1e-12
    file.write_text("\n".join(map(json.dumps, lines)) + "\n")
    again = smooth_kernel(store=tune.Store(file.parent))
    again(out, image, 150, 70)
    assert (out.get() == host / 2).all()
    assert "the default" in again.explain(out, image, 150, 70)


@pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
def test_a_full_disk_is_told_and_nothing_is_lost(context):
    import resource

    kernel = smooth_kernel()
    out, image, _ = arrays()
    kernel.tune(out, image, 150, 70, budget="1 evaluations", progress=False)
    [file] = tune.store().folder.glob("*.jsonl")
    n_lines = len(file.read_text().splitlines())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 100, limits[1]))
    try:
        with pytest.warns(UserWarning, match="results of this search are not kept: .*cannot be written"):
            report = kernel.tune(out, image, 150, 70, budget="3 evaluations", progress=False, isolate=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(report.trials) == 3 and report.best is not None
    # Half a line would make the next one unreadable.
    report = kernel.tune(out, image, 150, 70, budget="2 evaluations", progress=False)
    lines = file.read_text().splitlines()
    assert len(lines) > n_lines + len(report.trials) and all(json.loads(line) for line in lines)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_an_interrupt_keeps_the_best_so_far(tmp_path):
    program = """
        import sys, time
        from rtcg import tune
        def measure(x):
            print("measured", flush=True)
            time.sleep(0.01)
            return x
        report = tune.search(tune.Space(x=range(100_000 // 2)), measure, budget="60 s", progress=False)
        print("ended", report.stopped_by, report.best is not None, len(report.trials) < 5000, flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert rest.splitlines()[-1] == "ended interrupted True True"


# -- Kernel Tuner's interface --------------------------------------------------------------------

VECTOR_ADD = """
__global__ void vector_add(float *c, float *a, float *b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
#if block_size_x == 96
  if (i < n - 1)
#else
  if (i < n)
#endif
    c[i] = a[i] + b[i];
}
"""


def vector_add_arguments(n=5000):
    random = np.random.default_rng(0)
    a, b = random.random(n, np.float32), random.random(n, np.float32)
    return [np.zeros_like(a), a, b, np.int32(n)], [a + b, None, None, None]


@pytest.mark.skipif(os.name != "posix", reason="candidates run in another process on POSIX systems only")
def test_scripts_for_kernel_tuner_run(context, tmp_path):
    arguments, answer = vector_add_arguments()
    settings = {"block_size_x": [32, 64, 96, 128, 256]}
    cache = tmp_path / "vector_add.json"
    common = {"restrictions": ["block_size_x <= 128"], "answer": answer, "cache": cache, "quiet": True}
    metrics = {"GB/s": lambda result: 12 * 5000 / result["time"] / 1e6, "twice": "2 * time"}
    results, env = tune.tune_kernel("vector_add", VECTOR_ADD, 5000, arguments, settings, metrics=metrics, **common)
    assert sorted(result["block_size_x"] for result in results) == [32, 64, 96, 128]
    failed = [result for result in results if result["time"] == "RuntimeFailedConfig"]
    assert [result["block_size_x"] for result in failed] == [96] and "are wrong" in failed[0]["error"]
    good = [result for result in results if result not in failed]
    assert all(result["twice"] == 2 * result["time"] and result["GB/s"] > 0 for result in good)
    assert env["device_name"] == context.get_device().name()
    again, _ = tune.tune_kernel("vector_add", VECTOR_ADD, 5000, arguments, settings, **common)
    times = lambda rows: {row["block_size_x"]: row["time"] for row in rows}  # noqa: E731
    assert times(again).pop(96) == "RuntimeFailedConfig"
    kept = {size: time for size, time in times(again).items() if size != 96}
    assert kept == pytest.approx(times(good)), "nothing is measured twice"
    simulated, env = tune.tune_kernel(
        "vector_add", "", 5000, [], settings, restrictions=common["restrictions"], cache=cache, simulation_mode=True,
        strategy="genetic_algorithm", strategy_options={"max_fevals": 4}, quiet=True,
    )  # fmt: skip
    assert times(simulated) == times(again) and env["device_name"] == "simulation"
    with pytest.raises(ValueError, match="lang is 'OpenCL'"):
        tune.tune_kernel("vector_add", VECTOR_ADD, 5000, arguments, settings, lang="OpenCL")
    with pytest.raises(ValueError, match="has the parameters"):
        tune.tune_kernel("vector_add", VECTOR_ADD, 5000, arguments, {"bx": [1]}, cache=cache)


def test_what_the_command_line_shows(context, tmp_path):
    kernel = smooth_kernel()
    out, image, _ = arrays()
    kernel.tune(out, image, 150, 70, budget="3 evaluations", progress=False)
    run = lambda *arguments: subprocess.run(  # noqa: E731
        [sys.executable, "-m", "rtcg", "tune", *arguments], capture_output=True, text=True
    )
    assert "smooth (" in run("show").stdout and "4 measurements, 0 failures" in run("show", "smooth").stdout
    file = tmp_path / "exported.json"
    assert run("export", str(file)).stdout == f"4 results written to {file}\n"
    other = str(tmp_path / "other")
    assert "4 results added" in run("--folder", other, "import", str(file)).stdout
    assert "0 results added" in run("merge", other).stdout
    assert "2 results dropped" in run("--folder", other, "prune", "--keep", "1").stdout
    failed = run("merge", str(tmp_path / "nowhere"))
    assert failed.returncode == 1 and "nowhere', which does not exist" in failed.stderr
    failed = run("prune", "--keep", "0")
    assert failed.returncode == 1 and "keep is 0; expected 1 or more" in failed.stderr
    failed = run("builtin", "reduce", "--matching", "nonsense")
    assert failed.returncode == 1 and "matching is 'nonsense'" in failed.stderr
    assert run("builtin", "scan", "--list").stdout.startswith("scan.route: ")
    file.write_text("{}")
    failed = run("import", str(file))
    assert failed.returncode == 1 and "is no export of results" in failed.stderr


def test_threads_may_call_one_kernel_for_different_problems(context):
    import threading

    kernel = smooth_kernel()
    failed = []

    def work(width):
        context.push()
        try:
            out, image, host = arrays(width, 8)
            for _ in range(200):
                kernel(out, image, width, height=8)
            if not (out.get() == host / 2).all():
                failed.append(width)
        finally:
            context.pop()

    threads = [threading.Thread(target=work, args=(width,)) for width in (16, 33, 64, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_kernels_behind_arrays_are_tuned_and_followed(context):
    a = xp.asarray(np.random.default_rng(0).random((64, 500), np.float32))
    expected, before = _native.record_array_decisions(lambda: a.sum(axis=0))
    reports = tune.builtin(lambda: a.sum(axis=0), budget="12 evaluations", progress=False)
    [(name, report)] = reports.items()
    assert name.startswith("reduce.partition(") and len(report.trials) == 12
    assert not report.failures, report.failures
    # What is stored decides from now on; the rules can be had again.
    tune.store()._native.recorder(before[0].key, _native.TuningDevice.current(), before[0].problem, "{}").add(
        report.trials[-1] | {"score": 1e-9}, True
    )
    _native.follow_stored_choices(True)
    result, [after] = _native.record_array_decisions(lambda: a.sum(axis=0))
    assert after.current == report.trials[-1]["config"] and after.rule == before[0].rule
    np.testing.assert_allclose(result.get(), expected.get(), rtol=1e-5)
    _native.follow_stored_choices(False)
    assert _native.record_array_decisions(lambda: a.sum(axis=0))[1][0].current == before[0].rule
    wrong = before[0].rule | {"threads": 77}
    with pytest.raises(ValueError, match=r"reduce.partition: .*77.* has a value that is no candidate"):
        before[0].force(wrong, lambda: a.sum(axis=0))


def test_a_wrong_result_of_a_choice_is_never_taken(context):
    a = xp.ones((64, 500), "float32")
    reports = tune.builtin(lambda: a.sum(axis=0), budget="4 evaluations", verify=[np.zeros(500)], progress=False)
    [report] = reports.values()
    assert report.best is None and len(report.trials) == 4
    assert {trial["failure"][0] for trial in report.trials} == {"correctness"}


def test_what_a_route_leads_to_is_tuned_before_the_route(context):
    a, b = xp.ones((6, 6), "float32"), xp.ones((2000, 6, 5), "float32")
    reports = tune.builtin(lambda: xp.einsum("ij,ejf->eif", a, b), budget="1 evaluations", progress=False)
    _native.follow_stored_choices(False)
    assert [name.partition("(")[0] for name in reports] == ["einsum.block", "einsum.route"]


def test_spaces_and_results_are_read_and_written_in_common_formats(context, tmp_path):
    space = tune.Space(bx=[32, 16, 64], by=[1, 2]).require("bx * by <= 64")
    space.to_t1(tmp_path / "t1.json", kernel={"KernelName": "scale", "Language": "CUDA"})
    again, kernel, other = tune.Space.from_t1(tmp_path / "t1.json")
    assert len(again.configurations()) == len(space.configurations()) == 5
    assert (again.default, kernel["KernelName"], other) == (space.default, "scale", {})
    (tmp_path / "wrong.json").write_text('{"General": {}}')
    with pytest.raises(ValueError, match="T1 file: no ConfigurationSpace"):
        tune.Space.from_t1(tmp_path / "wrong.json")

    kernel = smooth_kernel()
    out, image, _ = arrays()
    report = kernel.tune(out, image, 150, 70, budget="3 evaluations", progress=False)
    count = tune.store().export_t4(tmp_path / "t4.json", "smooth")
    file = json.loads((tmp_path / "t4.json").read_text())
    assert file["schema_version"] == "1.0.0" and count == len(file["results"]) >= len(report.trials)
    assert {result["invalidity"] for result in file["results"]} == {"correct"}
    with pytest.raises(ValueError, match="name is 'nobody'; 0 kernels"):
        tune.store().export_t4(tmp_path / "t4.json", "nobody")


@pytest.mark.parametrize("until", ["banana", "95 % of foo", "110 % of roofline", 0, 1.5])
def test_an_end_that_cannot_be_is_refused(until):
    with pytest.raises(ValueError, match=r"until is .*; expected such as '95 % of roofline'"):
        tune.search(tune.Space(x=[1, 2]), lambda x: x, until=until, progress=False)


@pytest.mark.parametrize("budget", ["0 s", "0 evaluations", "1.5 evaluations"])
def test_a_budget_of_nothing_is_refused(budget):
    with pytest.raises(ValueError, match="expected such as"):
        tune.search(tune.Space(x=[1, 2]), lambda x: x, budget=budget, progress=False)


def test_progress_into_a_file_is_plain_lines(capsys):
    tune.search(tune.Space(x=range(9)), lambda x: x, budget="9 evaluations", progress=True)
    told = capsys.readouterr().err
    assert told.startswith("9 tried, 0 failed, best ") and told.endswith("\n")
    assert "\r" not in told and "\x1b" not in told
