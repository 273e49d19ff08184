"""Optical flow: the preconditioned conjugate gradient method on a pair of images, with a 7-point operator by `shift`.

The flow (u, v) between two images minimises a quadratic function. Its matrix has a 2x2 block for each pixel and couples
adjacent pixels; fields of coefficients m1 to m7 represent it: m1, m2, m3 the blocks, m4 to m7 what couples a pixel to
those above, to the left, to the right and below.
"""

import builtins
import sys

import numpy as np
from harness import check, options

from rtcg.copperhead import cu, float32, map, op_add, op_mul, op_sub, shift, sum, zip


@cu
def axpy(a, x, y):
    return [a * xi + yi for xi, yi in zip(x, y)]


@cu
def dot(x, y):
    return sum(map(op_mul, x, y))


@cu
def vadd(x, y):
    return map(op_add, x, y)


@cu
def vsub(x, y):
    return map(op_sub, x, y)


@cu
def vmul(x, y):
    return map(op_mul, x, y)


@cu
def multiply(field, width, matrix):
    u, v = field
    m1, m2, m3, m4, m5, m6, m7 = matrix
    zero = float32(0.0)
    e = vadd(vmul(m1, u), vmul(m2, v))
    f = vadd(vmul(m2, u), vmul(m3, v))
    e = vadd(e, vmul(m4, shift(u, -width, zero)))
    f = vadd(f, vmul(m4, shift(v, -width, zero)))
    e = vadd(e, vmul(m5, shift(u, -1, zero)))
    f = vadd(f, vmul(m5, shift(v, -1, zero)))
    e = vadd(e, vmul(m6, shift(u, 1, zero)))
    f = vadd(f, vmul(m6, shift(v, 1, zero)))
    e = vadd(e, vmul(m7, shift(u, width, zero)))
    f = vadd(f, vmul(m7, shift(v, width, zero)))
    return e, f


@cu
def inverse_blocks(m1, m2, m3):
    def inverse_determinant(a, b, c):
        return 1.0 / (a * c - b * b)

    inverse = map(inverse_determinant, m1, m2, m3)
    return vmul(inverse, m3), map(lambda a, b: -a * b, inverse, m2), vmul(inverse, m1)


@cu
def precondition(field, blocks):
    u, v = field
    p1, p2, p3 = blocks
    return vadd(vmul(p1, u), vmul(p2, v)), vadd(vmul(p2, u), vmul(p3, v))


@cu
def inner(a, b):
    a_u, a_v = a
    b_u, b_v = b
    return dot(a_u, b_u) + dot(a_v, b_v)


@cu
def moved(a, direction, field):
    direction_u, direction_v = direction
    u, v = field
    return axpy(a, direction_u, u), axpy(a, direction_v, v)


@cu
def residual(right, field, width, matrix):
    right_u, right_v = right
    u, v = multiply(field, width, matrix)
    return vsub(right_u, u), vsub(right_v, v)


@cu
def iterate(steps, width, x, r, d, z, matrix, blocks):
    if steps > 0:
        product = multiply(d, width, matrix)
        norm = inner(r, z)
        alpha = norm / inner(d, product)
        x = moved(alpha, d, x)
        r = moved(-alpha, product, r)
        z = precondition(r, blocks)
        d = moved(inner(r, z) / norm, d, z)
        return iterate(steps - 1, width, x, r, d, z, matrix, blocks)
    else:
        return x


@cu
def solve(steps, width, right, start, matrix):
    m1, m2, m3, m4, m5, m6, m7 = matrix
    blocks = inverse_blocks(m1, m2, m3)
    r = residual(right, start, width, matrix)
    z = precondition(r, blocks)
    return iterate(steps, width, start, r, z, z, matrix, blocks)


def problem(size, smoothness=0.05):
    """The fields and the right side for a pattern that moves by one pixel, and the matrix for SciPy."""
    y, x = np.mgrid[:size, :size] * (4 * np.pi / size)
    image, moved_image = (np.sin(x - k) + np.cos(1.3 * (y - k / 2)) for k in (0, 4 * np.pi / size))
    gy, gx = np.gradient(image)
    gt = moved_image - image
    coupled = -smoothness * np.ones((4, size, size))
    coupled[0, 0], coupled[1, :, 0], coupled[2, :, -1], coupled[3, -1] = 0, 0, 0, 0
    diagonal = 0.01 - coupled.sum(axis=0)
    blocks = gx * gx + diagonal, gx * gy, gy * gy + diagonal
    fields = tuple(field.ravel().astype(np.float32) for field in (*blocks, *coupled))
    right = tuple((-g * gt).ravel().astype(np.float32) for g in (gx, gy))
    return fields, right


def exact(fields, right, width):
    """The solution by a direct solver."""
    from scipy import sparse
    from scipy.sparse import linalg

    m1, m2, m3, m4, m5, m6, m7 = (field.astype(np.float64) for field in fields)
    n = len(m1)
    beside = sparse.dia_array((n, n))
    for band, offset in ((m4, -width), (m5, -1), (m6, 1), (m7, width)):
        beside = beside + sparse.diags_array([band[-offset:] if offset < 0 else band[:-offset]], offsets=[offset])
    first, both, second = (sparse.diags_array(block) for block in (m1, m2, m3))
    matrix = sparse.block_array([[first + beside, both], [both, second + beside]]).tocsc()
    return linalg.spsolve(matrix, np.concatenate(right).astype(np.float64)).reshape(2, n)


def main(arguments=None):
    chosen = options(__doc__, arguments, size=64, size_here=8, steps=(100, 30))
    fields, right = problem(chosen.size)
    start = (np.zeros(chosen.size**2, np.float32),) * 2
    with chosen.place:
        flow = solve(chosen.steps, chosen.size, right, start, fields)
    for found, expected in builtins.zip(flow, exact(fields, right, chosen.size), strict=True):
        check(found, expected.astype(np.float32), atol=2e-3)
    print(f"optical flow of {chosen.size} x {chosen.size} at {chosen.place.name}: equal to a direct solver")


if __name__ == "__main__":
    sys.exit(main())
