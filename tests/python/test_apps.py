"""The applications: each checks itself, at its small size, and refuses what it cannot mean."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from depth import ALL, at_depth
from subprocesses import QUICK

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.parent.name for path in ROOT.glob("apps/*/__main__.py"))

#: How many random schedules an application is run on.
SCHEDULES = at_depth(4, 10)

sys.path.insert(0, str(ROOT))


def run_app(name, *options, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", f"apps.{name}", *options],
        cwd=ROOT, env={**os.environ, **QUICK, **environment}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_check_is_silent(name, on_virtual_device):
    # Some compare several devices with one.
    several = {"entropy": "2", "dg": "4"}.get(name)
    devices = {"RTCG_VIRTUAL_DEVICES": several} if on_virtual_device and several else {}
    done = run_app(name, "--check", **devices)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.skipif(not ALL, reason="checked mode is slow: make test-all")
@pytest.mark.parametrize("name", NAMES)
def test_checked_mode_finds_nothing(name, on_virtual_device):
    if not on_virtual_device:
        pytest.skip("checks are those of the virtual GPU")
    done = run_app(name, "--check", RTCG_CHECK="memory,init,race,fatal")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.skipif(not ALL, reason="searches take a minute: make test-all")
@pytest.mark.parametrize("name", NAMES)
def test_benchmark_and_picture(name, tmp_path):
    pytest.importorskip("matplotlib")
    rows, picture = tmp_path / "rows.json", tmp_path / "picture.png"
    options = ["--bench", "--budget", "2 evaluations", "--json", str(rows), "--plot", str(picture)]
    done = run_app(name, *options, RTCG_TUNING_DIR=str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"name", "rate", "error"} <= set(json.loads(rows.read_text())[0]) and picture.stat().st_size > 10_000
    assert "Error" not in done.stdout.replace("AstraError", ""), done.stdout


@pytest.mark.parametrize("name", NAMES)
def test_files_of_the_contract(name):
    folder = ROOT / "apps" / name
    assert (folder / "README.md").is_file() and (folder / "reference.py").is_file()
    assert len((folder / "__main__.py").read_text().splitlines()) <= 300
    assert f"apps.{name}" in (ROOT / "docs" / "applications.md").read_text()


def test_the_command_line_wants_something_to_do():
    done = run_app("recurrence")
    assert done.returncode == 2 and "give --check, --bench or --plot FILE" in done.stderr
    done = run_app("recurrence", "--plot", "nowhere/picture.png")
    assert done.returncode == 2 and "there is no folder nowhere" in done.stderr
    done = run_app("recurrence", "--check", "--json", "rows.json")
    assert done.returncode == 2 and "--json needs --bench" in done.stderr
    done = run_app("recurrence", "--bench", "--budget", "abc")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert 'argument --budget: budget is "abc"; expected such as "20 s"' in done.stderr


def test_a_picture_needs_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('not here')\n")
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = run_app("recurrence", "--plot", "picture.png", PYTHONPATH=paths)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].endswith("error: --plot needs Matplotlib: pip install matplotlib")


def test_the_ending_of_a_picture_is_checked_first(tmp_path):
    pytest.importorskip("matplotlib")
    done = run_app("recurrence", "--plot", str(tmp_path / "x.foo"))
    assert done.returncode == 2 and "the ending is 'foo'; expected one of" in done.stderr and "png" in done.stderr


def test_checks_say_what_differs(capsys):
    from apps._harness import Checks

    checks = Checks()
    checks.equal("squares", [1, 4, 8], [1, 4, 9])
    checks.close("root", 1.5, 2**0.5, rtol=1e-3)
    checks.equal("shape", [1, 2], [1, 2, 3])
    checks.equal("same", [np.nan, 1], [np.nan, 1])
    assert checks.report() == 1
    squares, root, shape = capsys.readouterr().out.splitlines()
    assert squares == "squares: 1 of 3 differ, first at [2]: 8; expected 9"
    assert root.startswith("root: 1.5 at []; expected 1.414")
    assert shape == "shape: shape (2,); expected (3,)"
    assert Checks().report() == 1, "a check that compares nothing fails"


def test_peers_that_are_missing_or_fail_do_not_end_a_table(capsys, context):
    from apps._harness import Table

    def missing():
        import no_such_peer  # noqa: F401

    def failing():
        raise RuntimeError("no device\nmore")

    table = Table("a title", "Gpairs/s", 10.0, "a limit")
    table.row("missing", 1, missing, on_device=False)
    table.row("failing", 1, failing)
    assert table.row("ours", 1, lambda: 3.0, lambda found: found - 3) == 3.0
    table.published("theirs", 511, "H200", 87)
    out = capsys.readouterr().out
    assert "not installed (no_such_peer)" in out and "RuntimeError: no device" in out
    assert "511" in out and "published, H200" in out
    row, published = table.rows
    assert published == {"name": "theirs", "rate": 511, "error": 87, "published_for": "H200"}
    assert row["error"] == 0 and row["of_limit"] == pytest.approx(row["rate"] / 10)


def test_first_calls_are_never_the_ones_that_are_timed(capsys, context, monkeypatch):
    """What compiles in its first call has the rate of its second one, or none."""
    from apps import _harness

    seconds = iter([0.05, 0.0, 0.05])
    monkeypatch.setattr(_harness, "LONGEST_FIRST_CALL", 1.0)
    table = _harness.Table("a title", "Gpairs/s")
    table.row("compiled", 1, lambda: time.sleep(next(seconds)), on_device=False, rounds=1)
    assert table.rows[0]["first_s"] >= 0.05 > table.rows[0]["wall_s"]
    monkeypatch.setattr(_harness, "LONGEST_FIRST_CALL", 0.01)
    table.row("slow", 1, lambda: time.sleep(next(seconds)), on_device=False)
    assert (
        len(table.rows) == 1
        and "slow                             not timed: its first call took 0 s" in capsys.readouterr().out
    )


RECURRENCE_ERRORS = [
    (dict(dimension=0), [1.0], "dimension is 0; expected an integer of at least 1"),
    (dict(delay=1.5), [1.0], "delay is 1.5"),
    (dict(radius=float("nan")), [1.0], "radius is nan; expected a number from 1e-18 to 1e18"),
    (dict(norm="l2"), [1.0], "norm is 'l2'; expected one of max, manhattan, euclidean"),
    (dict(dimension=3, delay=600), [1.0], r"\(dimension - 1\) \* delay is 1200; expected at most 1024"),
    ({}, [], "series has 0 numbers, 0 points; expected 1 to 4194304 points with dimension=3, delay=1"),
    ({}, [1.0, 2.0], "series has 2 numbers, 0 points"),
    ({}, [1.0, np.nan, 2.0, 3.0], r"series\[1\] is nan; expected finite numbers"),
    ({}, [1.0, 2.0, 1e39, 3.0], r"series\[2\] is 1e\+39; expected finite numbers of float32"),
    (dict(radius="a"), [1.0], "radius is 'a'"),
    ({}, [[1.0, 2.0]], r"series has shape \(1, 2\) and dtype float64; expected real numbers on one axis"),
    ({}, [1j, 2j, 3j], "dtype complex128; expected real numbers"),
]


@pytest.mark.parametrize("options, series, message", RECURRENCE_ERRORS)
def test_recurrence_refuses(options, series, message, context):
    from apps.recurrence.analysis import Embedding, recurrence

    with pytest.raises(ValueError, match=message):
        recurrence(series, Embedding(**options))


def test_recurrence_of_a_point_and_of_other_series(context):
    from apps.recurrence.analysis import Embedding, joint_recurrence, recurrence

    alone = recurrence([5.0], Embedding(1), theiler=0)
    assert alone.measures()["recurrence rate"] == 1 and alone.diagonal.tolist() == [0, 1]
    assert np.isnan(recurrence([5.0], Embedding(1)).measures()["determinism"]), "no recurrence, no share of them"
    with pytest.raises(ValueError, match="theiler is -1; expected an integer of at least 0"):
        recurrence([5.0], Embedding(1), theiler=-1)
    with pytest.raises(ValueError, match='parameter "tile" is 0; expected one of 512, 256, 1024'):
        recurrence([5.0], Embedding(1), tile=0)
    with pytest.raises(ValueError, match="x has 4 numbers, y 3; expected as many"):
        joint_recurrence(np.arange(4), np.arange(3), Embedding(1), Embedding(1))
    assert joint_recurrence(np.arange(4), np.arange(4), Embedding(1), Embedding(4), theiler=0).shape == (1, 1)


def test_recurrence_does_not_depend_on_the_schedule(on_virtual_device, context):
    from apps.recurrence.analysis import recurrence
    from rtcg import checking

    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    x = np.sin(np.arange(700) ** 1.5 * 0.01).astype(np.float32)
    first = recurrence(x)
    try:
        for seed in range(SCHEDULES):
            checking.set_schedule(f"chaos:{seed}")
            again = recurrence(x)
            for kind in ("diagonal", "vertical", "white"):
                np.testing.assert_array_equal(getattr(again, kind), getattr(first, kind))
    finally:
        checking.set_schedule("normal")


def backprojection(pulses=9, bins=None, grid=(7, 5), data=None, method="fixed", **config):
    """A small image of radar, or of other pulses that are given."""
    from apps.backprojection.sar import Grid, Radar, backproject, simulate

    radar, grid = Radar(), Grid(*grid)
    positions = radar.track(9)
    if data is None:
        data = simulate(radar, positions[:pulses], bins or grid.bins(radar), [[0.1, 0.2]], [1])
    return backproject(radar, data, positions, grid, method, **config)


BACKPROJECTION_ERRORS = [
    (dict(pulses=8), r"data have shape \(8, 44\) and dtype complex64; expected complex64 of shape \(9, bins\)"),
    (dict(data=np.zeros((9, 50))), r"shape \(9, 50\) and dtype float64"),
    (dict(data=[1, 2]), "data have shape None and dtype list"),
    (dict(bins=43), "pulses have 43 bins; expected at least 44, to reach pixels 0.7 m from the origin"),
    (dict(grid=(0, 5)), "width is 0; expected an integer from 1 to 65536"),
    (dict(grid=(5, 5, 0.0)), "dx is 0.0; expected a finite number above 0"),
    (dict(method="half"), "method is 'half'; expected one of double, mixed"),
    (dict(fetch="constant"), "fetch is 'constant'; expected one of global, shared"),
    (dict(phase="slow"), "phase is 'slow'; expected one of fast, exact, table"),
    (dict(tile=3), "'tile'"),
]


@pytest.mark.parametrize("options, message", BACKPROJECTION_ERRORS)
def test_backprojection_refuses(options, message, context):
    with pytest.raises(ValueError, match=message):
        backprojection(**options)


def test_simulated_pulses_refuse_scenes_that_are_none(context):
    from apps.backprojection.sar import Radar, simulate

    radar = Radar()
    positions = radar.track(3)
    for targets, amplitudes, message in [
        (np.zeros((0, 2)), [], r"targets have shape \(0, 2\); expected \(targets, 2\) with at least one target"),
        ([[1, 2, 3]], [1], r"targets have shape \(1, 3\)"),
        ([[1, 2]], [1, 2], r"amplitudes have shape \(2,\); expected \(1,\), one for each target"),
        ([[1, np.nan]], [1], r"targets\[0, 1\] is nan; expected finite numbers"),
        ([[1, 2]], [np.inf], r"amplitudes\[0\] is \(?inf"),
    ]:
        with pytest.raises(ValueError, match=message):
            simulate(radar, positions, 64, targets, amplitudes)
    with pytest.raises(ValueError, match=r"positions have shape \(0, 3\); expected \(pulses, 3\) with at least one"):
        simulate(radar, positions[:0], 64, [[1, 2]], [1])
    with pytest.raises(ValueError, match="bins is 0; expected an integer of at least 2"):
        simulate(radar, positions, 0, [[1, 2]], [1])
    with pytest.raises(ValueError, match="carrier is -1; expected a finite number above 0"):
        Radar(carrier=-1)


def test_backprojection_of_a_pixel_and_of_nan(context):
    assert backprojection(grid=(1, 1)).shape == (1, 1)
    data = np.ones((9, 50), np.complex64)
    data[3, 25] = np.nan
    image = backprojection(data=data).get()
    assert np.isnan(image).any() and np.isfinite(image).any(), "only pixels at the range of the missing sample"


def test_backprojection_does_not_depend_on_the_schedule(on_virtual_device, context):
    from rtcg import checking

    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    config = dict(grid=(41, 35), fetch="slopes", phase="table", bx=32, by=2, items=4, stage=4)
    first = backprojection(**config).get()
    try:
        for seed in range(SCHEDULES):
            checking.set_schedule(f"chaos:{seed}")
            np.testing.assert_array_equal(backprojection(**config).get(), first)
    finally:
        checking.set_schedule("normal")


TOMOGRAPHY_ERRORS = [
    (dict(angles=[]), r"angles have shape \(0,\); expected one axis with at least one view"),
    (dict(angles=[0, np.inf]), r"angles\[1\] is inf; expected finite numbers"),
    (dict(detectors=0), "detectors is 0; expected an integer from 1 to 32768"),
    (dict(shape=(3, 0)), "width is 0; expected an integer from 1"),
    (dict(axis=(9, 1)), r"axis is \(9.0, 1.0\), center 4.5; expected a pixel of the image and a bin of the detector"),
    (dict(center=np.nan), "center nan; expected"),
    (dict(sinogram=np.ones((2, 9))), r"sinogram has shape \(2, 9\) and dtype float64; expected .* shape \(2, 10\)"),
    (dict(sinogram=np.ones((2, 10), complex)), "dtype complex128; expected real numbers"),
    (dict(sinogram=[1.0]), "sinogram has shape None and dtype list"),
    (dict(fetch="linear"), "fetch is 'linear'; expected one of slopes, shared"),
    (dict(tile=3), "'tile' is no parameter of kernel 'backproject'; expected some of bx, by"),
]


def tomography(angles=(0.0, 1.0), detectors=10, shape=(4, 5), axis=None, center=None, sinogram=None, **config):
    """A small image of two views."""
    from apps.tomography.tomography import Scanner

    scanner = Scanner(angles, detectors, shape, axis, center)
    return scanner.reconstruct(np.ones((2, 10), np.float32) if sinogram is None else sinogram, **config)


@pytest.mark.parametrize("options, message", TOMOGRAPHY_ERRORS)
def test_tomography_refuses(options, message, context):
    with pytest.raises(ValueError, match=message):
        tomography(**options)


def test_tomography_of_a_pixel_and_of_nan(context):
    image = tomography(angles=[0.3], detectors=1, shape=(1, 1), sinogram=np.array([[4]]))
    assert image.get()[0, 0] == pytest.approx(np.pi), "a quarter of the value, times pi"
    sinogram = np.ones((2, 10), np.float32)
    sinogram[1, 3] = np.nan
    assert np.isnan(tomography(sinogram=sinogram).get()).all()


@pytest.mark.parametrize("fetch", ["slopes", "filtered"])
def test_tomography_does_not_depend_on_the_schedule(fetch, on_virtual_device, context):
    from rtcg import checking

    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    angles = np.arange(23) * (np.pi / 23)
    options = dict(angles=angles, detectors=40, shape=(35, 41), fetch=fetch, bx=32, by=2, items=4, stage=8)
    options["sinogram"] = np.random.default_rng(2).random((23, 40), np.float32)
    first = tomography(**options).get()
    try:
        for seed in range(SCHEDULES):
            checking.set_schedule(f"chaos:{seed}")
            np.testing.assert_array_equal(tomography(**options).get(), first)
    finally:
        checking.set_schedule("normal")


FILTERBANK_ERRORS = [
    (dict(shape=(9, 9)), r"shape is \(9, 9\), filters have shape \(2, 3, 3, 4\); expected \(rows, columns, channels\)"),
    (dict(shape=(9, 9, 3)), r"shape is \(9, 9, 3\), filters have shape"),
    (dict(shape=(2, 9, 4)), "filters are 3 x 3; expected 1 x 1 to 2 x 9"),
    (dict(x=np.ones((9, 8, 4), np.float32)), r"x has shape \(9, 8, 4\) and dtype float32; expected \(9, 9, 4\)"),
    (dict(half=True), "dtype float32; expected .* float16"),
    (dict(tile=3), "'tile'"),
]


def filter_bank(shape=(9, 9, 4), x=None, half=False, **config):
    """A small bank of two filters."""
    import rtcg.numpy as xp
    from apps.filterbank.bank import Bank, made

    image, filters = made((9, 9, 4), (2, 3, 3, 4))
    return Bank(shape, filters, half=half)(xp.asarray(image if x is None else x), **config)


@pytest.mark.parametrize("options, message", FILTERBANK_ERRORS)
def test_filter_bank_refuses(options, message, context):
    with pytest.raises(ValueError, match=message):
        filter_bank(**options)


def test_filter_bank_does_not_depend_on_the_schedule(on_virtual_device, context):
    from rtcg import checking

    if not on_virtual_device:
        pytest.skip("schedules are those of the virtual GPU")
    config = dict(bx=8, by=4, taps="shared", stages=3, channels=1)
    first = filter_bank(**config).get()
    try:
        for seed in range(SCHEDULES):
            checking.set_schedule(f"chaos:{seed}")
            np.testing.assert_array_equal(filter_bank(**config).get(), first)
    finally:
        checking.set_schedule("normal")


def test_screening_that_is_interrupted_keeps_what_is_done(context, capsys, monkeypatch):
    from apps.filterbank import screening

    def judge(seed, images, labels, bank):
        if seed == 2:
            raise KeyboardInterrupt
        return seed / 10

    monkeypatch.setattr(screening, "judge", judge)
    scores, _ = screening.screen(5, None, None, 1)
    assert scores == {1: 0.1, 0: 0.0}, "best first"
    assert "interrupted after 2 of 5 models" in capsys.readouterr().out


def test_models_that_are_drawn_have_52_parameters_and_fit():
    from apps.filterbank import screening

    def count(value):
        return (
            sum(map(count, value.values()))
            if isinstance(value, dict)
            else len(value)
            if isinstance(value, tuple)
            else 1
        )

    for seed in range(20):
        drawn = screening.draw(seed)
        layers = drawn["layers"]
        assert sum(map(count, [drawn["input"], *layers])) == 52 and drawn == screening.draw(seed)
        fitted, banks = screening.fitted(drawn)
        assert [bank.shape[0] for bank in banks] == [layer["filters"] for layer in layers]
        assert all(np.isfinite(bank).all() for bank in banks)
        assert all(layer["height"] >= bank.shape[1] for layer, bank in zip(layers, banks, strict=True)), fitted


def test_entropy_refuses_points_that_are_equal_and_too_many_patches():
    from apps.entropy import estimate, images

    with pytest.raises(ValueError, match="2 distances are 0; expected points of a continuous distribution"):
        estimate.entropy(np.array([0.0, 1.0, 0.0]), 10, 2)
    with pytest.raises(ValueError, match=r"counts are \[10, 10\]; expected at most 16 patches in all"):
        images.patches([np.zeros((6, 6), np.float32)], 3, [10, 10], 1)


def test_images_of_any_size_become_patches_without_a_mean():
    from apps.entropy import images

    image = images.dead_leaves(17, 3)[:, :12]
    basis = images.basis(3)
    np.testing.assert_allclose(basis.T @ basis, np.eye(8), atol=1e-6)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-6)
    one, others = images.patches([image.astype(np.float32)], 3, [1, 149], 1)
    assert one.shape == (1, 8) and len(np.unique(np.concatenate([one, others]), axis=0)) > 100
    noise = images.spectrum_matched(image, 1)
    spectra = [np.abs(np.fft.rfft2(x - x.mean()))[1:-1, 1:-1] for x in (images.standardized(image), noise)]
    assert noise.shape == image.shape and np.corrcoef(*(x.ravel() for x in spectra))[0, 1] > 0.99
