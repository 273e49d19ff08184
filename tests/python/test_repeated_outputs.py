"""Arrays whose elements lie at one place (`broadcast_to`) are read as others are, and never written to."""

import numpy as np
import pytest

import rtcg
from pycuda.curandom import XORWOWRandomNumberGenerator
from rtcg import fft, linalg, ndimage, numpy as xp, random as rrandom, sparse
from rtcg.elementwise import ElementwiseKernel
from rtcg.reduction import ReductionKernel
from rtcg.scan import InclusiveScanKernel

pytestmark = pytest.mark.usefixtures("context")


def _repeated(shape=(3, 4), dtype=np.float32):
    """An array of one element per row, and the memory of these."""
    memory = xp.ones((shape[0], 1), dtype)
    return xp.broadcast_to(memory, shape), memory


def _iadd(b):
    b += 1


def _imatmul(b):
    b @= xp.ones((4, 4), np.float32)


def _fused(b):
    with rtcg.fuse():
        b += 1


ONES = np.ones((3, 4), np.float32)

WRITES = {
    "in place": _iadd,
    "in place, fused": _fused,
    "in place, matmul": _imatmul,
    "out of a ufunc": lambda b: xp.add(b, 1, out=b),
    "out of a comparison": lambda b: xp.less(b[:, 0], 2, out=xp.broadcast_to(xp.ones(1, bool), (3,))),
    "out of a sum": lambda b: xp.ones((3, 4, 2), np.float32).sum(axis=2, out=b),
    "out of a mean": lambda b: xp.ones((3, 4, 2), np.float32).mean(axis=2, out=b),
    "out of argmax": lambda b: xp.ones((3, 4), np.float32).argmax(
        axis=0, out=xp.broadcast_to(xp.zeros(1, np.int64), (4,))
    ),
    "out of cumsum": lambda b: xp.cumsum(xp.ones((3, 4), np.float32), 0, out=b),
    "out of matmul": lambda b: xp.matmul(xp.ones((3, 2), np.float32), xp.ones((2, 4), np.float32), out=b),
    "out of dot": lambda b: xp.dot(xp.ones((3, 2), np.float32), xp.ones((2, 4), np.float32), out=b),
    "out of einsum": lambda b: rtcg.einsum("ik,kj->ij", xp.ones((3, 2), "f"), xp.ones((2, 4), "f"), out=b),
    "out of take": lambda b: xp.take(xp.ones((3, 9), np.float32), xp.arange(4), axis=1, out=b),
    "out of clip": lambda b: xp.clip(b, 0, 1, out=b),
    "out of concatenate": lambda b: xp.concatenate([xp.ones((1, 4), "f"), xp.ones((2, 4), "f")], out=b),
    "output of a filter": lambda b: ndimage.uniform_filter(xp.ones((3, 4), np.float32), output=b),
    "out of a transform": lambda b: fft.fft(xp.ones((3, 4), "F"), out=_repeated(dtype="F")[0]),
    "out of a filter bank": lambda b: ndimage.filter_bank(
        xp.ones((3, 4, 1), "f"),
        xp.ones((1, 1, 1, 1), "f"),
        out=xp.broadcast_to(xp.ones((3, 4, 1), "f")[:, :1], (3, 4, 1)),
    ),
    "out of random numbers": lambda b: rrandom.default_rng(1).random(dtype=np.float32, out=b),
    "out of a sparse array": lambda b: sparse.csr_array(ONES).toarray(out=b),
    "out of multi_dot": lambda b: linalg.multi_dot([xp.ones((3, 2), "f"), xp.ones((2, 4), "f")], out=b),
    "fill": lambda b: b.fill(2),
    "setitem of a number": lambda b: b.__setitem__(Ellipsis, 2),
    "setitem of an array": lambda b: b.__setitem__(Ellipsis, ONES),
    "setitem of a part": lambda b: b.__setitem__((slice(None), slice(1, 3)), 2),
    "setitem of indices": lambda b: b.__setitem__(xp.to_gpu(np.array([0, 2])), 2),
    "setitem of a mask": lambda b: b.__setitem__(xp.ones((3, 4), bool), 2),
    "set": lambda b: b.set(ONES),
    "sort": lambda b: b.sort(),
    "put": lambda b: xp.put(b, [0, 1], 5),
    "putmask": lambda b: xp.putmask(b, np.ones((3, 4), bool), 5),
    "place": lambda b: xp.place(b, np.ones((3, 4), bool), 5),
    "copyto": lambda b: xp.copyto(b, ONES),
    "random fill": lambda b: XORWOWRandomNumberGenerator().fill_uniform(b),
    "elementwise kernel": lambda b: ElementwiseKernel("float *x", "x[i] = i", "repeated_out")(b),
    "elementwise kernel of a range": lambda b: ElementwiseKernel("float *x", "x[i] = i", "repeated_out")(
        b, slice=slice(0, 3)
    ),
    "reduction kernel": lambda b: ReductionKernel("f", "0", "a + b", "x[i]", "const float *x")(
        xp.ones((3, 4, 2), "f"), axis=2, out=b
    ),
    "scan kernel": lambda b: InclusiveScanKernel("f", "a + b")(b[0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_to_repeated_elements_are_refused(name):
    b, memory = _repeated()
    with pytest.raises(ValueError, match="place|read-only|contiguous"):
        WRITES[name](b)
    assert (memory.get() == 1).all()


def test_reads_and_arrays_without_repetition_are_as_before():
    b, memory = _repeated()
    np.testing.assert_array_equal((b + 1).get(), ONES + 1)
    assert float(b.sum().get()) == 12
    assert b.copy().get().shape == (3, 4)
    # Axes of length 1 may have the stride 0, and nothing is written where there are no elements.
    one = xp.broadcast_to(memory[:1], (1, 1))
    one += 1
    assert memory.get().ravel().tolist() == [2, 1, 1]
    xp.broadcast_to(memory[:0], (0, 4)).fill(3)
