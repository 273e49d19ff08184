//! Least-squares solvers by bidiagonalisation (Golub and Kahan 1965), which need the adjoint.

use super::method::{Basis, Method};

/// Paige and Saunders 1982.
pub(super) const LSQR: Method = Method {
    name: "lsqr",
    vectors: "v w back",
    row_vectors: "u image",
    begin: &[
        BIDIAGONAL_BEGIN,
        "\
        w = v
        ridge = damp * damp
        norma = 0
        cond = 0
        spread = 0
        edge = alpha
        tail = beta
        lost = 0
        cosright = 1
        sinright = 0
        coefficient = 0
        coefficients = 0
        misfit = beta",
    ],
    iteration: &[BIDIAGONAL_STEP, LSQR_STEP, LSQR_NORMS, LEAST_SQUARES_TESTS],
    end: LEAST_SQUARES_END,
    basis: Basis::None,
};

/// The regularisation is rotated into the last column of the bidiagonal matrix, `beta` out of it.
const LSQR_STEP: &str = "\
    corner = hypot(edge, damp)
    lost = lost + square(damp / corner * tail)
    tail = edge / corner * tail
    diagonal = hypot(corner, beta)
    cos = corner / diagonal
    sin = beta / diagonal
    upper = sin * alpha
    edge = 0 - cos * alpha
    step = cos * tail
    tail = sin * tail
    x = x + step / diagonal * w
    ww = norm2(w)
    w = v - upper / diagonal * w
    spread = spread + ww / square(diagonal)";

/// The norm of the solution by rotations of the triangle from the right, and what is known without them.
const LSQR_NORMS: &str = "\
    remaining = step - sinright * diagonal * coefficient
    pivot = cosright * diagonal
    normx = sqrt(coefficients + square(remaining / pivot))
    length = hypot(pivot, upper)
    cosright = pivot / length
    sinright = upper / length
    coefficient = remaining / length
    coefficients = coefficients + square(coefficient)
    norma = sqrt(frobenius)
    cond = norma * sqrt(spread)
    normr = sqrt(tail * tail + lost)
    normar = alpha * abs(sin * step)
    undamped = normr * normr - ridge * coefficients
    misfit = select(undamped < 0, 0 - sqrt(abs(undamped)), sqrt(abs(undamped)))";

/// Fong and Saunders 2011: the norm of the residual of the normal equations is known, and becomes no larger.
pub(super) const LSMR: Method = Method {
    name: "lsmr",
    vectors: "v h hbar back",
    row_vectors: "u image",
    begin: &[
        BIDIAGONAL_BEGIN,
        "\
        h = v
        hbar = 0
        ridge = 0
        norma = alpha
        cond = 1
        edge = alpha
        tail = alpha * beta
        diagonal = 1
        second = 1
        cosbar = 1
        sinbar = 0
        zeta = 0
        ahead = beta
        behind = 0
        third = 1
        carry = 0
        tau = 0
        lost = 0
        most = 0
        least = largest",
    ],
    iteration: &[BIDIAGONAL_STEP, LSMR_STEP, LSMR_NORMS, LEAST_SQUARES_TESTS],
    end: LEAST_SQUARES_END,
    basis: Basis::None,
};

/// Two triangles: `diagonal` and `upper` of the bidiagonal matrix, `second` of the transpose of the first one.
const LSMR_STEP: &str = "\
    corner = hypot(edge, damp)
    coskept = edge / corner
    sinlost = damp / corner
    diagonalold = diagonal
    diagonal = hypot(corner, beta)
    cos = corner / diagonal
    sin = beta / diagonal
    upper = sin * alpha
    edge = cos * alpha
    secondold = second
    zetaold = zeta
    upperbar = sinbar * diagonal
    inner = cosbar * diagonal
    second = hypot(inner, upper)
    cosbar = inner / second
    sinbar = upper / second
    zeta = cosbar * tail
    tail = 0 - sinbar * tail
    hbar = h - upperbar * diagonal / (diagonalold * secondold) * hbar
    x = x + zeta / (diagonal * second) * hbar
    h = v - upper / diagonal * h";

/// The norm of the residual by a third triangle (section 4 of the paper), and the condition by extremes of `second`,
/// of which the first one, 1, is no number of the matrix.
const LSMR_NORMS: &str = "\
    xx = norm2(x)
    lost = lost + square(sinlost * ahead)
    kept = coskept * ahead
    ahead = 0 - sin * kept
    pivot = hypot(third, upperbar)
    costilde = third / pivot
    sintilde = upperbar / pivot
    carryold = carry
    carry = sintilde * second
    third = costilde * second
    behind = costilde * cos * kept - sintilde * behind
    tau = (zetaold - carryold * tau) / pivot
    normr = sqrt(lost + square(behind - (zeta - carry * tau) / third) + ahead * ahead)
    norma = sqrt(frobenius)
    most = select(iterations > 0, max(most, secondold), most)
    least = select(iterations > 0, min(least, secondold), least)
    cond = max(most, inner) / min(least, inner)
    normar = abs(tail)
    normx = sqrt(xx)";

const BIDIAGONAL_BEGIN: &str = "\
    image = A x
    u = b - image
    bb = norm2(b)
    beta = sqrt(norm2(u))
    u = select(beta == 0, 0, 1 / beta) * u
    back = AH u
    alpha = sqrt(norm2(back))
    v = select(alpha == 0, 0, 1 / alpha) * back
    normb = sqrt(bb)
    normr = beta
    normar = alpha * beta
    normx = 0
    frobenius = 0
    istop = 0
    start beta
    stop if alpha * beta == 0 || (bb == 0 && damp == 0)
    limit";

/// The next column of the bidiagonal matrix, and the sum of squares of all that are complete.
const BIDIAGONAL_STEP: &str = "\
    image = A v
    u = image - alpha * u
    beta = sqrt(norm2(u))
    frobenius = frobenius + alpha * alpha + beta * beta + ridge
    u = select(beta == 0, 0, 1 / beta) * u
    back = AH u
    v = back - beta * v
    alpha = sqrt(norm2(v))
    v = select(alpha == 0, 0, 1 / alpha) * v";

/// Reasons in the order of their numbers: 1 to 3 within the tolerances, 4 to 6 the same to the last bit.
const LEAST_SQUARES_TESTS: &str = "\
    note normr
    sizeax = norma * normx
    sizear = norma * normr
    isbad = conlim > 0 && cond >= conlim
    islast = select(eps * cond >= 2, 6, 0)
    islast = select(sizear > 0 && normar <= eps / 2 * sizear, 5, islast)
    islast = select(normr <= eps / 2 * (normb + sizeax), 4, islast)
    istop = select(isbad, 3, islast)
    istop = select(sizear > 0 && normar <= atol * sizear, 2, istop)
    istop = select(normr <= btol * normb + atol * sizeax, 1, istop)
    fail -1 if !finite(normr)
    stop if istop != 0
    limit";

const LEAST_SQUARES_END: &[&str] = &["\
    image = A x
    u = b - image
    residual = sqrt(norm2(u))"];
