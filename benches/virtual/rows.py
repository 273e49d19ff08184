"""What is measured: for each kernel its launch, the work it does, and NumPy's way to the same result."""

from dataclasses import dataclass

import numpy as np

N = 1 << 20
LARGE = 1 << 22


@dataclass
class Row:
    """One line of the table.

    `buffers` are host arrays, the first is the output; `scalars` follow them in the argument list.
    `numpy` computes the result, which the `finish`ed output of every other way must agree with to `rtol`.
    """

    title: str
    unit: str
    work: float
    kernel: str
    buffers: list
    scalars: list
    grid: tuple
    block: tuple
    numpy: object
    finish: object = lambda out: out
    rtol: float = 1e-5
    c_scalars: list | None = None
    opencl: bool = True
    c: bool = True


def _mandelbrot(side, limit):
    px, py = np.meshgrid(np.arange(side, dtype=np.float32), np.arange(side, dtype=np.float32))
    c = (np.float32(-2) + 3 * px / side) + 1j * (np.float32(-1.5) + 3 * py / side)
    z, counts = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(limit):
        inside = z.real**2 + z.imag**2 < 4
        if not inside.any():
            break
        counts += inside
        z = np.where(inside, z * z + c, z)
    return counts


def _stencil(a):
    out = a.copy()
    out[:, 1:] += a[:, :-1]
    out[:, :-1] += a[:, 1:]
    out[1:] += a[:-1]
    out[:-1] += a[1:]
    return np.multiply(out, np.float32(0.2), out=out)


def rows():
    """All rows, with fresh input."""
    rng = np.random.default_rng(0)
    x, y, z = rng.random(N, np.float32), rng.random(N, np.float32), np.empty(N, np.float32)
    a, b, n = np.float32(3), np.float32(5), np.int32(N)
    side, ma, mb = np.int32(512), x[: 512 * 512].reshape(512, 512), y[: 512 * 512].reshape(512, 512)
    mc, big = np.empty((512, 512), np.float32), np.int32(1024)
    image, image_out = x.reshape(1024, 1024), np.empty((1024, 1024), np.float32)
    large, bytes_ = rng.random(LARGE, np.float32), rng.integers(0, 256, LARGE, np.uint8)
    full, line, mm = (N // 256, 1), (256, 1, 1), 2 * 512**3
    iterations = float(_mandelbrot(512, 256).sum(dtype=np.int64))
    return [
        Row("saxpy, 2^20", "Gel/s", N, "saxpy", [z, x, y], [a, n], full, line, lambda: np.add(a * x, y, out=z)),
        Row("a*x+b*y, grid stride 64 x 256", "Gel/s", N, "lin_comb", [z, x, y], [a, b, n], (64, 1), line,
            lambda: np.add(a * x, b * y, out=z)),
        Row("the same, signed thread indices", "Gel/s", N, "lin_comb_signed", [z, x, y], [a, b, n], (64, 1), line,
            lambda: np.add(a * x, b * y, out=z), opencl=False, c=False),
        Row("sin", "Gel/s", N, "el_sin", [z, x], [n], full, line, lambda: np.sin(x, out=z)),
        Row("exp", "Gel/s", N, "el_exp", [z, x], [n], full, line, lambda: np.exp(x, out=z)),
        Row("pow", "Gel/s", N, "el_pow", [z, x, y], [n], full, line, lambda: np.power(x, y, out=z)),
        Row("tiled matrix product 512^3", "GF/s", mm, "mm_tiled", [mc, ma, mb], [side], (16, 16), (32, 32, 1),
            lambda: np.matmul(ma, mb, out=mc), rtol=1e-4),
        Row("naive matrix product 512^3", "GF/s", mm, "mm_naive", [mc, ma, mb], [side], (32, 32), (16, 16, 1),
            lambda: np.matmul(ma, mb, out=mc), rtol=1e-4),
        Row("shared-memory tree reduction", "Gel/s", LARGE, "reduce_shared", [np.empty(LARGE // 512, np.float32), large], [],
            (LARGE // 512, 1), line, lambda: large.sum(), finish=lambda out: out.sum(), rtol=1e-4, c_scalars=[np.int32(LARGE)]),
        Row("warp-shuffle reduction, 64 blocks", "Gel/s", LARGE, "reduce_shuffle", [np.empty(512, np.float32), large],
            [np.int32(LARGE)], (64, 1), line, lambda: large.sum(), finish=lambda out: out.sum(), rtol=1e-4, opencl=False, c=False),
        *[
            Row(f"percentile by bisection, {width} threads", "Gel/s", N, "percentile", [np.empty(512, np.float32), x],
                [np.float32(0.5)], (512, 1), (width, 1, 1), lambda: np.partition(x.reshape(512, 2048), 1024)[:, 1024], c=False)
            for width in (32, 1024)
        ],
        Row("tiled transpose 1024^2", "Gel/s", N, "transpose_tiled", [image_out, image], [big], (32, 32), (32, 8, 1),
            lambda: np.copyto(image_out, image.T) or image_out),
        Row("histogram in shared memory", "Gel/s", LARGE, "hist_shared", [np.empty((64, 256), np.int32), bytes_],
            [np.int32(LARGE)], (64, 1), line, lambda: np.bincount(bytes_, minlength=256), finish=lambda out: out.sum(axis=0)),
        Row("Mandelbrot 512^2, 256 iterations", "Git/s", iterations, "mandel", [np.empty((512, 512), np.int32)],
            [side, np.int32(256)], (32, 32), (16, 16, 1), lambda: _mandelbrot(512, 256).mean(), finish=lambda out: out.mean(), rtol=1e-2),
        Row("5-point stencil 1024^2", "Gel/s", N, "stencil", [image_out, image], [big], (32, 128), (32, 8, 1),
            lambda: _stencil(image)),
    ]  # fmt: skip
