"""Sums of products of small arrays beside NumPy, CuPy, PyTorch and JAX (as far as they are installed), in one run.

Where two arrays are multiplied, the rows ``torch, cuBLAS`` and ``cupy, cuBLAS`` are their ``matmul``: a product of a stack of
matrices. Run it with ``python benches/einsum.py``. Times are of the device, in milliseconds: by the clock over many calls that fill
the queue. NumPy's are for one core of the processor. On the virtual GPU, where there are no peers, arrays are smaller.
"""

import time

import numpy as np
from arrays import IS_VIRTUAL, device_ms, peers
from common import attempt

import rtcg

NODES = (4, 10, 20, 35, 56) if IS_VIRTUAL else (4, 10, 20, 35, 56, 84, 120, 165, 220)


def cases():
    """``(subscripts, shapes, multiplications)``: operators of finite elements, and stacks of small matrices."""
    for n in NODES:
        elements = max(64, (1 << 16 if IS_VIRTUAL else 1 << 23) // n)
        yield "ij,ejf->eif", [(n, n), (elements, n, 6)], elements * n * n * 6
        shapes = [(elements, 3, 3), (3, n, n), (elements, n, 6)]
        yield "erx,rij,ejf->exif", shapes, elements * 6 * (3 * n * n + 9 * n)
    for n in (4, 8, 16, 32):
        stack = (1 << 15 if IS_VIRTUAL else 1 << 24) // n**2
        yield "bij,bjk->bik", [(stack, n, n)] * 2, stack * n**3


def contractions(name, subscripts, arrays):
    """``(name, call)`` of one library: its einsum, and its products of stacks of matrices."""
    if name == "rtcg":
        yield name, lambda: rtcg.einsum(subscripts, *arrays)
        return
    module = __import__(name)
    yield name, lambda: module.einsum(subscripts, *arrays)
    if len(arrays) == 2:
        yield f"{name}, cuBLAS", lambda: module.matmul(*arrays)


def jax_ms(subscripts, hosts):
    """JAX's compiled contraction."""
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    call = jax.jit(lambda *arrays: jax.numpy.einsum(subscripts, *arrays))
    arrays = [jax.device_put(host) for host in hosts]
    last = []
    return device_ms(lambda: last.append(call(*arrays)), lambda: jax.block_until_ready(last[-1:]))


def main():
    print("TF32 is off in PyTorch (its default) and in JAX (precision 'highest').")
    print(f"{'case':50}{'library':15}{'ms':>10}{'GFLOP/s':>10}{'error':>10}")
    rng = np.random.default_rng(0)
    for dtype in ("float16", "float32", "float64"):
        for subscripts, shapes, products in cases():
            hosts = [rng.random(shape).astype(dtype) for shape in shapes]
            start = time.perf_counter()
            # NumPy's 16-bit floats are too slow to wait for.
            want = np.einsum(
                subscripts,
                *(host.astype(np.result_type(dtype, "float32"), copy=False) for host in hosts),
                optimize=True,
            )
            rows = [("numpy", (time.perf_counter() - start) * 1e3, 0.0)] if dtype != "float16" else []
            for library, make, wait, to_host in peers():
                for name, call in contractions(library, subscripts, [make(host) for host in hosts]):
                    error = np.abs(to_host(call()) - want).max() / np.abs(want).max()
                    rows.append((name, device_ms(call, wait, calls=3 if IS_VIRTUAL else 20), error))
            if not IS_VIRTUAL:
                rows.append(("jax", attempt("jax", lambda s=subscripts, h=hosts: jax_ms(s, h)), 0.0))
            label = f"{subscripts} {'x'.join(map(str, shapes[-1]))} {dtype}"
            for name, ms, error in rows:
                if not isinstance(ms, float):
                    print(f"{label:50}{name:15}  {ms}")
                    continue
                print(f"{label:50}{name:15}{ms:10.3f}{2 * products / ms / 1e6:10.1f}{error:10.1e}")


if __name__ == "__main__":
    main()
