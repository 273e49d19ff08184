"""What is tuned: nested parts, trees, T1 files; checked candidates; known configurations measured anew."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import cgen as c, tune
from rtcg.cgen import cuda
from rtcg.cgen.transform import parameters, split, stage, unroll
from rtcg.compiler import CompileError, SourceModule

needs_processes = pytest.mark.skipif(os.name != "posix", reason="workers are made on POSIX systems only")


@pytest.fixture(autouse=True)
def _results(tmp_path, monkeypatch):
    """Every test has a folder of results of its own."""
    monkeypatch.setenv("RTCG_TUNING_DIR", str(tmp_path / "results"))


SCALE = """
__global__ void scale(float *out, const float *in, int n)
{
#if broken
  this does not compile;
#endif
  for (int i = blockIdx.x * bx + threadIdx.x; i < n; i += gridDim.x * bx) out[i] = 2 * in[i];
}
"""


def scale_kernel(bx=(32, 64, 128), broken=(0,), name="scale", **more):
    return tune.Kernel(
        SCALE.replace("scale", name), name, tune.Space(bx=bx, broken=broken), block="bx", grid="ceil_div(n, bx)",
        problem=("n",), **more,
    )  # fmt: skip


def scale_arrays(n=1000):
    x = xp.asarray(np.arange(n, dtype=np.float32))
    return xp.zeros_like(x), x


def twice(out, x, n):
    return 2 * x


# -- Nested targets -----------------------------------------------------------------------------

SUM_OF = """
__global__ void {name}(float *out, const float *in, int n)
{{
  for (int i = blockIdx.x * bx + threadIdx.x; i < n; i += gridDim.x * bx) out[i] = in[{index}] + {more};
}}
"""


def part_kernel(name, index, more=0):
    return tune.Kernel(
        SUM_OF.format(name=name, index=index, more=more), name, tune.Space(bx=[32, 64]), block="bx",
        grid="ceil_div(n, bx)", problem=("n",),
    )  # fmt: skip


def test_parts_are_tuned_for_each_outer_choice_and_those_that_do_not_depend_on_it_once(context):
    out, x = scale_arrays()
    shared = part_kernel("flux", "i")

    def parts(layout):
        index = {"rows": "i", "columns": "(i * 37) % n"}[layout]
        return {
            "volume": tune.Part(part_kernel("volume", index), out, x, n=1000),
            "flux": tune.Part(shared, out, x, n=1000, verify=lambda out, x, n: x),
        }

    report = tune.nested(tune.Space(layout=["rows", "columns"]), parts, budget="60 s", progress=False)
    assert report.n_part_searches == 3, "flux once, volume for each layout"
    assert report.stopped_by == "exhausted" and len(report.trials) <= 2
    assert set(report.parts) == {"volume", "flux"} and all(set(best) == {"bx"} for best in report.parts.values())
    best = report.part_reports
    assert report.best_score == pytest.approx(sum(part.best_score for part in best.values()))
    assert f"flux: bx={report.parts['flux']['bx']}" in str(report)
    explained = shared.explain(out, x, n=1000)
    assert "measured on this device for this problem" in explained, "what is found is in the store"
    again = tune.nested(tune.Space(layout=["rows"]), parts, budget="60 s", progress=False)
    assert again.part_reports["flux"].promised is not None, "what the store knows is refreshed"


def test_a_seed_decides_the_order_and_progress_is_shown(context, capsys):
    x = xp.ones(64, np.float32)

    def tried(seed):
        inner = []

        def part(n):
            inner.append(n)
            return x.sum()

        parts = lambda outer: {"sum": tune.Part(part, space=tune.Space(n=list(range(9))), key=outer)}  # noqa: E731
        report = tune.nested(
            tune.Space(outer=list(range(9))), parts, part_budget="4 evaluations", strategy="random", seed=seed,
            combine=lambda sum: sum, progress=True,
        )  # fmt: skip
        assert report.stopped_by == "exhausted"
        # Repetitions depend on noise, the order does not.
        return [trial["config"]["outer"] for trial in report.trials], list(dict.fromkeys(inner))

    assert tried(1) == tried(1) != tried(2)
    assert "9 tried, 0 failed, best " in capsys.readouterr().err


def test_scores_of_parts_are_combined_as_asked(context):
    x = xp.ones((64, 64), np.float32)
    seen = []

    def combine(sum, product):
        seen.append((sum, product))
        return 3 * sum + product

    def parts(order):
        space = tune.Space(rows=[64, 32])
        return {
            "sum": tune.Part(lambda rows: x.reshape(rows, -1).sum(), space=space, key="sum"),
            "product": tune.Part(lambda rows: x.reshape(rows, -1).prod(), space=space, key=order),
        }

    report = tune.nested(
        tune.Space(order=["C", "F"]), parts, budget="20 s", part_budget="2 evaluations", combine=combine,
        progress=False,
    )  # fmt: skip
    assert [trial["score"] for trial in report.trials] == [3 * sum + product for sum, product in seen]
    assert len(seen) == 2 and seen[0][0] == seen[1][0], "the sum has one key"
    assert report.n_part_searches == 3


def test_what_cannot_win_is_given_up_and_a_part_that_fails_is_named(context):
    def parts(work):
        x = xp.ones(200_000 if work == "heavy" else 16, np.float32)

        def slow(n):
            for _ in range(n * {"light": 5, "heavy": 100, "failing": 1}[work]):
                x.sum()

        def second(n):
            calls.append(work)
            if work == "failing":
                raise ArithmeticError("second fails")
            return x.max()

        space = tune.Space(n=[1])
        return {"first": tune.Part(slow, space=space, key=work), "second": tune.Part(second, space=space, key=work)}

    calls = []
    space = tune.Space(work=["light", "heavy", "failing"])
    report = tune.nested(space, parts, budget="60 s", strategy="exhaustive", progress=False)
    assert report.best == {"work": "light"} and "heavy" not in calls
    [(config, message)] = report.failures["skipped"]
    assert config == {"work": "heavy"} and message.startswith("first take ")
    [(config, message)] = report.failures["runtime"]
    assert config == {"work": "failing"} and "ArithmeticError: second fails" in message


def test_the_whole_work_is_timed_with_tuned_parts(context):
    out, x = scale_arrays()
    kernel = scale_kernel()
    tuned_parts = []

    def run(tuned, layout):
        tuned_parts.append(tuned["scale"])
        kernel(out, x, n=1000)
        return out

    parts = lambda layout: {"scale": tune.Part(kernel, out, x, n=1000, verify=twice)}  # noqa: E731
    report = tune.nested(
        tune.Space(layout=["C", "F"]), parts, run=run, verify=2 * np.arange(1000, dtype=np.float32), budget="30 s",
        progress=False,
    )  # fmt: skip
    assert not report.failures and report.n_part_searches == 1
    assert all(config == report.parts["scale"] for config in tuned_parts)
    wrong = tune.nested(tune.Space(layout=["C"]), parts, run=run, verify=x.get(), budget="30 s", progress=False)
    assert wrong.best is None and list(wrong.failures) == ["correctness"] and wrong.parts == {}


def test_nested_budgets_and_mistakes(context):
    x = xp.ones(100, np.float32)
    evaluated = []

    def part(n):
        evaluated.append(n)
        return x.sum()

    def parts(outer):
        return {"sum": tune.Part(part, space=tune.Space(n=list(range(50))), key=outer)}

    report = tune.nested(tune.Space(outer=[1, 2, 3]), parts, budget="12 evaluations", progress=False)
    assert [len(tuned.trials) for tuned in report.part_reports.values()] == [4]
    assert report.n_part_searches == 3
    spent = tune.nested(
        tune.Space(outer=[1, 2, 3]), parts, budget="2 evaluations", part_budget="2 evaluations", progress=False
    )
    assert len(spent.failures["skipped"]) == 2 and spent.best == {"outer": 1}
    # Work that no device could do in the time: the first outer choice is near enough to the limit.
    limited = tune.nested(
        tune.Space(outer=[1, 2, 3]), parts, part_budget="1 evaluations", bytes=1 << 50, until="95 % of roofline",
        progress=False,
    )  # fmt: skip
    assert limited.stopped_by == "limit" and len(limited.trials) == 1
    with pytest.raises(TypeError, match="expected a dictionary of rtcg.tune.Part"):
        tune.nested(tune.Space(outer=[1]), lambda outer: {"sum": part}, progress=False)
    with pytest.raises(TypeError, match="combine and run are both given"):
        tune.nested(tune.Space(outer=[1]), parts, combine=lambda sum: sum, run=lambda tuned, outer: None)
    with pytest.raises(ValueError, match="part_budget is .soon."):
        tune.nested(tune.Space(outer=[1]), parts, part_budget="soon", progress=False)


@pytest.mark.skipif(os.name != "posix", reason="the test sends SIGINT")
def test_an_interrupt_keeps_the_best_outer_choice_so_far(tmp_path):
    program = """
        import os, signal
        import rtcg.autoinit, rtcg.numpy as xp
        from rtcg import tune
        x = xp.ones(1000, "float32")
        def parts(outer):
            def part(n):
                if outer == 2 and n == 2:
                    os.kill(os.getpid(), signal.SIGINT)
                return x.sum()
            return {"sum": tune.Part(part, space=tune.Space(n=[1, 2, 3]), key=outer)}
        report = tune.nested(tune.Space(outer=[1, 2, 3]), parts, budget="60 s", strategy="exhaustive", progress=False)
        print(report.stopped_by, report.best, sorted(report.parts))
    """
    environment = {**os.environ, "RTCG_TUNING_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.stdout == "interrupted {'outer': 1} ['sum']\n", done.stdout + done.stderr


# -- Checked candidates ---------------------------------------------------------------------------

# Without the barrier threads read what others may not have written; reverse=2 reads past the end.
REVERSE = """
__global__ void reverse(float *out, const float *in, int n)
{
  __shared__ float tile[bx];
  const int i = blockIdx.x * bx + threadIdx.x;
  tile[threadIdx.x] = in[how == 2 && i == n - 1 ? n : i];
#if how != 1
  __syncthreads();
#endif
  const float value = tile[bx - 1 - threadIdx.x];
  out[i] = how == 2 && i == n - bx ? in[n - 1] : value;
}
"""


def reverse_kernel(**more):
    space = tune.Space(bx=[64], how=[0, 1, 2, 3])
    return tune.Kernel(REVERSE, "reverse", space, block="bx", grid="n // bx", problem=("n",), **more)


def reversed_blocks(out, x, n):
    return x.reshape(-1, 64)[:, ::-1].ravel()


def findings_of(report):
    return {config["how"]: message for config, message in report.failures.get("correctness", ())}


@needs_processes
@pytest.mark.parametrize("candidates", ["all", "finalists"])
def test_candidates_with_findings_are_invalid_and_never_chosen(context, candidates):
    kernel = reverse_kernel()
    out, x = scale_arrays(256)
    # On the virtual GPU a missing barrier gives wrong results too; here only the checks may tell.
    report = kernel.tune(
        out, x, n=256, check="memory,race", check_candidates=candidates, budget="60 s", strategy="exhaustive",
        rtol=1e30, atol=1e30, progress=False, isolate=False,
    )  # fmt: skip
    found = findings_of(report)
    assert set(found) == {1, 2} and report.best["how"] in (0, 3)
    assert "race" in found[1] and "reverse:1" in found[1].replace("line ", "reverse:"), found[1]
    assert "right past the end" in found[2] and "out-of-bounds" in found[2], found[2]
    explained = kernel.explain(out, x, n=256)
    assert f"how={report.best['how']}" in explained
    results = {row["config"]["how"]: row["failure"] for row in tune.store().results("reverse")}
    assert results[1][0] == results[2][0] == "correctness"


@needs_processes
def test_a_default_with_findings_is_no_reference(context):
    kernel = reverse_kernel(default={"how": 1})
    out, x = scale_arrays(256)
    options = {"n": 256, "check": "race", "budget": "60 s", "strategy": "exhaustive", "progress": False}
    with pytest.raises(tune.CandidateError, match="the default configuration has a finding.*give verify="):
        kernel.tune(out, x, **options)
    report = kernel.tune(out, x, verify=reversed_blocks, rtol=1e30, atol=1e30, **options)
    assert set(findings_of(report)) == {1} and report.best["how"] != 1


@needs_processes
def test_checks_have_arguments_of_their_own(context):
    kernel = reverse_kernel()
    n = 1 << 19
    out, x = scale_arrays(n)
    options = {"n": n, "verify": reversed_blocks, "strategy": "exhaustive", "progress": False, "budget": "100 s"}
    with pytest.raises(ValueError, match=r"'out' 2097152\), expected at most 1048576. .* check_arguments="):
        kernel.tune(out, x, check="memory", **options)
    small_out, small = scale_arrays(128)
    small_arguments = {"out": small_out, "in": small, "n": np.int32(128)}
    report = kernel.tune(out, x, check="memory", check_arguments=small_arguments, **options)
    assert 2 in findings_of(report) and "out-of-bounds" in findings_of(report)[2]
    assert (small_out.get() == 0).all(), "checks work on copies"


def test_what_checks_cannot_be_is_refused(context):
    kernel = reverse_kernel()
    out, x = scale_arrays(64)
    for options, error, message in [
        ({"check": "speed"}, ValueError, "check is 'speed'; expected 'all', or names of memory, init, race, sync"),
        ({"check": True}, TypeError, "check is True"),
        ({"check": "race", "check_candidates": "some"}, ValueError, "check_candidates is 'some'"),
        ({"check": "race", "check_arguments": (out,)}, TypeError, "arguments 'in', 'n' are missing"),
    ]:
        with pytest.raises(error, match=message):
            kernel.tune(out, x, n=64, progress=False, **options)


@needs_processes
def test_the_launch_of_a_plain_function_is_checked(context):
    source = """__global__ void shift(float *x, int n)
    {
      __shared__ float tile[1024];
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      tile[threadIdx.x] = i < n ? x[i] : 0;
      if (blockDim.x <= 64) __syncthreads();
      // A number whatever the race leaves in the tile, NaN too.
      if (i < n) x[i] = tile[(threadIdx.x + 1) % blockDim.x] > 0;
    }"""
    function = SourceModule(source).get_function("shift")
    x = xp.ones(2048, np.float32)
    options = {"size": 2048, "budget": "60 s", "strategy": "exhaustive", "progress": False}
    with pytest.raises(tune.CandidateError, match=r"the default configuration has a finding.*give verify=\. race: "):
        tune.tune(function, x, np.int32(2048), check="race", **options)
    report = tune.tune(
        function, x, np.int32(2048), check="race", verify=[np.ones(2048, np.float32)], rtol=0, atol=1, **options
    )
    assert report.best["bx"] <= 64 and list(report.failures) == ["correctness"]
    failed = {config["bx"]: message for config, message in report.failures["correctness"]}
    assert set(failed) == {96, 128, 192, 256, 384, 512, 768, 1024}
    assert all(message.startswith("race: ") for message in failed.values())
    small = (xp.ones(64, np.float32), np.int32(64), 1)
    with pytest.raises(ValueError, match="check_arguments has 3 arguments; expected 2"):
        tune.tune(function, x, np.int32(2048), check="race", check_arguments=small, **options)


# -- Known configurations measured anew ------------------------------------------------------------


def test_known_configurations_are_measured_and_a_search_follows_only_if_they_disappoint(context):
    kernel = scale_kernel()
    out, x = scale_arrays()
    options = {"verify": twice, "progress": False, "budget": "3 evaluations"}
    first = kernel.refresh(out, x, n=1000, **options)
    assert first.searched and first.promised is None and len(first.trials) == 3, "nothing was known"
    known = len(tune.store().results("scale"))
    # Any time is within a tiny part of the promise.
    again = tune.refresh(kernel, out, x, n=1000, at_least=1e-9, **options)
    assert not again.searched and again.promised == pytest.approx(first.best_score, rel=1e-6)
    assert len(tune.store().results("scale")) > known, "what was measured is stored"
    assert "the strategy has nothing more to try" in str(again) or len(again.trials) == 3
    # Another problem: what is promised is the speedup over the default.
    other_out, other = scale_arrays(1200)
    near = kernel.refresh(other_out, other, n=1200, at_least=1e-9, **options)
    assert not near.searched and near.promised is not None
    assert "measured on this device for this problem" in kernel.explain(other_out, other, n=1200)


def test_a_promise_that_is_not_kept_starts_a_search(context):
    kernel = scale_kernel()
    out, x = scale_arrays()
    options = {"verify": twice, "progress": False, "budget": "3 evaluations"}
    kernel.tune(out, x, n=1000, **options)
    [file] = tune.store().folder.glob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        if "score" in line:
            line["score"] /= 1e6
            line["samples"] = [sample / 1e6 for sample in line.get("samples", [])]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = scale_kernel(store=tune.Store(tune.store().folder)).refresh(out, x, n=1000, **options)
    assert report.searched and report.best_score > report.promised / 0.9
    for wrong in (0, 1.5, True, "half"):
        with pytest.raises(ValueError, match="at_least is"):
            kernel.refresh(out, x, n=1000, at_least=wrong)
    with pytest.raises(TypeError, match="expected rtcg.tune.Kernel"):
        tune.refresh(abs, 1)


# -- Trees ------------------------------------------------------------------------------------------


def tree_of_sum(unrolled=False):
    x, i = c.Var("x", "f4"), c.Var("i", "i4")
    loop = c.For("int i = 0", "i < n", "++i", c.Assign("sum", c.Var("sum", "f4") + x[i]))
    loop = split(loop, "PART", "slab", unroll=unrolled)
    pointers = [c.Const(c.Pointer(c.POD("f4", "x"))), c.Pointer(c.POD("f4", "out")), c.POD("i4", "n")]
    head = cuda.CudaGlobal(c.FunctionDeclaration(c.Value("void", "total"), pointers))
    zero, store = c.Initializer(c.POD("f4", "sum"), "0"), c.Assign(c.Var("out", "f4")[0], "sum")
    return c.Module([c.FunctionBody(head, c.Block([zero, c.If("n > 0", c.Block([loop])), store]))])


def test_parameters_of_a_whole_tree_are_collected():
    x, i = c.Var("x", "f4"), c.Var("i", "i4")
    tile = stage(x, ["TILE"], ["first"])
    assert parameters(tree_of_sum()) == {"PART": [1, 2, 4, 8, 16]}
    loop = unroll(c.For("int i = 0", "i < n", "++i", c.Assign(x[i], "0")), ("PART", [16, 3, 4]))
    assert parameters(c.Block([tile, tree_of_sum(), loop])) == tile.parameters | {"PART": [4, 16]}
    with pytest.raises(ValueError, match=r"'PART' has the values \[1, 2, 4, 8, 16\] and \[3\], with none in common"):
        parameters([tree_of_sum(), unroll(c.For("int i = 0", "i < n", "++i", c.Assign(x[i], "0")), ("PART", [3]))])


def test_spaces_are_joined_with_parameters_from_elsewhere():
    found = parameters(tree_of_sum())
    assert repr(tune.Space(found, bx=[32, 64])) == "Space(bx=[32, 64], PART=[1, 2, 4, 8, 16])"
    assert tune.Space(found, PART=[2, 4]).values("PART") == [2, 4], "what is stated wins"
    joined = tune.Space(bx=[32, 64]).require("bx > 32") + found
    assert joined.default == {"bx": 64, "PART": 1} and joined.constraints == ("bx > 32",)
    assert len(joined.configurations()) == 5
    with pytest.raises(TypeError, match="expected a dictionary of names with values"):
        tune.Space() + 3


@pytest.mark.parametrize("source", ["tree", "function"])
def test_what_a_tree_names_is_tuned_by_itself(context, source):
    made = []

    def build(unrolled):
        made.append(unrolled)
        return tree_of_sum(unrolled)

    space = tune.Space() if source == "tree" else tune.Space(unrolled=[False, True])
    kernel = tune.Kernel(tree_of_sum() if source == "tree" else build, "total", space, block=1, grid=1, problem=("n",))
    assert kernel.default == space.default | {"PART": 1}
    x, out = xp.ones(100, np.float32), xp.zeros(1, np.float32)
    kernel(x, out, 99)
    assert out.get()[0] == 99
    report = kernel.tune(x, out, 99, budget="99 evaluations", verify=[np.array([99])], progress=False)
    assert not report.failures and len(report.trials) == (5 if source == "tree" else 10)
    narrow = tune.Kernel(tree_of_sum(), "total", tune.Space(PART=[4, 2]), block=1, grid=1, default={"PART": 2})
    assert len(narrow.space.configurations()) == 2 and narrow.default == {"PART": 2}


def test_nothing_to_tune_is_refused(context):
    kernel = tune.Kernel("__global__ void one(int *x) { *x = 1; }", "one", tune.Space(), block=1, grid=1)
    x = xp.zeros(1, np.int32)
    with tune.auto(budget="1 evaluations"):
        kernel(x)
    assert x.get()[0] == 1
    with pytest.raises(ValueError, match="the space of kernel 'one' is empty"):
        kernel.tune(x)


# -- T1 files ------------------------------------------------------------------------------------------

T1 = Path(__file__).parent / "t1"


def test_a_t1_file_runs(context):
    benchmark = tune.from_t1(T1 / "stencil.json", problem_size=(96, 40))
    assert benchmark.values == {"size_0": 96, "size_1": 40} and benchmark.budget == "6 evaluations"
    assert benchmark.constants["weights"].tolist() == [0.25, 0.25, 0.25, 0.25, 0.25]
    out, image, ramp, gain = benchmark.arguments[:4]
    assert out.array.size == 96 * 40 and image.array.size == 98 * 42 and gain == np.float32(1.5)
    assert 0 <= image.array.min() < image.array.max() < 4 and ramp.array.tolist() == [2 * i for i in range(96)]
    padded = image.array.reshape(42, 98)
    sides = [padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]]
    expected = sum(np.float32(0.25) * side for side in sides) * np.float32(1.5) + ramp.array
    report = benchmark.tune(verify=expected.ravel(), progress=False)
    assert len(report.trials) == 6 and not report.failures
    benchmark()
    assert np.allclose(out.array.reshape(40, 96), expected, rtol=1e-5)


def test_t1_files_that_cannot_run_are_refused(tmp_path):
    text = (T1 / "stencil.json").read_text()

    def read(*changes):
        changed = text
        for old, new in changes:
            assert old in changed
            changed = changed.replace(old, new)
        (tmp_path / "changed.json").write_text(changed)
        return tune.from_t1(tmp_path / "changed.json", folder=T1)

    for change, message in [
        (('"CUDA"', '"OpenCL"'), "Language is 'OpenCL'; expected 'CUDA'"),
        (
            ('"Type": "float", "MemoryType": "Scalar"', '"Type": "quad", "MemoryType": "Scalar"'),
            "argument 'gain'.*quad",
        ),
        (('"FillType": "Random"', '"FillType": "Script"'), "fill type of argument 'image' is 'Script'"),
        (('"ProblemSize[0]"', '"ProblemSize[7]"'), "the size of argument 'ramp' is"),
        (('"KernelName": "stencil"', '"KernelName": 3'), "KernelName is 3; expected text"),
    ]:
        with pytest.raises(ValueError, match=message):
            read(change)
    with pytest.raises(FileNotFoundError, match="no_such.cu"):
        read(("stencil.cu", "no_such.cu"))
    assert read(('"Generator", "DataSource": "2 * i"', '"Constant", "FillValue": 3')).arguments[2].array.max() == 3


# -- Defaults and references -----------------------------------------------------------------------------


def test_a_default_that_does_not_compile_ends_no_search_that_has_a_reference(context):
    kernel = scale_kernel(bx=(32,), broken=(1, 0))
    out, x = scale_arrays()
    report = kernel.tune(out, x, n=1000, verify=twice, budget="2 evaluations", progress=False)
    assert report.best == {"bx": 32, "broken": 0} and list(report.failures) == ["compile"]
    kernel(out, x, n=1000)
    assert (out.get() == 2 * x.get()).all()
    with pytest.raises(CompileError):
        scale_kernel(bx=(32,), broken=(1, 0), name="unknown").tune(out, x, n=1000, progress=False)


def test_a_reference_of_another_shape_is_one_error(context):
    kernel = scale_kernel()
    out, x = scale_arrays()
    for verify in (np.zeros((1000, 1)), lambda out, x, n: x[:-1]):
        with pytest.raises(ValueError, match=r"verify gives shape .* for argument 'out'; expected \(1000,\)"):
            kernel.tune(out, x, n=1000, verify=verify, progress=False)
    with pytest.raises(ValueError, match=r"verify gives shape \(3,\) for result 0; expected \(\)"):
        tune.tune(lambda n: x.sum(), space=tune.Space(n=[1, 2]), verify=np.zeros(3), progress=False)
    for verify, error, message in [
        (np.zeros(3), ValueError, r"verify gives shape \(3,\) for result 0; expected \(\)"),
        (lambda: [x, x], ValueError, "verify gives 2 results; expected 1"),
        ("right", TypeError, "verify gives 'right' for result 0; expected an array of numbers"),
        (np.array("a"), TypeError, "expected an array of numbers"),
    ]:
        with pytest.raises(error, match=message):
            tune.builtin(lambda: x.sum(), verify=verify, progress=False)
    with pytest.raises(TypeError, match="only is 3; expected names of decisions"):
        tune.builtin(lambda: x.sum(), only=["reduce", 3], progress=False)


# -- The matrix product of the tutorial's exercise ---------------------------------------------------------


def test_a_matrix_product_is_tuned_for_shapes_by_registers_occupancy_and_time(context, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "examples"))
    import tune_matmul

    kernel = tune_matmul.make_kernel()
    for shape in [(33, 70, 41), (130, 5, 64)]:
        report = tune_matmul.tune_shape(kernel, shape, budget="12 evaluations", seed=3, progress=False)
        assert set(report.failures) <= {"skipped", "constraints"}, report.failures
        timed = [trial for trial in report.trials if trial["score"] is not None]
        assert len(timed) >= 4 and all(trial["registers"] > 0 and trial["spill_bytes"] >= 0 for trial in timed)
        best_occupancy = max(trial["occupancy"] for trial in timed)
        assert all(0 < trial["occupancy"] <= 1 for trial in timed) and best_occupancy > 0
        skipped = [message for _, message in report.failures.get("skipped", ())]
        assert all("occupancy is" in message for message in skipped)
        answer = tune_matmul.describe(report)
        function = kernel._variant(report.best)
        threads = report.best["tile"] ** 2
        assert answer["registers"] == function.num_regs and answer["seconds"] == report.best_score > 0
        resident = function.max_active_blocks_per_multiprocessor(threads) * threads
        assert answer["occupancy"] == resident / context.get_device().max_threads_per_multiprocessor
        assert report.fraction_of_limit > 0
        a, b, c = tune_matmul.make_operands(*shape)
        kernel(a, b, c, *shape)
        assert np.allclose(c.get(), tune_matmul.product(a.get(), b.get(), None, *shape), rtol=1e-4)
        assert "measured on this device for this problem" in kernel.explain(a, b, c, *shape)


def test_constant_memory_is_filled_for_each_candidate(context):
    source = """
    __constant__ float weights[2];
    __global__ void blend(float *x) { x[threadIdx.x] = weights[threadIdx.x % 2] * (scale > 0); }"""
    weights = np.array([3, 5], np.float32)
    kernel = tune.Kernel(source, "blend", tune.Space(scale=[1, 2]), block=64, grid=1, constants={"weights": weights})
    x = xp.zeros(64, np.float32)
    kernel(x)
    assert (x.get() == np.tile(weights, 32)).all()
    report = kernel.tune(x, verify=np.tile(weights, 32), check="memory", budget="2 evaluations", progress=False)
    assert not report.failures
    large = tune.Kernel(
        source, "blend", tune.Space(scale=[1]), block=64, grid=1, constants={"weights": np.zeros(3, np.float32)}
    )
    with pytest.raises(tune.CandidateError, match="'weights' has 8 bytes; its contents have 12"):
        large(x)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"LocalSize": None}, "LocalSize is None; expected a dictionary with X"),
        ({"GlobalSizeType": "Foo"}, "GlobalSizeType is 'FOO'; expected CUDA or OpenCL"),
        ({"Arguments": [{"Name": "x", "Type": "float", "MemoryType": "Foo", "Size": 1}]}, "is 'Foo'; expected Scalar"),
    ],
)
def test_t1_files_that_are_not_understood_are_refused(context, tmp_path, change, message):
    folder = Path(__file__).parent / "t1"
    t1 = json.loads((folder / "stencil.json").read_text())
    t1["KernelSpecification"] |= change
    for name in ("GridDivX", "GridDivY", "GridDivZ"):
        t1["KernelSpecification"].pop(name, None)
    (tmp_path / "changed.json").write_text(json.dumps(t1))
    with pytest.raises(ValueError, match=message):
        tune.from_t1(tmp_path / "changed.json", folder=folder)
    with pytest.raises(ValueError, match="problem_size is .*; expected"):
        tune.from_t1(folder / "stencil.json", problem_size=(1, 2, 3, 4))
