//! Solvers for any square matrix.

use super::method::{Basis, Method, RESIDUAL, TEST};

/// Fletcher 1976.
pub(super) const BICG: Method = Method {
    name: "bicg",
    vectors: "r rt z zt p pt q qt",
    row_vectors: "",
    begin: &[
        RESIDUAL,
        TEST,
        "\
        rt = r
        z = M r
        zt = MH rt
        rho = dot(rt, z)
        p = z
        pt = zt
        rhofirst = abs(rho)
        fail -10 if rhofirst == 0",
    ],
    iteration: &["\
        q = A p
        qt = AH pt
        rv = dot(pt, q)
        fail -11 if rv == 0
        alpha = rho / rv
        x = x + alpha * p
        r = r - alpha * q
        rt = rt - conj(alpha) * qt
        rr = norm2(r)
        z = M r
        zt = MH rt
        rhonew = dot(rt, z)
        beta = rhonew / rho
        rho = rhonew
        p = z + beta * p
        pt = zt + conj(beta) * pt
        check sqrt(rr)
        fail -10 if abs(rho) < eps * eps * rhofirst"],
    end: &[],
    basis: Basis::None,
};

/// A shadow residual, and a direction that begins as the residual. Products of residuals have broken down where they are
/// small beside the first one.
const SHADOW: &str = "\
    rt = r
    p = r
    rho = dot(rt, r)
    rhofirst = abs(rho)
    fail -10 if rhofirst == 0";

/// Van der Vorst 1992.
pub(super) const BICGSTAB: Method = Method {
    name: "bicgstab",
    vectors: "r rt p ph v s sh t q",
    row_vectors: "",
    begin: &[RESIDUAL, TEST, SHADOW],
    iteration: &["\
        ph = M p
        v = A ph
        rv = dot(rt, v)
        fail -11 if rv == 0
        alpha = rho / rv
        s = r - alpha * v
        ss = norm2(s)
        sh = M s
        t = A sh
        ts = dot(t, s)
        tt = norm2(t)
        half = sqrt(ss) < threshold
        omega = select(half, 0, quot(ts, tt))
        x = x + alpha * ph + omega * sh
        r = s - omega * t
        rr = norm2(r)
        rhonew = dot(rt, r)
        check sqrt(rr)
        fail -10 if abs(rhonew) < eps * eps * rhofirst
        fail -11 if abs(ts) <= eps * eps * sqrt(tt) * sqrt(ss)
        beta = (rhonew / rho) * (alpha / omega)
        rho = rhonew
        p = r + beta * (p - omega * v)"],
    end: &[],
    basis: Basis::None,
};

/// Sonneveld 1989, with residuals computed from the solution.
pub(super) const CGS: Method = Method {
    name: "cgs",
    vectors: "r rt p ph u g ug uh vh q",
    row_vectors: "",
    begin: &[RESIDUAL, TEST, SHADOW, "u = r"],
    iteration: &["\
        ph = M p
        vh = A ph
        rv = dot(rt, vh)
        fail -11 if rv == 0
        alpha = rho / rv
        g = u - alpha * vh
        ug = u + g
        uh = M ug
        x = x + alpha * uh
        q = A x
        r = b - q
        rr = norm2(r)
        rhonew = dot(rt, r)
        check sqrt(rr)
        fail -10 if abs(rhonew) < eps * eps * rhofirst
        beta = rhonew / rho
        rho = rhonew
        u = r + beta * g
        p = u + beta * (g + beta * p)"],
    end: &[],
    basis: Basis::None,
};

/// Freund and Nachtigal 1994. `size` is the largest number of the tridiagonal matrix so far, which breakdowns are beside.
pub(super) const QMR: Method = Method {
    name: "qmr",
    vectors: "r vt wt v w y z yn zn yt zt p q pt aq d s",
    row_vectors: "",
    begin: &[
        RESIDUAL,
        TEST,
        "\
        vt = r
        wt = r
        y = M1 vt
        z = M2H wt
        rho = sqrt(norm2(y))
        xi = sqrt(norm2(z))
        gamma = 1
        size = 0
        eta = scalar(0 - 1)
        theta = 0
        epsilon = scalar(1)
        p = 0
        q = 0
        d = 0
        s = 0",
    ],
    iteration: &["\
        fail -10 if rho <= eps * size
        fail -15 if xi <= eps * size
        v = vt / rho
        w = wt / xi
        yn = y / rho
        zn = z / xi
        delta = dot(zn, yn)
        fail -13 if abs(delta) < eps
        yt = M2 yn
        zt = M1H zn
        p = yt - (xi * delta / epsilon) * p
        q = zt - (rho * conj(delta / epsilon)) * q
        pt = A p
        aq = AH q
        epsilon = dot(q, pt)
        fail -14 if epsilon == 0
        beta = epsilon / delta
        vt = pt - beta * v
        wt = aq - conj(beta) * w
        y = M1 vt
        z = M2H wt
        rhoold = rho
        rho = sqrt(norm2(y))
        xi = sqrt(norm2(z))
        size = max(size, max(abs(beta), max(rho, xi)))
        fail -11 if abs(beta) < eps * size
        gammaold = gamma
        thetaold = theta
        theta = rho / (gammaold * abs(beta))
        gamma = 1 / sqrt(1 + theta * theta)
        fail -12 if gamma < eps
        eta = (0 - eta) * (rhoold / beta) * square(gamma / gammaold)
        d = eta * p + square(thetaold * gamma) * d
        s = eta * pt + square(thetaold * gamma) * s
        x = x + d
        r = r - s
        rr = norm2(r)
        check sqrt(rr)"],
    end: &[],
    basis: Basis::None,
};

/// Freund 1993. Each turn is two of SciPy's iterations.
pub(super) const TFQMR: Method = Method {
    name: "tfqmr",
    vectors: "r rs u un mu mun uh v w d z q",
    row_vectors: "",
    begin: &[
        RESIDUAL,
        "\
        rs = r
        u = r
        w = r
        d = 0
        rho = dot(rs, r)
        mu = M u
        uh = A mu
        v = uh
        theta = 0
        eta = scalar(0)
        tau = sqrt(rr)
        threshold = select(iterations == 0, max(atol, rtol * tau), threshold)
        begin tau
        stop if bb == 0",
    ],
    iteration: &[
        "\
        vr = dot(rs, v)
        fail -1 if vr == 0
        alpha = rho / vr
        un = u - alpha * v
        w = w - alpha * uh
        d = u + (theta * theta * eta / alpha) * d
        theta = sqrt(norm2(w)) / tau",
        TFQMR_STEP,
        "\
        mun = M un
        uh = A mun
        w = w - alpha * uh
        d = un + (theta * theta * eta / alpha) * d
        theta = sqrt(norm2(w)) / tau
        rhonew = dot(rs, w)",
        TFQMR_STEP,
        "\
        beta = rhonew / rho
        rho = rhonew
        u = w + beta * un
        v = beta * uh + beta * beta * v
        mu = M u
        uh = A mu
        v = v + uh",
    ],
    end: &[],
    basis: Basis::None,
};

const TFQMR_STEP: &str = "\
    tau = tau * theta / sqrt(1 + theta * theta)
    eta = alpha / (1 + theta * theta)
    z = M d
    x = x + eta * z
    check tau * sqrt(iterations)";

/// Saad and Schultz 1986. Steps and cycles are launches of `gmres.rs`; the lines of an iteration are what follows a
/// cycle: the residual of the new solution decides, and how far its preconditioned norm has to fall in the next cycle.
pub(super) const GMRES: Method = Method {
    name: "gmres",
    vectors: "q r z mb av t w",
    row_vectors: "",
    begin: &[
        RESIDUAL,
        TEST,
        "\
        mb = M b
        mbb = norm2(mb)
        z = M r
        zz = norm2(z)
        factor = 1
        presid = 0
        outer = 0
        column = 0
        inner = 0
        ptol = sqrt(mbb) * min(1, threshold / sqrt(bb))
        beta = sqrt(zz)
        v0 = z / beta",
    ],
    iteration: &[
        "\
        q = A x
        r = b - q
        rr = norm2(r)
        z = M r
        zz = norm2(z)",
        CYCLE_TESTS,
        "\
        factor = select(inner == 1, max(eps, factor / 4), min(1, 3 * factor / 2))
        ptol = presid * min(factor, threshold / residual)
        beta = sqrt(zz)
        column = 0
        inner = 0
        v0 = z / beta",
    ],
    end: &["\
        q = A x
        r = b - q
        residual = sqrt(norm2(r))"],
    basis: Basis::Left,
};

/// Whether the cycle was the last one. `inner` is 1 where its steps ended by the estimate of the residual, 2 where the
/// basis could not grow.
const CYCLE_TESTS: &str = "\
    outer = outer + 1
    residual = sqrt(rr)
    stop if residual <= threshold
    fail -1 if !finite(residual)
    fail -12 if inner == 2
    stop = select(stop == 0 && (outer >= maxiter || iterations >= maxinner), 3, stop)";

/// Saad 1993: what steps estimate is the norm of the residual itself.
pub(super) const FGMRES: Method = Method {
    name: "fgmres",
    vectors: "q r w",
    row_vectors: "",
    begin: &[
        RESIDUAL,
        TEST,
        "\
        presid = 0
        outer = 0
        ptol = threshold",
        FLEXIBLE_CYCLE,
    ],
    iteration: &[
        "\
        q = A x
        r = b - q
        rr = norm2(r)",
        CYCLE_TESTS,
        FLEXIBLE_CYCLE,
    ],
    end: GMRES.end,
    basis: Basis::Flexible,
};

const FLEXIBLE_CYCLE: &str = "\
    beta = sqrt(rr)
    column = 0
    inner = 0
    v0 = r / beta";

/// Hicken and Zingg 2010, with the oldest direction left out. `dx` is what a cycle added to the solution, and `image` its
/// product with the matrix, which is orthogonal to those that are kept.
pub(super) const GCROTMK: Method = Method {
    name: "gcrotmk",
    vectors: "q r w dx image",
    iteration: &[
        "\
        image = A dx
        q = A x
        r = b - q
        rr = norm2(r)
        ii = norm2(image)",
        CYCLE_TESTS,
        "length = sqrt(ii)",
        FLEXIBLE_CYCLE,
    ],
    basis: Basis::Recycling,
    ..FGMRES
};
