//! The solvers, as programs; `program.rs` says how to read them. Iterations and tests are those of SciPy.

/// A solver.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    pub(super) name: &'static str,
    /// Vectors as long as the solution beside `x`, and as long as the right side beside `b`.
    pub(super) vectors: &'static str,
    pub(super) row_vectors: &'static str,
    pub(super) begin: &'static str,
    pub(super) iteration: &'static str,
    /// What is computed at the end, if it is not the beginning once more.
    pub(super) end: &'static str,
}

impl Method {
    /// Conjugate gradients (Hestenes and Stiefel 1952) for Hermitian positive definite matrices.
    pub const CG: Self = Self {
        name: "cg",
        vectors: "r z d q",
        row_vectors: "",
        begin: "\
            q = A x
            r = b - q
            bb = norm2(b)
            rr = norm2(r)
            z = M r
            rho = dot(r, z)
            d = z
            threshold = max(atol, rtol * sqrt(bb))
            begin sqrt(rr)
            stop if bb == 0",
        iteration: "\
            q = A d
            dq = dot(d, q)
            fail -1 if !finite(dq) || (dq == 0 && rho != 0)
            negative = negative + (real(dq) < 0)
            alpha = quot(rho, dq)
            x = x + alpha * d
            r = r - alpha * q
            rr = norm2(r)
            z = M r
            rhonew = dot(r, z)
            beta = quot(rhonew, rho)
            rho = rhonew
            d = z + beta * d
            check sqrt(rr)",
        end: "",
    };

    /// Biconjugate gradients (Fletcher 1976); needs the adjoint.
    pub const BICG: Self = Self {
        name: "bicg",
        vectors: "r rt z zt p pt q qt",
        row_vectors: "",
        begin: "\
            q = A x
            r = b - q
            rt = r
            bb = norm2(b)
            rr = norm2(r)
            z = M r
            zt = MH rt
            rho = dot(rt, z)
            p = z
            pt = zt
            threshold = max(atol, rtol * sqrt(bb))
            begin sqrt(rr)
            stop if bb == 0
            fail -10 if abs(rho) < eps * eps",
        iteration: "\
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
            fail -10 if abs(rho) < eps * eps",
        end: "",
    };

    /// Stabilised biconjugate gradients (van der Vorst 1992).
    pub const BICGSTAB: Self = Self {
        name: "bicgstab",
        vectors: "r rt p ph v s sh t q",
        row_vectors: "",
        begin: "\
            q = A x
            r = b - q
            rt = r
            p = r
            bb = norm2(b)
            rr = norm2(r)
            rho = dot(rt, r)
            threshold = max(atol, rtol * sqrt(bb))
            begin sqrt(rr)
            stop if bb == 0
            fail -10 if abs(rho) < eps * eps",
        iteration: "\
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
            fail -10 if abs(rhonew) < eps * eps
            fail -11 if abs(omega) < eps * eps
            beta = (rhonew / rho) * (alpha / omega)
            rho = rhonew
            p = r + beta * (p - omega * v)",
        end: "",
    };

    /// Conjugate gradients squared (Sonneveld 1989), with residuals computed from the solution, as SciPy has it.
    pub const CGS: Self = Self {
        name: "cgs",
        vectors: "r rt p ph u q uq uh vh w",
        row_vectors: "",
        begin: "\
            w = A x
            r = b - w
            rt = r
            p = r
            u = r
            bb = norm2(b)
            rr = norm2(r)
            rho = dot(rt, r)
            threshold = max(atol, rtol * sqrt(bb))
            begin sqrt(rr)
            stop if bb == 0
            fail -10 if abs(rho) < eps * eps",
        iteration: "\
            ph = M p
            vh = A ph
            rv = dot(rt, vh)
            fail -11 if rv == 0
            alpha = rho / rv
            q = u - alpha * vh
            uq = u + q
            uh = M uq
            x = x + alpha * uh
            w = A x
            r = b - w
            rr = norm2(r)
            rhonew = dot(rt, r)
            check sqrt(rr)
            fail -10 if abs(rhonew) < eps * eps
            beta = rhonew / rho
            rho = rhonew
            u = r + beta * q
            p = u + beta * (q + beta * p)",
        end: "",
    };

    /// Minimal residuals (Paige and Saunders 1975) for Hermitian matrices, which may be indefinite.
    pub const MINRES: Self = Self {
        name: "minres",
        vectors: "q r1 r2 z y v w w1 w2",
        row_vectors: "",
        begin: "\
            q = A x
            r2 = b - q + shift * x
            bb = norm2(b)
            z = M r2
            beta = real(dot(r2, z))
            fail -1 if !finite(beta)
            fail -20 if beta < 0
            stop if beta == 0 || bb == 0
            beta = sqrt(beta)
            betafirst = beta
            betaratio = 0
            dbar = 0
            epsln = 0
            phibar = beta
            tnorm = 0
            gmax = 0
            gmin = largest
            cs = 0 - 1
            sn = 0
            istop = 0
            w = 0
            w2 = 0
            r1 = 0
            v = z / beta
            start beta",
        iteration: "\
            y = A v
            y = y - shift * v - betaratio * r1
            alfa = real(dot(v, y))
            y = y - (alfa / beta) * r2
            r1 = r2
            r2 = y
            z = M r2
            bz = real(dot(r2, z))
            fail -1 if !finite(bz)
            fail -21 if bz < 0
            oldb = beta
            beta = sqrt(bz)
            tnorm = tnorm + alfa * alfa + oldb * oldb + beta * beta
            isconstant = iterations == 0 && beta / betafirst <= 10 * eps
            oldeps = epsln
            delta = cs * dbar + sn * alfa
            gbar = sn * dbar - cs * alfa
            epsln = sn * beta
            dbar = 0 - cs * beta
            root = hypot(gbar, dbar)
            gamma = max(hypot(gbar, beta), eps)
            cs = gbar / gamma
            sn = beta / gamma
            phi = cs * phibar
            phibar = sn * phibar
            w1 = w2
            w2 = w
            w = (v - oldeps * w1 - delta * w2) / gamma
            x = x + phi * w
            yy = norm2(x)
            gmax = max(gmax, gamma)
            gmin = min(gmin, gamma)
            anorm = sqrt(tnorm)
            ynorm = sqrt(yy)
            testr = select(ynorm == 0 || anorm == 0, largest, phibar / (anorm * ynorm))
            testa = select(anorm == 0, largest, root / anorm)
            note phibar
            istop = select(anorm * ynorm * eps >= betafirst, 3, select(gmax / gmin >= 1 / (10 * eps), 4, 0))
            istop = select(testa <= rtol || 1 + testa <= 1, 2, istop)
            istop = select(testr <= rtol || 1 + testr <= 1, 1, istop)
            istop = select(isconstant, 0 - 1, istop)
            stop if istop != 0
            limit
            betaratio = beta / oldb
            v = z / beta",
        end: TRUE_RESIDUAL,
    };

    /// Quasi-minimal residuals (Freund and Nachtigal 1994) with a left and a right preconditioner; needs adjoints.
    pub const QMR: Self = Self {
        name: "qmr",
        vectors: "r vt wt v w y z yn zn yt zt p q pt aq d s",
        row_vectors: "",
        begin: "\
            pt = A x
            r = b - pt
            vt = r
            wt = r
            bb = norm2(b)
            rr = norm2(r)
            y = M1 vt
            z = M2H wt
            rho = sqrt(norm2(y))
            xi = sqrt(norm2(z))
            gamma = 1
            eta = scalar(0 - 1)
            theta = 0
            epsilon = scalar(1)
            p = 0
            q = 0
            d = 0
            s = 0
            threshold = max(atol, rtol * sqrt(bb))
            begin sqrt(rr)
            stop if bb == 0",
        iteration: "\
            fail -10 if rho < eps
            fail -15 if xi < eps
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
            fail -14 if abs(epsilon) < eps
            beta = epsilon / delta
            fail -11 if abs(beta) < eps
            vt = pt - beta * v
            wt = aq - conj(beta) * w
            y = M1 vt
            z = M2H wt
            rhoold = rho
            rho = sqrt(norm2(y))
            xi = sqrt(norm2(z))
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
            check sqrt(rr)",
        end: "",
    };

    /// Transpose-free quasi-minimal residuals (Freund 1993). Each turn is two of SciPy's iterations. The preconditioner
    /// stands on the right.
    pub const TFQMR: Self = Self {
        name: "tfqmr",
        vectors: "r rs u un mu mun uh v w d z q",
        row_vectors: "",
        begin: "\
            q = A x
            r = b - q
            rs = r
            u = r
            w = r
            d = 0
            bb = norm2(b)
            rr = norm2(r)
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
        iteration: "\
            vr = dot(rs, v)
            fail -1 if vr == 0
            alpha = rho / vr
            un = u - alpha * v
            w = w - alpha * uh
            d = u + (theta * theta * eta / alpha) * d
            theta = sqrt(norm2(w)) / tau
            tau = tau * theta / sqrt(1 + theta * theta)
            eta = alpha / (1 + theta * theta)
            z = M d
            x = x + eta * z
            check tau * sqrt(iterations)
            mun = M un
            uh = A mun
            w = w - alpha * uh
            d = un + (theta * theta * eta / alpha) * d
            theta = sqrt(norm2(w)) / tau
            rhonew = dot(rs, w)
            tau = tau * theta / sqrt(1 + theta * theta)
            eta = alpha / (1 + theta * theta)
            z = M d
            x = x + eta * z
            check tau * sqrt(iterations)
            beta = rhonew / rho
            rho = rhonew
            u = w + beta * un
            v = beta * uh + beta * beta * v
            mu = M u
            uh = A mu
            v = v + uh",
        end: "",
    };

    /// Least squares by bidiagonalisation (Paige and Saunders 1982); needs the adjoint.
    pub const LSQR: Self = Self {
        name: "lsqr",
        vectors: "v w tv",
        row_vectors: "u tu",
        begin: "\
            tu = A x
            u = b - tu
            bb = norm2(b)
            beta = sqrt(norm2(u))
            u = select(beta == 0, 0, 1 / beta) * u
            tv = AH u
            alfa = sqrt(norm2(tv))
            v = select(alfa == 0, 0, 1 / alfa) * tv
            w = v
            bnorm = sqrt(bb)
            anorm = 0
            acond = 0
            dnorm = 0
            res = 0
            xnorm = 0
            xxnorm = 0
            zold = 0
            cs2 = 0 - 1
            sn2 = 0
            rhobar = alfa
            phibar = beta
            rnorm = beta
            r1norm = beta
            arnorm = alfa * beta
            istop = 0
            start beta
            stop if alfa * beta == 0",
        iteration: "\
            tu = A v
            u = tu - alfa * u
            beta = sqrt(norm2(u))
            anorm = sqrt(anorm * anorm + alfa * alfa + beta * beta + damp * damp)
            u = select(beta == 0, 0, 1 / beta) * u
            tv = AH u
            v = tv - beta * v
            alfa = sqrt(norm2(v))
            v = select(alfa == 0, 0, 1 / alfa) * v
            rhobarone = hypot(rhobar, damp)
            psi = damp / rhobarone * phibar
            phibar = rhobar / rhobarone * phibar
            rho = hypot(rhobarone, beta)
            cs = rhobarone / rho
            sn = beta / rho
            theta = sn * alfa
            rhobar = 0 - cs * alfa
            phi = cs * phibar
            phibar = sn * phibar
            x = x + (phi / rho) * w
            ww = norm2(w)
            w = v - (theta / rho) * w
            dnorm = dnorm + ww / (rho * rho)
            delta = sn2 * rho
            gambar = 0 - cs2 * rho
            rhs = phi - delta * zold
            xnorm = sqrt(xxnorm + square(rhs / gambar))
            gamma = hypot(gambar, theta)
            cs2 = gambar / gamma
            sn2 = theta / gamma
            zold = rhs / gamma
            xxnorm = xxnorm + zold * zold
            acond = anorm * sqrt(dnorm)
            res = res + psi * psi
            rnorm = sqrt(phibar * phibar + res)
            arnorm = alfa * abs(sn * phi)
            rsq = rnorm * rnorm - damp * damp * xxnorm
            r1norm = select(rsq < 0, 0 - sqrt(0 - rsq), sqrt(abs(rsq)))
            note rnorm
            testb = rnorm / bnorm
            testa = arnorm / (anorm * rnorm + eps)
            testc = 1 / (acond + eps)
            xratio = anorm * xnorm / bnorm
            istop = select(1 + testa <= 1, 5, select(1 + testb / (1 + xratio) <= 1, 4, 0))
            istop = select(1 + testc <= 1, 6, istop)
            istop = select(testc <= select(conlim > 0, 1 / conlim, 0), 3, istop)
            istop = select(testa <= atol, 2, istop)
            istop = select(testb <= btol + atol * xratio, 1, istop)
            fail -1 if !finite(rnorm)
            stop if istop != 0
            limit",
        end: LEAST_SQUARES_END,
    };

    /// Least squares with residuals of the normal equations that decrease (Fong and Saunders 2011); needs the adjoint.
    pub const LSMR: Self = Self {
        name: "lsmr",
        vectors: "v h hbar tv",
        row_vectors: "u tu",
        begin: "\
            tu = A x
            u = b - tu
            bb = norm2(b)
            beta = sqrt(norm2(u))
            u = select(beta == 0, 0, 1 / beta) * u
            tv = AH u
            alfa = sqrt(norm2(tv))
            v = select(alfa == 0, 0, 1 / alfa) * tv
            h = v
            hbar = 0
            bnorm = sqrt(bb)
            zetabar = alfa * beta
            alfabar = alfa
            rho = 1
            rhobar = 1
            cbar = 1
            sbar = 0
            betadd = beta
            betad = 0
            rhodold = 1
            tautilde = 0
            thetatilde = 0
            zeta = 0
            d = 0
            asum = alfa * alfa
            anorm = alfa
            acond = 1
            maxrbar = 0
            minrbar = largest
            rnorm = beta
            arnorm = alfa * beta
            xnorm = 0
            istop = 0
            start beta
            stop if alfa * beta == 0",
        iteration: "\
            tu = A v
            u = tu - alfa * u
            beta = sqrt(norm2(u))
            u = select(beta == 0, 0, 1 / beta) * u
            tv = AH u
            v = tv - beta * v
            alfa = sqrt(norm2(v))
            v = select(alfa == 0, 0, 1 / alfa) * v
            alfahat = hypot(alfabar, damp)
            chat = alfabar / alfahat
            shat = damp / alfahat
            rhoold = rho
            rho = hypot(alfahat, beta)
            c = alfahat / rho
            s = beta / rho
            thetanew = s * alfa
            alfabar = c * alfa
            rhobarold = rhobar
            zetaold = zeta
            thetabar = sbar * rho
            rhotemp = cbar * rho
            rhobar = hypot(rhotemp, thetanew)
            cbar = rhotemp / rhobar
            sbar = thetanew / rhobar
            zeta = cbar * zetabar
            zetabar = 0 - sbar * zetabar
            hbar = h - (thetabar * rho / (rhoold * rhobarold)) * hbar
            x = x + (zeta / (rho * rhobar)) * hbar
            h = v - (thetanew / rho) * h
            xx = norm2(x)
            betaacute = chat * betadd
            betacheck = 0 - shat * betadd
            betahat = c * betaacute
            betadd = 0 - s * betaacute
            rhotilde = hypot(rhodold, thetabar)
            ctilde = rhodold / rhotilde
            stilde = thetabar / rhotilde
            thetaold = thetatilde
            thetatilde = stilde * rhobar
            rhodold = ctilde * rhobar
            betad = ctilde * betahat - stilde * betad
            tautilde = (zetaold - thetaold * tautilde) / rhotilde
            taud = (zeta - thetatilde * tautilde) / rhodold
            d = d + betacheck * betacheck
            rnorm = sqrt(d + square(betad - taud) + betadd * betadd)
            asum = asum + beta * beta
            anorm = sqrt(asum)
            asum = asum + alfa * alfa
            maxrbar = max(maxrbar, rhobarold)
            minrbar = select(iterations > 0, min(minrbar, rhobarold), minrbar)
            acond = max(maxrbar, rhotemp) / min(minrbar, rhotemp)
            arnorm = abs(zetabar)
            xnorm = sqrt(xx)
            note rnorm
            testb = rnorm / bnorm
            testa = select(anorm * rnorm == 0, largest, arnorm / (anorm * rnorm))
            testc = 1 / acond
            xratio = anorm * xnorm / bnorm
            istop = select(1 + testa <= 1, 5, select(1 + testb / (1 + xratio) <= 1, 4, 0))
            istop = select(1 + testc <= 1, 6, istop)
            istop = select(testc <= select(conlim > 0, 1 / conlim, 0), 3, istop)
            istop = select(testa <= atol, 2, istop)
            istop = select(testb <= btol + atol * xratio, 1, istop)
            fail -1 if !finite(rnorm)
            stop if istop != 0
            limit",
        end: LEAST_SQUARES_END,
    };

    /// Generalised minimal residuals (Saad and Schultz 1986) with restarts; the most iterations are those of cycles.
    pub const GMRES: Self = super::gmres::METHOD;

    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::CG,
        Self::BICG,
        Self::BICGSTAB,
        Self::CGS,
        Self::MINRES,
        Self::QMR,
        Self::TFQMR,
        Self::LSQR,
        Self::LSMR,
        Self::GMRES,
    ];

    /// Its name, which is SciPy's.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The solver of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name == name)
    }
}

/// The residual of the solution, where the test of a solver is another one.
const TRUE_RESIDUAL: &str = "\
    q = A x
    y = b - q
    residual = sqrt(norm2(y))";

const LEAST_SQUARES_END: &str = "\
    tu = A x
    u = b - tu
    residual = sqrt(norm2(u))";
