"""Packages whose own tests run here: on ``libcuda.so.1``, or on our ``pycuda``.

Each is pinned, in ``requirements-clients.txt`` or here, and so is the source of its tests: a source distribution of the
package index, or a checkout of a tag in the folder that ``--sources`` names, where the tests are in no package. A suite
without its checkout is reported as skipped.
"""

from pathlib import Path
from typing import NamedTuple


class Client(NamedTuple):
    """A package and the subset of its tests that runs here."""

    version: str
    #: The folder of the tests, in the source.
    tests: str
    #: What runs there: patterns of files.
    files: tuple[str, ...]
    #: The repository and the tag of a checkout `<sources>/<name>`; without it the source distribution is fetched.
    checkout: str = ""
    #: The folder that tests run in, in the source.
    cwd: str = "."
    #: Arguments for pytest.
    arguments: tuple[str, ...] = ()
    #: One test in so many runs.
    one_in: int = 1
    #: Environment variables.
    env: dict[str, str] = {}
    #: Whether the driver library is ours, `dist/libcuda`; else the package imports our `pycuda`.
    uses_libcuda: bool = True
    #: The folder of the source that is copied, and what `tests` then is in: the installed package is tested.
    copied: str = ""
    #: Whether the package is installed from the checkout, since the index does not have it.
    installed: bool = False
    #: The folder of modules in the place of others that the package imports.
    stand_ins: str = "stand_ins"
    #: Parts of the source that are removed, since the installed package stands for them.
    removed: tuple[str, ...] = ()


DRJIT = """annotations arithmetic assert ast autodiff complex conversion dda detail event format freeze func hashgrid
history if_stmt if_stmt_ad indexing init local matrix memop nn opt promote quaternion rand reduction reorder resample
sh_eval switch tensor texture traits while_loop while_loop_ad wrap""".split()

TINYGRAD = ("test_tiny.py", "backend/test_dtype_alu.py", "backend/test_transcendental.py",
            "backend/test_uops.py", "backend/test_arange.py")  # fmt: skip

#: Without tests that fetch data or import PyTorch.
OFFLINE = ("-k", "not test_index_mnist and not test_llama_embedding_opt")

TAICHI = (
    "abs atomic basics bit_operations cast compare div for_break function if loops print reduction scan simt".split()
)

PTYPY = """address_manglers array_utils auxiliary_wave_kernel derivatives_kernel engine_utils fourier_update_kernel
gpudata gradient_descent_kernel import po_update_kernel position_correction_kernel""".split()


def tinygrad(device):
    """tinygrad on one of its back ends."""
    return Client(
        "0.13.0",
        "test",
        TINYGRAD,
        checkout="tinygrad/tinygrad v0.13.0",
        env={"DEV": device},
        arguments=OFFLINE,
        one_in=4,
    )


CLIENTS = {
    "drjit": Client(
        "1.5.0",
        "tests",
        tuple(f"test_{name}.py" for name in DRJIT),
        checkout="mitsuba-renderer/drjit v1.5.0",
        # One process: its parameters come in an order that differs in each.
        arguments=(
            "-n",
            "0",
            "-k",
            # In some Dr.Jit itself reads outside of an allocation, which ends the process.
            "cuda and not (test03_bubble_sort and False) and not test25_block_reduce_intense"
            " and not (test35_scatter_packet_reduce and True-drjit)"
            " and not (test36_gather_packet and True-drjit) and not True-WrapMode",
        ),
    ),
    "tinygrad: CUDA": tinygrad("CUDA"),
    "tinygrad: PTX": tinygrad("CUDA:PTX"),
    "reikna": Client(
        "0.9.0",
        "test",
        ("**/test_*.py",),
        cwd="test",
        arguments=("--api", "cuda", "-k", "not performance"),
        uses_libcuda=False,
        one_in=8,
    ),
    "grunnur": Client(
        "0.6.0",
        "tests",
        ("test_*.py",),
        uses_libcuda=False,
        removed=("grunnur",),
    ),
    "cuvarbase": Client(
        "0.2.5",
        "cuvarbase/tests",
        ("test_lombscargle.py", "test_nfft.py", "test_pdm.py"),
        uses_libcuda=False,
    ),
    # Other files need cuFFT, or run on the host for minutes.
    "katsdpsigproc": Client(
        "1.10.0",
        "test",
        ("test_accel.py", "test_fill.py", "test_maskedsum.py", "test_reduce.py", "test_transpose.py"),
        arguments=("-k", "not test_autotune"),
        uses_libcuda=False,
        removed=("src",),
    ),
    # CuPy itself does not run here: `cupy.cuda.nccl` is `rtcg.nccl`.
    "cupy: nccl": Client(
        "14.2.0",
        "cuda_tests",
        ("test_nccl.py",),
        env={"RTCG_VIRTUAL_DEVICES": "4", "RTCG_WORKERS": "1"},
        uses_libcuda=False,
        copied="tests/cupy_tests/cuda_tests",
        stand_ins="cupy_stand_in",
    ),
    "taichi": Client(
        "1.7.4",
        "tests/python",
        tuple(f"test_{name}.py" for name in TAICHI),
        checkout="taichi-dev/taichi v1.7.4",
        arguments=("-p", "pytest_rerunfailures"),
        env={"TI_WANTED_ARCHS": "cuda", "TI_ENABLE_CUDA": "1"},
        one_in=4,
    ),
    "slangpy": Client(
        "0.43.1",
        "tests/slangpy_tests",
        ("test_simple_function_call.py", "test_array.py", "test_numpy.py"),
        checkout="shader-slang/slangpy v0.43.1",
        arguments=("-k", "cuda"),
        copied="slangpy/tests",
    ),
    # Other files import CuPy, cuFFT or MPI.
    "ptypy": Client(
        "0.9.0",
        "test/accelerate_tests/cuda_pycuda_tests",
        tuple(f"{name}_test.py" for name in PTYPY),
        checkout="ptycho/ptypy v0.9.0",
        arguments=("-p", "ptypy_plugin"),
        uses_libcuda=False,
        one_in=4,
        copied="test",
        installed=True,
    ),
}


def test_files(client: Client, source: Path) -> list[Path]:
    """The files of a client's tests that its source has, each once."""
    return sorted({file for pattern in client.files for file in (source / client.tests).glob(pattern)})
