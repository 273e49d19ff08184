"""Upstream's programs that generate code, unchanged; ``python tools/upstream_programs.py`` fetches them.

The others are run by ``python tools/upstream_programs.py --run``, a part of ``make upstream``.

The template of the matrix product is not in upstream's source distribution, and its engine (Cheetah) is not used any
more: the program gets a template of ours for Jinja's syntax, with the same parameters.
"""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rtcg.numpy as xp
from rtcg import template, tune
from tools import upstream_programs

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "dist" / "upstream" / "pycuda"

#: Each thread has WORK_SIZE elements of the product, a block apart, and sums over tiles in shared memory.
MATRIX_PRODUCT = """\
{% if BLOCK_SIZE not in [1, 2, 4, 8, 12, 16] %}
#error BLOCK_SIZE is {{ BLOCK_SIZE }}; expected 1, 2, 4, 8, 12 or 16
{% endif %}
__global__ void matrixMul(float *product, const float *left, const float *right)
{
  __shared__ float left_tile[{{ BLOCK_SIZE }}][{{ BLOCK_SIZE }}];
  __shared__ float right_tile[{{ BLOCK_SIZE }}][{{ BLOCK_SIZE * WORK_SIZE }}];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * {{ BLOCK_SIZE }} + y, column = blockIdx.x * {{ BLOCK_SIZE * WORK_SIZE }} + x;
{% if SPILL %}
  __shared__ int places[{{ BLOCK_SIZE }}][{{ BLOCK_SIZE }}];
  places[y][x] = row * {{ B_WIDTH }} + column;
{% else %}
  const int place = row * {{ B_WIDTH }} + column;
{% endif %}
  float sums[{{ WORK_SIZE }}] = {};
{% if PREFETCH %}
  float next_left = left[row * {{ A_WIDTH }} + x], next_right[{{ WORK_SIZE }}];
{% for w in range(WORK_SIZE) %}
  next_right[{{ w }}] = right[y * {{ B_WIDTH }} + column + {{ w * BLOCK_SIZE }}];
{% endfor %}
{% endif %}
  for (int start = 0; start < {{ A_WIDTH }}; start += {{ BLOCK_SIZE }}) {
{% if PREFETCH %}
    left_tile[y][x] = next_left;
{% for w in range(WORK_SIZE) %}
    right_tile[y][x + {{ w * BLOCK_SIZE }}] = next_right[{{ w }}];
{% endfor %}
{% else %}
    left_tile[y][x] = left[row * {{ A_WIDTH }} + start + x];
{% for w in range(WORK_SIZE) %}
    right_tile[y][x + {{ w * BLOCK_SIZE }}] = right[(start + y) * {{ B_WIDTH }} + column + {{ w * BLOCK_SIZE }}];
{% endfor %}
{% endif %}
    __syncthreads();
{% if PREFETCH %}
    if (start + {{ BLOCK_SIZE }} < {{ A_WIDTH }}) {
      next_left = left[row * {{ A_WIDTH }} + start + {{ BLOCK_SIZE }} + x];
{% for w in range(WORK_SIZE) %}
      next_right[{{ w }}] = right[(start + {{ BLOCK_SIZE }} + y) * {{ B_WIDTH }} + column + {{ w * BLOCK_SIZE }}];
{% endfor %}
    }
{% endif %}
{% set step = [UNROLL + 1, BLOCK_SIZE] | min %}
    for (int k = 0; k < {{ BLOCK_SIZE }}; k += {{ step }}) {
{% for u in range(step) %}
{% for w in range(WORK_SIZE) %}
      sums[{{ w }}] += left_tile[y][k + {{ u }}] * right_tile[k + {{ u }}][x + {{ w * BLOCK_SIZE }}];
{% endfor %}
{% endfor %}
    }
    __syncthreads();
  }
{% for w in range(WORK_SIZE) %}
  product[{{ "places[y][x]" if SPILL else "place" }} + {{ w * BLOCK_SIZE }}] = sums[{{ w }}];
{% endfor %}
}
"""


def run_program(name, *before):
    path = PROGRAMS / name
    if not path.exists():
        pytest.skip("upstream's programs are not there; python tools/upstream_programs.py fetches them")
    done = subprocess.run(
        [sys.executable, *before, str(path)], capture_output=True, text=True, timeout=300, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["demo_meta_template.py", "demo_meta_cgen.py", "demo_meta_codepy.py"])
def test_generated_additions_run(name):
    # The programs assert that the sum is right.
    run_program(name, "-m", "rtcg", "--as", "pycuda")


def test_the_templated_matrix_product_runs(tmp_path):
    (tmp_path / "product.jinja").write_text(MATRIX_PRODUCT)
    (tmp_path / "with_template.py").write_text(
        f"""\
import runpy, sys, types
from pathlib import Path
from rtcg.template import render
class Template:
    def __init__(self, file, searchList):
        self.values = searchList[0]
    def __str__(self):
        return str(render(Path({str(tmp_path / "product.jinja")!r}).read_text(), **self.values))
sys.modules["Cheetah"] = types.ModuleType("Cheetah")
sys.modules["Cheetah.Template"] = module = types.ModuleType("Cheetah.Template")
module.Template = Template
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    )
    printed = run_program(
        "demo_meta_matrixmul_cheetah.py", "-m", "rtcg", "--as", "pycuda", str(tmp_path / "with_template.py")
    )
    assert "number of registers used" in printed


def test_the_templated_matrix_product_is_tuned(context):
    n = 96
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    space = tune.Space(
        BLOCK_SIZE=[16, 8, 12], WORK_SIZE=[1, 2, 4], UNROLL=[0, 1, 3, 15], SPILL=[False, True], PREFETCH=[False, True]
    ).require(f"{n} % (BLOCK_SIZE * WORK_SIZE) == 0", "BLOCK_SIZE % min(UNROLL + 1, BLOCK_SIZE) == 0")

    def source(**config):
        return template.render(MATRIX_PRODUCT, A_WIDTH=n, B_WIDTH=n, **config)

    kernel = tune.Kernel(
        source, "matrixMul", space, block=("BLOCK_SIZE", "BLOCK_SIZE"),
        grid=(f"{n} // (BLOCK_SIZE * WORK_SIZE)", f"{n} // BLOCK_SIZE"), problem=(),
    )  # fmt: skip
    product = xp.zeros((n, n), "float32")
    report = kernel.tune(product, xp.asarray(a), xp.asarray(b), budget="25 evaluations", verify=a @ b, atol=1e-3)
    assert len(report.trials) == 25 and not report.failures, report.failures
    kernel(product, xp.asarray(a), xp.asarray(b))
    np.testing.assert_allclose(product.get(), a @ b, atol=1e-3)


def test_the_page_says_what_is_expected_of_each_program():
    rows = re.findall(r"^\| `(\S+)` \| ([a-z ]+) \| (.*) \|$", upstream_programs.PAGE.read_text(), re.M)
    assert len(rows) == 42 and set(upstream_programs.PROGRAMS) < {name for name, _, _ in rows}
    for name, outcome, note in rows:
        program = upstream_programs.PROGRAMS.get(name, upstream_programs.Program())
        assert (outcome, note.strip()) == ("no" if program.error else "yes", program.note)
    if PROGRAMS.exists():
        assert {path.name for path in PROGRAMS.glob("*.py")} == {name for name, _, _ in rows}
