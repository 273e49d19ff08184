//! Solvers for Hermitian matrices.

use super::method::{Basis, Method, RESIDUAL, TEST};

/// Hestenes and Stiefel 1952.
pub(super) const CG: Method = Method {
    name: "cg",
    vectors: "r z d q",
    row_vectors: "",
    begin: &[RESIDUAL, TEST, DIRECTION],
    iteration: &[
        CG_STEP,
        "\
        rhonew = dot(r, z)
        beta = quot(rhonew, rho)
        rho = rhonew
        d = z + beta * d
        check sqrt(rr)",
    ],
    end: &[],
    basis: Basis::None,
};

/// Notay 2000, with one direction kept: the next one is made orthogonal to it by its image, rather than by what would
/// be the same if the preconditioner did not change.
pub(super) const FLEXIBLE_CG: Method = Method {
    name: "fcg",
    iteration: &[
        CG_STEP,
        "\
        rho = dot(r, z)
        overlap = dot(q, z)
        beta = quot(overlap, dq)
        d = z - beta * d
        check sqrt(rr)",
    ],
    ..CG
};

const DIRECTION: &str = "\
    z = M r
    rho = dot(r, z)
    d = z";

/// A step along the direction, and the preconditioned residual behind it.
const CG_STEP: &str = "\
    q = A d
    dq = dot(d, q)
    fail -1 if !finite(dq) || (dq == 0 && rho != 0)
    negative = negative + (real(dq) < 0)
    alpha = quot(rho, dq)
    x = x + alpha * d
    r = r - alpha * q
    rr = norm2(r)
    z = M r";

/// Ghysels and Vanroose 2014: the sums of an iteration are all of one kernel, and do not depend on the product that is
/// enqueued with them. The vectors `s`, `e` and `h` follow `A p`, `M A p` and `A M A p` by recurrences.
pub(super) const PIPELINED_CG: Method = Method {
    name: "pipecg",
    vectors: "r q u w p s e h m c",
    row_vectors: "",
    begin: &[
        RESIDUAL,
        TEST,
        "\
        u = M r
        w = A u
        gamma = dot(r, u)
        delta = dot(w, u)
        alpha = quot(gamma, delta)
        fail -1 if !finite(delta) || (delta == 0 && gamma != 0)
        beta = scalar(0)
        p = 0
        s = 0
        e = 0
        h = 0",
    ],
    iteration: &["\
        m = M w
        c = A m
        p = u + beta * p
        s = w + beta * s
        e = m + beta * e
        h = c + beta * h
        x = x + alpha * p
        r = r - alpha * s
        u = u - alpha * e
        w = w - alpha * h
        rr = norm2(r)
        gammanew = dot(r, u)
        delta = dot(w, u)
        beta = quot(gammanew, gamma)
        curvature = delta - quot(beta * gammanew, alpha)
        gamma = gammanew
        alpha = quot(gamma, curvature)
        check sqrt(rr)
        negative = negative + (real(curvature) < 0)
        fail -1 if !finite(curvature) || (curvature == 0 && gamma != 0)"],
    end: &[],
    basis: Basis::None,
};

/// Paige and Saunders 1975, and Choi 2006 for the tests: Lanczos vectors `u` and `v = M u`, the triangle that two plane
/// rotations make of each column of the tridiagonal matrix, and the columns `w` of the inverse of that triangle. At the end
/// the residual, computed from the solution, has to be about the one that the tests saw; else iterations begin anew.
pub(super) const MINRES: Method = Method {
    name: "minres",
    vectors: "q t z u uold v w wold wolder",
    row_vectors: "",
    begin: &["\
        q = A x
        t = b - q + shift * x
        bb = norm2(b)
        z = M t
        tz = real(dot(t, z))
        fail -1 if !finite(tz)
        fail -20 if tz < 0
        beta = sqrt(tz)
        start beta
        stop if beta == 0 || bb == 0
        limit
        tolerance = max(rtol, eps / 2)
        isfirst = 1
        size = 0
        first = beta
        tail = beta
        cos = 1
        sin = 0
        cosold = 1
        sinold = 0
        frobenius = 0
        most = 0
        least = largest
        u = t / beta
        v = z / beta
        uold = 0
        w = 0
        wold = 0"],
    iteration: &[LANCZOS_STEP, MINRES_ROTATION, MINRES_TESTS],
    end: &["\
        q = A x
        t = b - q + shift * x
        residual = sqrt(norm2(t))
        z = M t
        tz = real(dot(t, z))
        isfound = sqrt(tz) <= 2 * abs(tail) + 10 * tolerance * size + 100 * eps * (size + first)
        stop = select(stop == 1 && !isfound, 0, stop)"],
    basis: Basis::None,
};

/// `t` is the next Lanczos vector before it is scaled by `next`; `beta` and `alpha` are the column above.
const LANCZOS_STEP: &str = "\
    t = A v
    t = t - shift * v - beta * uold
    alpha = real(dot(v, t))
    t = t - alpha * u
    z = M t
    tz = real(dot(t, z))
    fail -1 if !finite(tz)
    fail -21 if tz < 0
    next = sqrt(tz)";

/// The column `(beta, alpha, next)` under the last two rotations and a new one, and the step that follows. The product of
/// `A` and the residual before the step has the norm `tail * hypot(corner, below)`. A matrix of zeros makes no step. The first `beta` is the norm of the
/// residual, and no number of the matrix.
const MINRES_ROTATION: &str = "\
    isinvariant = isfirst > 0 && next <= 10 * eps * abs(alpha)
    frobenius = frobenius + select(isfirst > 0, 0, beta * beta) + alpha * alpha + next * next
    isfirst = 0
    above = cosold * beta
    second = sinold * beta
    upper = cos * above + sin * alpha
    corner = cos * alpha - sin * above
    below = cos * next
    diagonal = select(frobenius == 0, 1, max(hypot(corner, next), eps * sqrt(frobenius)))
    cosold = cos
    sinold = sin
    cos = corner / diagonal
    sin = next / diagonal
    step = cos * tail
    tail = 0 - sin * tail
    wolder = wold
    wold = w
    w = (v - upper * wold - second * wolder) / diagonal
    x = x + step * w";

/// Ends where the residual, or its product with `A`, is small beside what it is made of, and where rounding allows no
/// more. SciPy adds the first `beta` to the norm of the matrix, and so do these tests where that is no more than ten
/// times as large, so that there are as many iterates. Beside a small matrix it would be all of the sum, and any residual
/// small.
const MINRES_TESTS: &str = "\
    xx = norm2(x)
    note abs(tail)
    most = max(most, diagonal)
    least = min(least, diagonal)
    norma = sqrt(frobenius)
    scale = select(first <= 10 * norma, hypot(norma, first), norma)
    size = scale * sqrt(xx)
    stop if isinvariant || abs(tail) <= tolerance * size || hypot(corner, below) <= tolerance * scale
    stop if eps * size >= first || 10 * eps * most >= least
    limit
    beta = next
    uold = u
    u = t / beta
    v = z / beta";
