// Special functions: inverses of the error function, and Bessel functions.
#pragma once
#pragma clang fp contract(off)
extern "C++" {
// exp(x^2) erfc(x): the product, and for large x the asymptotic series.
RTCG_DEVICE double rtcg_exp_of_square(double x, double by) {
    const double hi = x * x, lo = __builtin_fma(x, x, -hi);
    return rtcg_exp(by * hi, by * lo);
}
static __inline__ __device__ double erfcx(double x) {
    if (x < 20) return x < -26.7 ? __builtin_inf() : x != x ? x : rtcg_exp_of_square(x, 1) * erfc(x);
    const double r = 1 / x, t = 0.5 * r * r;
    double p = 1 - 15 * t;
    p = 1 - 13 * t * p; p = 1 - 11 * t * p; p = 1 - 9 * t * p; p = 1 - 7 * t * p; p = 1 - 5 * t * p; p = 1 - 3 * t * p; p = 1 - t * p;
    return 0x1.20dd750429b6dp-1 * r * p;
}
// x with erfc(x) = z for 0 < z < 1, by Halley's method on a start of Abramowitz and Stegun (26.2.23). Both sides are scaled where z is tiny.
static __inline__ __device__ double rtcg_erfcinv_tail(double z) {
    const double t = __builtin_sqrt(-2 * (log(z) - 0x1.62e42fefa39efp-1));
    double x = 0.70711 * (t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int i = 0; i < 3; i++) {
        // (erfc(x) - z) / (2 / sqrt(pi) exp(-x^2)).
        const double hi = x * x, lo = __builtin_fma(x, x, -hi);
        const double2 d = rtcg_sum(hi, -0x1.9fe3682cd3be4p+8);
        const double scaled = z * 0x1p600 * rtcg_exp(d.x, d.y + lo - 0x1.4aa84b6b3b125p-46);
        const double e = (erfcx(x) - scaled) * 0x1.c5bf891b4ef6ap-1;
        x += e / (1 - x * e);
    }
    return x;
}
// x with erf(x) = y for |y| <= 1/2.
static __inline__ __device__ double rtcg_erfinv_middle(double y) {
    double x = y * (0.8862269254527580 + y * y * (0.2320136665346544 + y * y * (0.1275561753055979 + y * y * 0.0865521292415475)));
    for (int i = 0; i < 3; i++) {
        const double e = (erf(x) - y) * 0x1.c5bf891b4ef6ap-1 * rtcg_exp_of_square(x, 1);
        x -= e / (1 + x * e);
    }
    return y == 0 ? y : x;
}
static __inline__ __device__ double erfinv(double y) {
    const double a = __builtin_fabs(y);
    if (!(a < 1)) return a == 1 ? __builtin_copysign(__builtin_inf(), y) : __builtin_nan("");
    return a <= 0.5 ? rtcg_erfinv_middle(y) : __builtin_copysign(rtcg_erfcinv_tail(1 - a), y);
}
static __inline__ __device__ double erfcinv(double z) {
    if (!(z > 0 && z < 2)) return z == 0 ? __builtin_inf() : z == 2 ? -__builtin_inf() : __builtin_nan("");
    if (z >= 0.5 && z <= 1.5) return rtcg_erfinv_middle(1 - z);
    return z < 1 ? rtcg_erfcinv_tail(z) : -rtcg_erfcinv_tail(2 - z);
}
static __inline__ __device__ double normcdf(double x) {
    const double a = __builtin_fmin(__builtin_fmax(-x, -60.0), 60.0);
    const double t = a * 0x1.6a09e667f3bcdp-1, lo = __builtin_fma(a, 0x1.6a09e667f3bcdp-1, -t) + a * -0x1.bdd3413b26456p-55;
    const double tail = -lo * 0x1.20dd750429b6dp0 * rtcg_exp_of_square(t, -1);
    return x != x ? x : 0.5 * (erfc(t) + tail);
}
static __inline__ __device__ double normcdfinv(double p) { return -0x1.6a09e667f3bcdp0 * erfcinv(2 * p); }
// I0 and I1: the power series, whose terms are positive, and the asymptotic one.
RTCG_DEVICE double rtcg_bessel_i(int n, double a) {
    const double x = __builtin_fabs(a);
    if (x < 20) {
        // Terms as sums of two, so that their errors do not add up.
        const double2 q = {0.25 * x * x, 0.25 * __builtin_fma(x, x, -(x * x))};
        double2 term = {n ? 0.5 * x : 1, 0};
        double sum = term.x, rest = 0;
        for (int k = 1; k < 60 && term.x > 0x1p-56 * sum; k++) {
            const double d = (double)k * (k + n);
            const double2 p = rtcg_product(term.x, q.x);
            const double low = p.y + __builtin_fma(term.x, q.y, term.y * q.x), r = p.x / d;
            term = rtcg_quick_sum(r, (__builtin_fma(-r, d, p.x) + low) / d);
            const double2 s = rtcg_sum(sum, term.x);
            sum = s.x;
            rest += s.y + term.y;
        }
        return sum + rest;
    }
    double term = 1, sum = 1;
    for (int k = 1; k < 40; k++) { const double odd = 2 * k - 1; term *= (odd * odd - 4 * n * n) / (8 * k * x); sum += term; }
    // exp(x) in two steps overflows where the result does.
    const double factor = sum / __builtin_sqrt(6.283185307179586 * x), h = exp(0.5 * x);
    if (x < 709) return exp(x) * factor;
    return x > 714 ? __builtin_inf() : h * factor * h;
}
static __inline__ __device__ double cyl_bessel_i0(double a) { return a != a ? a : rtcg_bessel_i(0, a); }
static __inline__ __device__ double cyl_bessel_i1(double a) { return a != a ? a : __builtin_copysign(rtcg_bessel_i(1, a), a); }
// Bessel functions below 8: for each unit of x a centre, which is the function's zero where it has one there, and a polynomial in the distance from it, fitted with
// mpmath at Chebyshev's nodes; the distance is a factor where the centre is a zero.
static __device__ const double rtcg_j0_table[8][26] = {
    {0x1.0000000000000p-1, 0x0.0p+0, 0, 0x1.e07f1d54c3f34p-1, -0x1.f02a71f4870d7p-3, -0x1.d0d3c8b500d92p-3, 0x1.ee6a669de8507p-6, 0x1.cba1b24e5afe9p-7, -0x1.4907335c6eec2p-10, -0x1.964272f37eeb8p-12, 0x1.b63d2a08a3eb5p-16, 0x1.94e1a0700bc38p-18, -0x1.5e57ddde70d19p-22, -0x1.0289736714803p-24, 0x1.7582bc8122390p-29, 0x1.cae05e9f17bd5p-32, -0x1.1c78c5d4cc23fp-36, -0x1.2b4f59acee445p-39, 0x1.4503ca6a92942p-44, 0x1.2b06d5dc8fb65p-47, -0x1.20d57e5a48d40p-52, -0x1.d82d99cd05ed1p-56, 0x1.9ab48d583fbdap-61, 0x1.2e0176ae1471dp-64, -0x1.dc899fc974905p-70, -0x1.3e847ac54e904p-73},
    {0x1.8000000000000p+0, 0x0.0p+0, 0, 0x1.060e46ce9651bp-1, -0x1.1da9da9d6fc81p-1, -0x1.1e74299684869p-4, 0x1.13424c5d2de18p-4, 0x1.a680b1d2f1fa6p-9, -0x1.6832cecb704dcp-9, -0x1.36cfec74c11c5p-14, 0x1.dae0f22a389c9p-15, 0x1.10cb17acc35adp-20, -0x1.790e13f62204bp-21, -0x1.3d3b7f62747d2p-27, 0x1.90093aabd65dcp-28, 0x1.05f066c9b6c88p-34, -0x1.2f90464bdf162p-35, -0x1.42aabab321644p-42, 0x1.59d8356fde887p-43, 0x1.33a4ce727f907p-50, -0x1.32a5f0a549bf9p-51, -0x1.d3465502a597dp-59, 0x1.b33a44c3854eep-60, 0x1.2138115372277p-67, -0x1.f8365dfeba8d3p-69, -0x1.2898398ac8f87p-76},
    {0x1.33d152e971b40p+1, -0x1.0f539d7da258ep-53, 1, -0x1.09cdb36551280p-1, 0x1.ba1deea029494p-4, 0x1.cfae864368d70p-5, -0x1.1bb1cbe1a4071p-7, -0x1.1f992590d12bdp-9, 0x1.15382ba06cc47p-12, 0x1.6ed3b9f07eb28p-15, -0x1.232c77d228ab6p-18, -0x1.1cce302821846p-21, 0x1.7ff99166c20b8p-25, 0x1.2951bd4726a93p-28, -0x1.5c2c38b2a278cp-32, -0x1.bdc468c1a817ap-36, 0x1.cd41cf248a239p-40, 0x1.f70b0201c1398p-44, -0x1.d22d8ef714b15p-48, -0x1.baa352d87a54ep-52, 0x1.73612b18583d0p-56, 0x1.38293278c09cbp-60, -0x1.de7e566fe0996p-65, -0x1.68b1da402bd9dp-69, 0x1.fdbf0fa701233p-74, 0x1.3a9c86e6ef348p-78},
    {0x1.c000000000000p+1, 0x0.0p+0, 0, -0x1.854034ce30d51p-2, -0x1.19596399cff47p-3, 0x1.ad718c2d4e8a4p-3, 0x1.15069b76d7714p-10, -0x1.d8d4c2443c38ep-7, 0x1.05f1986b5d8f2p-12, 0x1.af6ea77166054p-12, -0x1.1edc7bd6c5063p-17, -0x1.b32add026a1a2p-18, 0x1.1d57f8c729b34p-23, 0x1.17452477d825dp-24, -0x1.58b7fc9e432e9p-30, -0x1.f0b4b1167a678p-32, 0x1.1cc02c6497f75p-37, 0x1.44388e3b92656p-39, -0x1.586bdddafda31p-45, -0x1.43eff9bac8965p-47, 0x1.3f482d2baedbbp-53, 0x1.ff61fb2d5672fp-56, -0x1.d5020df63c59cp-62, -0x1.46f1e07563dacp-64, 0x1.1730c6bd69c51p-70, 0x1.58a6d2bce2404p-73},
    {0x1.2000000000000p+2, 0x0.0p+0, 0, -0x1.483c4ba446893p-2, 0x1.d93636341586fp-3, 0x1.13a80cbaeecf8p-3, -0x1.7d924e27ef440p-5, -0x1.fabe5e99bc579p-8, 0x1.21690d2703397p-9, 0x1.969645d173ff2p-13, -0x1.97986ab1387d0p-15, -0x1.749cf02998c8fp-19, 0x1.4f769fe65599bp-21, 0x1.bc18e2df45831p-26, -0x1.6bd0602955261p-28, -0x1.74573072e106bp-33, 0x1.181fd12fbf673p-35, 0x1.cf573d48494bbp-41, -0x1.426b2a51fdebcp-43, -0x1.bce78b2f6ff3dp-49, 0x1.20076a9aea761p-51, 0x1.539df686d3602p-57, -0x1.9b22fc538bb3ap-60, -0x1.a6078f0e3b775p-66, 0x1.de6c427a6203ap-69, 0x1.b211fd7c52e03p-75},
    {0x1.6148f5b2c2e45p+2, 0x1.75054cd60a517p-54, 1, 0x1.5c6e60a097823p-2, -0x1.f8f72e7a848e0p-6, -0x1.b2150cb41e8c1p-5, 0x1.2f7ffe90256bbp-8, 0x1.27e31fe9a9779p-9, -0x1.6f641f41956f7p-13, -0x1.863f481a43036p-15, 0x1.ad77d748a06dbp-19, 0x1.32e6d99c6af7dp-21, -0x1.2da37e38435b9p-25, -0x1.41d72d9392e0ep-28, 0x1.1d0433d9a0e49p-32, 0x1.e2f3389aa5f69p-36, -0x1.8498ffdebdd5cp-40, -0x1.10477aeae34f7p-43, 0x1.911a8d781821cp-48, 0x1.de68af4849ff9p-52, -0x1.44b388108204ap-56, -0x1.50be82f2c71cdp-60, 0x1.a7a37dc8f70a4p-65, 0x1.84602604d8cf3p-69, -0x1.c60cd92bee78fp-74, -0x1.7a9ff53388f30p-78},
    {0x1.a000000000000p+2, 0x0.0p+0, 0, 0x1.0a563d835b27bp-2, 0x1.3b1125f2a3a6bp-3, -0x1.2292a2e4ca348p-3, -0x1.22efe06eea18cp-6, 0x1.85f0ca1f70d43p-7, 0x1.0dd235694a00ep-11, -0x1.85a26eff300dap-12, -0x1.cb3c91e894c86p-18, 0x1.9c3c17a00989ep-18, 0x1.a4d1ed7459b72p-25, -0x1.10098115cd749p-24, -0x1.87ae2f6b3f044p-33, 0x1.ec6d0c17fc1eap-32, 0x1.4b54ef62812dbp-48, -0x1.453964d6b3888p-39, 0x1.0a04fff1794bdp-48, 0x1.479d92227cf97p-47, -0x1.aba7408cfaa9bp-56, -0x1.042256ee55659p-55, 0x1.9f708336ce3dcp-64, 0x1.4e19c21c2e6bbp-64, -0x1.26ae0065278f0p-72, -0x1.61628b719024cp-73},
    {0x1.e000000000000p+2, 0x0.0p+0, 0, 0x1.10bb57e0e56e6p-2, -0x1.14fd20aa5273ap-3, -0x1.fc8822de4866fp-4, 0x1.c5288a7bc4534p-6, 0x1.29a1c87794d11p-7, -0x1.8f884bd407661p-10, -0x1.0ccd71b529c3ap-12, 0x1.34486d57c6622p-15, 0x1.06ff258bc439bp-18, -0x1.0c8642b319130p-21, -0x1.46263c1d075f7p-25, 0x1.2e4bd47e603eep-28, 0x1.189a1e01881d9p-32, -0x1.ddbec66bf3b89p-36, -0x1.63699b4f31684p-40, 0x1.182885d1c34a6p-43, 0x1.599bfb6f176d0p-48, -0x1.fbac676f061c0p-52, -0x1.0a4b3e027a788p-56, 0x1.6e4ef92d72ff6p-60, 0x1.4d44a6ff87948p-65, -0x1.adf39081041a2p-69, -0x1.58ab25c06cac3p-74}};
static __device__ const double rtcg_j1_table[8][26] = {
    {0x0.0p+0, 0x0.0p+0, 1, 0x1.0000000000000p-1, -0x1.1b4fea147a4b4p-118, -0x1.0000000000000p-4, -0x1.a99c5fb2004f0p-105, 0x1.5555555555555p-9, -0x1.5f21f5870631bp-95, -0x1.c71c71c71c71cp-15, -0x1.c426b89838a1fp-88, 0x1.6c16c16c16c17p-21, -0x1.557f9c67eb777p-82, -0x1.845c8a0ce5128p-28, -0x1.7297c0134c4c9p-78, 0x1.27e4fb778a7dfp-35, -0x1.404eabb4a89d4p-75, -0x1.522a43f3f7cb0p-43, -0x1.c9cb74f8ad736p-74, 0x1.2c975d2d41527p-51, -0x1.0814258764935p-73, -0x1.ab7bcae59887fp-60, -0x1.b7b4dfe72c229p-75, 0x1.f43ea4f3a1140p-69, -0x1.7c8cc6847ef33p-78, -0x1.ad0b3d67d99fcp-78},
    {0x1.8000000000000p+0, 0x0.0p+0, 0, 0x1.1da9da9d6fc81p-1, 0x1.1e74299684869p-3, -0x1.9ce3728bc4d24p-3, -0x1.a680b1d2f1fa6p-7, 0x1.c23f827e4c613p-7, 0x1.d237e2af21aa7p-12, -0x1.9f84d3e4f1890p-12, -0x1.10cb17acc35adp-17, 0x1.a82fd674e6454p-18, 0x1.8c8a5f3b119c7p-24, -0x1.1306585623607p-24, -0x1.88e89a2e922ccp-31, 0x1.ed4a723b4a84fp-32, 0x1.1a55635cbd379p-38, -0x1.443ab218e4b8dp-39, -0x1.33a4ce727e69dp-46, 0x1.45d04fc460bcep-47, 0x1.06d78fcda140fp-54, -0x1.026ad9f4765eap-55, -0x1.69860736f366ep-63, 0x1.4bca049cfd7cdp-64, 0x1.97ba33606a7e2p-72, -0x1.5efd83044b612p-73},
    {0x1.4000000000000p+1, 0x0.0p+0, 0, 0x1.fd063c84795ffp-2, -0x1.fa4f38f6aeb01p-3, -0x1.46518dd78ab28p-3, 0x1.3cb0a63cd0e86p-5, 0x1.4d6f582e188f9p-7, -0x1.cbdc9f9363daap-10, -0x1.277d8e2d7c5e5p-12, 0x1.4067acc327e61p-15, 0x1.25722ab9a6875p-18, -0x1.0740c6aff484ap-21, -0x1.74ffdcfae6296p-25, 0x1.1dd55de5b16c2p-28, 0x1.4980c33278ce9p-32, -0x1.b9167786775a1p-36, -0x1.ac12665e81f7dp-40, 0x1.fcddb6132c116p-44, 0x1.aa1beff2369a0p-48, -0x1.c7a09f4bf0998p-52, -0x1.4f59b116e092bp-56, 0x1.45e1482ebfbf0p-60, 0x1.abc7ea11ed328p-65, -0x1.7bf4c38a06ba0p-69, -0x1.c20f9eccc76aep-74},
    {0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53, 1, -0x1.9c6cf582cbf7fp-2, 0x1.ae8a39f51ad04p-5, 0x1.b589d1da13905p-5, -0x1.537544c331da7p-8, -0x1.24b3409959064p-9, 0x1.6e4c2d5354224p-13, 0x1.83a06e30c4109p-15, -0x1.9799d4c9f2549p-19, -0x1.33825cd2e2c16p-21, 0x1.17069233e916cp-25, 0x1.4569b22afc3c8p-28, -0x1.03b9e9651056ap-32, -0x1.ec62310af5f55p-36, 0x1.5ec84e47b6ebep-40, 0x1.17a40c942307cp-43, -0x1.67cb1cffabe95p-48, -0x1.ee7ff8f81f90dp-52, 0x1.21fb9094fdb93p-56, 0x1.5e058d0354f1ep-60, -0x1.7915a9158bdcep-65, -0x1.94e478f67759bp-69, 0x1.a0c0c08ccfb8fp-74, 0x1.c93c2c7c5f359p-78},
    {0x1.ea75575af6f09p+1, -0x1.60155a9d1b256p-53, 1, -0x1.9c6cf582cbf7fp-2, 0x1.ae8a39f51ad04p-5, 0x1.b589d1da13905p-5, -0x1.537544c331da7p-8, -0x1.24b3409959064p-9, 0x1.6e4c2d5354224p-13, 0x1.83a06e30c4109p-15, -0x1.9799d4c9f2549p-19, -0x1.33825cd2e2c17p-21, 0x1.17069233e9186p-25, 0x1.4569b22afc1a8p-28, -0x1.03b9e9650bcbfp-32, -0x1.ec62310b76d4dp-36, 0x1.5ec84e53931b3p-40, 0x1.17a40c205b446p-43, -0x1.67cb0e6e1eec8p-48, -0x1.ee80b94616a57p-52, 0x1.22038f25ed853p-56, 0x1.5dc1105ac936fp-60, -0x1.75a654383980cp-65, -0x1.a6c6339622110p-69, 0x1.0450ff1138068p-73, 0x1.33bd72c8226c9p-79},
    {0x1.6000000000000p+2, 0x0.0p+0, 0, -0x1.5da1fac37d47bp-2, 0x1.c47de19a97634p-5, 0x1.47ca6cd150ac5p-3, -0x1.20944ba66c61ep-6, -0x1.754082553aa47p-7, 0x1.0934009590956p-10, 0x1.592d7c136262bp-12, -0x1.9f84da36823dep-16, -0x1.5d75b8417b911p-18, 0x1.6dde534ba429fp-22, 0x1.c059a7c719ee7p-25, -0x1.9f9fbb1768b6fp-29, -0x1.8dded11460817p-32, 0x1.4afcf686192e3p-36, 0x1.02fd10595f338p-39, -0x1.86d1fb75e82ddp-44, -0x1.0200aef7556ecp-47, 0x1.642f8ace9c0eep-52, 0x1.961eb86e41eb9p-56, -0x1.02537ba586467p-60, -0x1.02ef768796772p-64, 0x1.309394862dc6bp-69, 0x1.10433b519ab61p-73},
    {0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54, 1, 0x1.33518b3874e8ap-2, -0x1.5e70dc60362bfp-6, -0x1.80c83bdeee5b0p-5, 0x1.9a4b292e3de42p-9, 0x1.13fbc7d698217p-9, -0x1.07358bbdbff91p-13, -0x1.796a751f89051p-15, 0x1.4255b015aded4p-19, 0x1.3026e0ce97ab9p-21, -0x1.d48dcdae92f2cp-26, -0x1.44639d7eeb0a7p-28, 0x1.c62ccb4a32e49p-33, 0x1.ecae92e853aefp-36, -0x1.3bb6898d893abp-40, -0x1.183edbba2c98ap-43, 0x1.4ae3e7a93095ep-48, 0x1.efbb19e754abfp-52, -0x1.0f29213f436b4p-56, -0x1.5ec68d45f59dcp-60, 0x1.65125bb239d5fp-65, 0x1.94402e37008a0p-69, -0x1.98491dc0b01cap-74, -0x1.d6ea15cd8f129p-78},
    {0x1.c0ff5f3b47250p+2, -0x1.b226d9d243827p-54, 1, 0x1.33518b3874e8ap-2, -0x1.5e70dc60362bfp-6, -0x1.80c83bdeee5b0p-5, 0x1.9a4b292e3de42p-9, 0x1.13fbc7d698217p-9, -0x1.07358bbdbff91p-13, -0x1.796a751f89051p-15, 0x1.4255b015aded4p-19, 0x1.3026e0ce97ab9p-21, -0x1.d48dcdae92f2cp-26, -0x1.44639d7eeb0a4p-28, 0x1.c62ccb4a32de7p-33, 0x1.ecae92e8558dcp-36, -0x1.3bb6898da7bffp-40, -0x1.183edbb5a86f1p-43, 0x1.4ae3e73bccff8p-48, 0x1.efbb2bfcd271dp-52, -0x1.0f29b5e382ff9p-56, -0x1.5eb844a395c47p-60, 0x1.6485b43412c65p-65, 0x1.9bea016ec0132p-69, -0x1.ba1a6333246edp-74, -0x1.d3b18be1f1d88p-79}};
static __device__ const double rtcg_y0_table[8][26] = {
    {0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56, 1, 0x1.c24371844b88ap-1, -0x1.f7e38a46d7102p-2, 0x1.c3b1338af3eb2p-3, -0x1.cf18e6a4b37ffp-3, 0x1.c068086c22bd8p-3, -0x1.a396a805d08efp-3, 0x1.9424b93a8566ep-3, -0x1.8d35b419b76c6p-3, 0x1.8c08ca8a41ceep-3, -0x1.8f7e9255ed875p-3, 0x1.96df450324bf2p-3, -0x1.a18f8ea80e5dbp-3, 0x1.b074144af0c8bp-3, -0x1.c62bc51e06f0bp-3, 0x1.939f3d92efe88p-3, -0x1.51224f93a15f9p-2, 0x1.77370e0110c0dp-1, 0x1.39dcfe78c38e9p+2, 0x1.6488aa3f7da60p+4, 0x1.b66aa2a949d8fp+5, 0x1.56ae4c58063d1p+6, 0x1.3280bd6798e80p+6, 0x1.01fb794b809a3p+5},
    {0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56, 1, 0x1.c24371844ae95p-1, -0x1.f7e38a4682589p-2, 0x1.c3b133761877cp-3, -0x1.cf18e50f902e4p-3, 0x1.c067f3215c8d0p-3, -0x1.a395d495fed30p-3, 0x1.941e6c6306d8ap-3, -0x1.8d0fc41e06518p-3, 0x1.8b50ccc16c8fbp-3, -0x1.8ca443f339fcfp-3, 0x1.8d813d43f9f97p-3, -0x1.87fab8eec58dbp-3, 0x1.7403d9d747949p-3, -0x1.4a86ed9c9f95cp-3, 0x1.0abbdba13215bp-3, -0x1.7b5b8551e9dbcp-4, 0x1.cd79612716b51p-5, -0x1.d19ccbb9d61aep-6, 0x1.784399f2118a7p-7, -0x1.d194cb801fc1dp-9, 0x1.9c7a9a9aec9d3p-11, -0x1.d094928cc7b0fp-14, 0x1.f2bda7e046088p-18},
    {0x1.4000000000000p+1, 0x0.0p+0, 0, 0x1.fe0628069e15dp-2, -0x1.2ad720f3af3a9p-3, -0x1.c24187d5e1708p-3, 0x1.977cb3a5331bfp-5, 0x1.0ebd002e3ba4cp-7, -0x1.80d4033129b65p-11, -0x1.6bd70c620a51bp-11, 0x1.729c076c846fbp-13, -0x1.72eb2b0fe4d42p-15, 0x1.1f44a8888ddb3p-16, -0x1.b167917b16caep-18, 0x1.3be44d3961872p-19, -0x1.d0e5b862b01a9p-21, 0x1.58e3e3fa6ef46p-22, -0x1.01184c2d1e43cp-23, 0x1.80f17bd0050e0p-25, -0x1.21559f19348d9p-26, 0x1.b501d79aa4bdap-28, -0x1.4aad18b29d23bp-29, 0x1.ea03d016ddb0ap-31, -0x1.74b9992a0f815p-32, 0x1.6801f66d347cbp-33, -0x1.1358ca0d78d1fp-34},
    {0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54, 1, -0x1.9c34256a12a0cp-2, 0x1.a09c9290367efp-5, 0x1.df6d59bf50ebdp-5, -0x1.c116fdc598096p-8, -0x1.1e32bc4ef8a41p-9, 0x1.9982765166253p-13, 0x1.ab2c1fecdcfc2p-15, -0x1.486371e6a5b6fp-18, -0x1.3b21683fb982ep-22, -0x1.777057ee46628p-26, 0x1.452ea39efe150p-26, -0x1.f692fa1e5a3d6p-29, 0x1.a5aa3803eaf6ep-31, -0x1.98efadaeb4823p-33, 0x1.8bfce54ff4e68p-35, -0x1.5e0f622acb778p-37, 0x1.e2ed011655bf3p-39, 0x1.8ae1e974c1408p-42, 0x1.03d813000e8f4p-40, 0x1.e94ccfe410112p-42, 0x1.d6f6c7829e7aap-43, 0x1.df6d65d204d56p-45, 0x1.2aef8be0caa91p-47},
    {0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54, 1, -0x1.9c34256a12a0cp-2, 0x1.a09c9290367efp-5, 0x1.df6d59bf50ebdp-5, -0x1.c116fdc598096p-8, -0x1.1e32bc4ef8a41p-9, 0x1.9982765166255p-13, 0x1.ab2c1fecdcf76p-15, -0x1.486371e6a5371p-18, -0x1.3b216840fb56dp-22, -0x1.777058520f65cp-26, 0x1.452e9f86375d7p-26, -0x1.f6937b647b6aep-29, 0x1.a5a171d304b09p-31, -0x1.994a3b86d6f0dp-33, 0x1.8891986a20741p-35, -0x1.7491daa32b2a7p-37, 0x1.615ead6f95d69p-39, -0x1.4aa3a73c6ec0ep-41, 0x1.27da39106a0ebp-43, -0x1.ddd92456f33a4p-46, 0x1.3cf8df8a10cc5p-48, -0x1.28d7ac916e5a3p-51, 0x1.1db3543b370f3p-55},
    {0x1.6000000000000p+2, 0x0.0p+0, 0, -0x1.5ba0ccf037ce6p-2, 0x1.854146d501fdfp-6, 0x1.57346c22293d0p-3, -0x1.ca4458e622489p-7, -0x1.96e938a041e28p-7, 0x1.01700cdc2a64ap-10, 0x1.6ee43fa45eacfp-12, -0x1.953c0ce220bd0p-16, -0x1.7766fec1b31f6p-18, 0x1.7e374efafca3ep-22, 0x1.c4b3a218a09dfp-25, -0x1.7334675982c04p-29, -0x1.e325c18cc4b30p-32, 0x1.04b40af3489cfp-35, 0x1.e95bbf87e43ccp-44, 0x1.f15de5ec16bfep-43, -0x1.10b795d423334p-44, 0x1.5579821782e3ap-47, -0x1.c1e27e1a955b0p-50, 0x1.3adcb3718b18cp-52, -0x1.b704f8a262b0bp-55, 0x1.3eece5cd48afdp-57, -0x1.bc3f34be452adp-60},
    {0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54, 1, 0x1.334cca0697a5bp-2, -0x1.5aef611fc4d57p-6, -0x1.8969c64cbf452p-5, 0x1.b2f14a95527cbp-9, 0x1.1d35e85fde2a3p-9, -0x1.26dd71e391c8bp-13, -0x1.8177e4fe52324p-15, 0x1.6a9227352f970p-19, 0x1.34aa7573ef1bcp-21, -0x1.0a2814d7aa919p-25, -0x1.442a3d332e0fep-28, 0x1.fa6c50a3b15cap-33, 0x1.f14e567a391dcp-36, -0x1.714c0e14c2a5fp-40, -0x1.067894033211bp-43, 0x1.33940ae5d3fe3p-48, 0x1.3a301df4909acp-51, -0x1.1afb2985ddac2p-55, 0x1.34fc9e48f91fep-59, 0x1.265e50185a077p-62, 0x1.e99baf71bc4f2p-63, 0x1.23b168cfb4af2p-65, 0x1.7db3bb04ecf82p-68},
    {0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54, 1, 0x1.334cca0697a5bp-2, -0x1.5aef611fc4d57p-6, -0x1.8969c64cbf452p-5, 0x1.b2f14a95527cbp-9, 0x1.1d35e85fde2a3p-9, -0x1.26dd71e391c8bp-13, -0x1.8177e4fe52324p-15, 0x1.6a9227352f96ap-19, 0x1.34aa7573ef14ep-21, -0x1.0a2814d7ac448p-25, -0x1.442a3d3359adbp-28, 0x1.fa6c509566f58p-33, 0x1.f14e558478ab9p-36, -0x1.714c292956609p-40, -0x1.0679cd96c74a4p-43, 0x1.3365e788c040ap-48, 0x1.38ce0c7e04a9cp-51, -0x1.2bc09e5e39807p-55, 0x1.24321fd2bf9dap-60, -0x1.1e8e27c8f890cp-62, 0x1.663d8ef1fd129p-65, -0x1.157dda4e43ed0p-68, 0x1.f7c653d3d1722p-73}};
static __device__ const double rtcg_y1_table[8][26] = {
    {0x1.8000000000000p-1, 0x0.0p+0, 0, -0x1.8e6fb1d917c45p-1, -0x1.a5650e2cf6b5bp-4, 0x1.48342f7c43fb5p-2, 0x1.8548266129af6p-3, -0x1.4219d281a542ap-4, 0x1.6ab40f38ba7a2p-7, -0x1.b0bb3742a7531p-7, 0x1.92de1e2f035d9p-7, -0x1.50a1a94a1ce30p-7, 0x1.2da56a61dd669p-7, -0x1.1bc3b46cca04fp-7, 0x1.1480dc1f654abp-7, -0x1.1566874d23f20p-7, 0x1.1d2e1f5900b10p-7, -0x1.2b436ba8d56fcp-7, 0x1.3f3c2ce3d0c96p-7, -0x1.5a248536a987bp-7, 0x1.83353c476e6f2p-7, -0x1.aee1cf5d95b72p-7, 0x1.97497c1cf0359p-7, -0x1.cb2bca8e24db2p-7, 0x1.fc0014069c38cp-6, -0x1.2678e36d1548dp-5},
    {0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55, 1, 0x1.24ed004380aabp+0, 0x1.0aa48442f6f57p-2, -0x1.869155ae27e0dp-3, -0x1.6386056de9c64p-5, 0x1.792dd70a52d7cp-7, 0x1.c302f74e6be1bp-10, -0x1.073b899da9d02p-12, -0x1.b48edc13940a1p-15, 0x1.7cedd86f837bbp-17, 0x1.cee4182d99231p-18, 0x1.3bfc5103ded36p-16, 0x1.2b9fdaeffa017p-15, 0x1.e6bd2a2820e0bp-15, 0x1.44c9eb9908864p-14, 0x1.660cbce9a6a38p-14, 0x1.43404c2f25676p-14, 0x1.d965a45a02835p-15, 0x1.14b4f293109cdp-15, 0x1.f8840cf0134bdp-17, 0x1.59dc3517771e5p-18, 0x1.4fe0a09acc598p-20, 0x1.9cc395f774302p-23, 0x1.e4da79f407948p-27},
    {0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55, 1, 0x1.24ed004380a15p+0, 0x1.0aa48442f014bp-2, -0x1.869155af562c7p-3, -0x1.638605ae9570ep-5, 0x1.792dcd5d889d1p-7, 0x1.c300cfe757766p-10, -0x1.076afa9fb56aep-12, -0x1.bb073cd3da262p-15, 0x1.21db2874d6f54p-17, -0x1.e075ff5ab3879p-21, 0x1.d462b282c5be1p-22, -0x1.712c503fa0a99p-23, 0x1.01b40113c5327p-24, -0x1.7323f548d4e0fp-26, 0x1.1142590e3d75bp-27, -0x1.97792f529bf74p-29, 0x1.3328c8483a83bp-30, -0x1.d175926453406p-32, 0x1.5ae9d9e58943ap-33, -0x1.e1398e2467f13p-35, 0x1.17f125e995924p-36, -0x1.cdf0422a24a1fp-39, 0x1.841450558c0b4p-42},
    {0x1.c000000000000p+1, 0x0.0p+0, 0, 0x1.6f8760e81642dp+0, 0x1.52ba31df9066fp-1, -0x1.3f23a2ecb87d4p-1, -0x1.6dd4462a68bfap-3, 0x1.9100a984dce75p-5, 0x1.9121deaefde3fp-7, -0x1.b835b58d49d4bp-10, -0x1.6f501f861b96ep-12, 0x1.f8b4ee4d11349p-16, 0x1.8528c16e8f4f8p-18, -0x1.9a27403fa907fp-22, -0x1.ba388e9e98b13p-25, 0x1.799cea525143dp-30, 0x1.900d8ab0d63f1p-31, -0x1.8c37598e4caf8p-34, 0x1.0c69db241a733p-36, -0x1.1bc9802f70f5cp-38, 0x1.15f65697c7523p-40, -0x1.09ed9cb85165ep-42, 0x1.01267e5214531p-44, -0x1.f7e69f530774ap-47, 0x1.10e3524147873p-48, -0x1.0f3845ff32682p-50},
    {0x1.2000000000000p+2, 0x0.0p+0, 0, 0x1.5abfb8f87467cp+0, -0x1.c099afdfe14ccp-1, -0x1.8c97e8f4e2c5ap-1, 0x1.88a7278dcaf98p-4, 0x1.350a7588662bfp-4, -0x1.7b34d4d61b3abp-9, -0x1.7c95344f760a6p-9, 0x1.421197c24b2dap-15, 0x1.e686c35cce8d5p-15, -0x1.5fd2bdfc79d77p-23, -0x1.7f2fe851598c9p-21, -0x1.679d59a89776dp-32, 0x1.8a465b656f25fp-28, 0x1.4eca50a97efadp-35, -0x1.4c3c239a06110p-35, 0x1.042e42e267117p-41, 0x1.5c78c1eae5037p-45, 0x1.8dbf8431ccbfcp-46, -0x1.47ec9597f4dfdp-48, 0x1.b6a37af15627cp-51, -0x1.4d8ed84c42d69p-53, 0x1.12828920cfb6fp-55, -0x1.a9d60916f2d7bp-58},
    {0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52, 1, -0x1.d90aa1171bb5bp+0, -0x1.5c7c556f0c19ap-3, 0x1.3b5c6b64bd23dp-2, 0x1.d0a5c73ebaccdp-6, -0x1.04d8aafe29554p-6, -0x1.671c08e5b1766p-10, 0x1.a240a63a5c698p-12, 0x1.03482ee990c62p-15, -0x1.874d8f9294215p-18, -0x1.b60a7064f5cfcp-22, 0x1.e02ee958d532ap-25, 0x1.e1a99f99923afp-29, -0x1.9a56b55309315p-32, -0x1.7fd813bbb5633p-36, 0x1.0dfcde90272b9p-39, 0x1.9661dafef46a4p-44, -0x1.add61ba71cf49p-48, -0x1.33d21146ffe52p-51, 0x1.dc855a2b24691p-55, -0x1.17d73526d5a79p-58, 0x1.a551d402294c8p-61, -0x1.2a7dbe81eae46p-63, 0x1.2f12e9a7a90d0p-66},
    {0x1.a000000000000p+2, 0x0.0p+0, 0, -0x1.c8167f4b880b2p+0, -0x1.20468161aab65p+0, 0x1.9bbce18b46653p-1, 0x1.ddec77d9ebd48p-3, -0x1.f83e5f6af3e6bp-5, -0x1.cceb4d179777cp-7, 0x1.fbc9d5a5695c5p-10, 0x1.990913e8322d0p-12, -0x1.18a50198740e7p-15, -0x1.9b1447fcbecd9p-18, 0x1.8779230302160p-22, 0x1.08ef02a6cbed3p-24, -0x1.789a50c4e652ep-29, -0x1.d98cbb6e0897dp-32, 0x1.077020b9cd0cfp-36, 0x1.37c69afd6a93ap-39, -0x1.1cbb6ceb14c88p-44, -0x1.35ff6a88ab1f1p-47, 0x1.c3cb0c0d1f9f6p-53, 0x1.043adb4b7e607p-55, -0x1.aa055800442d6p-61, -0x1.957f8ea3b696bp-65, -0x1.3e79aa003528cp-69},
    {0x1.e000000000000p+2, 0x0.0p+0, 0, -0x1.f186d870fe332p+0, 0x1.c27ba71ee4873p-1, 0x1.07c78b6431625p+0, -0x1.a7bee183dc02dp-4, -0x1.799fc13173cdap-4, 0x1.a61aa6f6edbb0p-9, 0x1.b2ecbc549f71fp-9, -0x1.34d395f0a5c85p-15, -0x1.0bd22b14e038bp-14, 0x1.6bc340e599ddbp-25, 0x1.980f70ba2f1ccp-21, 0x1.c6d3402e78c7fp-29, -0x1.a56027bc575bfp-28, -0x1.70edd4d6f5f0bp-35, 0x1.39ad389c8d2e0p-35, 0x1.458404daa60aap-42, -0x1.60a59c5284cadp-43, -0x1.847536bc06d82p-50, 0x1.34ba74d5b6031p-51, 0x1.66d4e2970f209p-58, -0x1.b7116ec37ae9ap-60, -0x1.b2e00a6c26121p-67, 0x1.da2813b161636p-69}};
RTCG_DEVICE double rtcg_bessel_of(const double (*table)[26], double x) {
    const double *t = table[(int)x];
    const double h = (x - t[0]) - t[1];
    double p = t[25];
    for (int k = 24; k >= 3; k--) p = __builtin_fma(p, h, t[k]);
    return t[2] != 0 ? p * h : p;
}
// Hankel's expansions above: the modulus' parts are polynomials in (8 / x)^2.
template <int N>
static __inline__ __device__ double rtcg_hankel(double x, bool of_second_kind) {
    const double t = 64 / (x * x), r = 1 / x;
    double P, Q;
    if (N == 0) {
        double p = -0x1.98d03b68531e8p-34;
        p = __builtin_fma(p, t, 0x1.973fd1e6805adp-31); p = __builtin_fma(p, t, -0x1.7c3a593b33d46p-29);
        p = __builtin_fma(p, t, 0x1.c34f02f6ab9d5p-28); p = __builtin_fma(p, t, -0x1.8d2724101f69ap-27);
        p = __builtin_fma(p, t, 0x1.281d8915b4133p-26); p = __builtin_fma(p, t, -0x1.b44a40acff023p-26);
        p = __builtin_fma(p, t, 0x1.78592233d2c17p-25); p = __builtin_fma(p, t, -0x1.b7c5a211de8d1p-24);
        p = __builtin_fma(p, t, 0x1.84bae63f53604p-22); p = __builtin_fma(p, t, -0x1.251ee2fa55270p-19);
        p = __builtin_fma(p, t, 0x1.cb5ffff9ec7cbp-16); p = __builtin_fma(p, t, -0x1.1fffffffffa1fp-10);
        p = __builtin_fma(p, t, 0x1.0000000000000p+0);
        double q = 0x1.b75f898999ae4p-31;
        q = __builtin_fma(q, t, -0x1.b1ce89240c793p-28); q = __builtin_fma(q, t, 0x1.8fa88bb3adfb6p-26);
        q = __builtin_fma(q, t, -0x1.d08a7a88d5401p-25); q = __builtin_fma(q, t, 0x1.8afc9b5640da9p-24);
        q = __builtin_fma(q, t, -0x1.160bfb27c8768p-23); q = __builtin_fma(q, t, 0x1.755c6a3714f8cp-23);
        q = __builtin_fma(q, t, -0x1.19413a5ad1aa1p-22); q = __builtin_fma(q, t, 0x1.13523b68b9ab8p-21);
        q = __builtin_fma(q, t, -0x1.861185955b9fbp-20); q = __builtin_fma(q, t, 0x1.ba4c4238fea87p-18);
        q = __builtin_fma(q, t, -0x1.d11dffe3e6b73p-15); q = __builtin_fma(q, t, 0x1.2bfffffffc9b2p-10);
        q = __builtin_fma(q, t, -0x1.fffffffffffffp-4);
        P = p; Q = q * r;
    } else {
        double p = 0x1.b0cd117977f25p-34;
        p = __builtin_fma(p, t, -0x1.af5ff5e36bac6p-31); p = __builtin_fma(p, t, 0x1.9314b86070a07p-29);
        p = __builtin_fma(p, t, -0x1.df10965e5dc02p-28); p = __builtin_fma(p, t, 0x1.a6870c96a2caep-27);
        p = __builtin_fma(p, t, -0x1.3c489a60fa0c6p-26); p = __builtin_fma(p, t, 0x1.d532640a6cb71p-26);
        p = __builtin_fma(p, t, -0x1.993023b179944p-25); p = __builtin_fma(p, t, 0x1.e61439a2c509dp-24);
        p = __builtin_fma(p, t, -0x1.b88fba1e816cfp-22); p = __builtin_fma(p, t, 0x1.5a6a52b45b810p-19);
        p = __builtin_fma(p, t, -0x1.274ffffccbd27p-15); p = __builtin_fma(p, t, 0x1.dfffffffff9cdp-10);
        p = __builtin_fma(p, t, 0x1.0000000000000p+0);
        double q = -0x1.d03be967a5e0ap-31;
        q = __builtin_fma(q, t, 0x1.ca91028847295p-28); q = __builtin_fma(q, t, -0x1.a6c43f4f1369cp-26);
        q = __builtin_fma(q, t, 0x1.ebf3d8f4bc319p-25); q = __builtin_fma(q, t, -0x1.a3159755d9dd6p-24);
        q = __builtin_fma(q, t, 0x1.27fb4f74561e0p-23); q = __builtin_fma(q, t, -0x1.8fb473576d394p-23);
        q = __builtin_fma(q, t, 0x1.2fde7481ec067p-22); q = __builtin_fma(q, t, -0x1.2d8ea722a70a9p-21);
        q = __builtin_fma(q, t, 0x1.b3f5ccd6fdba9p-20); q = __builtin_fma(q, t, -0x1.fe57ffffacbc7p-18);
        q = __builtin_fma(q, t, 0x1.1c3cfff135d3ap-14); q = __builtin_fma(q, t, -0x1.a3fffffffc6d4p-10);
        q = __builtin_fma(q, t, 0x1.8000000000000p-2);
        P = p; Q = q * r;
    }
    double s, c;
    sincos(x, &s, &c);
    // The sine and cosine of x - pi / 4, and of x - 3 pi / 4, times the root of 2.
    const double sine = N == 0 ? s - c : -s - c, cosine = N == 0 ? s + c : s - c;
    const double scale = 0x1.20dd750429b6dp-1 / __builtin_sqrt(x);
    return scale * (of_second_kind ? P * sine + Q * cosine : P * cosine - Q * sine);
}
static __inline__ __device__ double j0(double a) {
    const double x = __builtin_fabs(a);
    if (x < 8) return rtcg_bessel_of(rtcg_j0_table, x);
    return x == __builtin_inf() ? 0 : x != x ? x : rtcg_hankel<0>(x, false);
}
static __inline__ __device__ double j1(double a) {
    const double x = __builtin_fabs(a);
    const double y = x < 8 ? rtcg_bessel_of(rtcg_j1_table, x) : x == __builtin_inf() ? 0 : x != x ? x : rtcg_hankel<1>(x, false);
    return __builtin_copysign(1.0, a) * y;
}
static __inline__ __device__ double y0(double x) {
    if (!(x > 0)) return x == 0 ? -__builtin_inf() : __builtin_nan("");
    if (x >= 8) return x == __builtin_inf() ? 0 : rtcg_hankel<0>(x, true);
    if (x >= 0.5) return rtcg_bessel_of(rtcg_y0_table, x);
    const double t = x * x;
    double p = -0x1.a4f151e5803e4p-31;
    p = __builtin_fma(p, t, 0x1.bce3483520658p-24); p = __builtin_fma(p, t, -0x1.3e9978cace765p-17);
    p = __builtin_fma(p, t, 0x1.1a6206b78fbccp-11); p = __builtin_fma(p, t, -0x1.075b1bbf41285p-6);
    p = __builtin_fma(p, t, 0x1.6bbcb41034286p-3); p = __builtin_fma(p, t, -0x1.2e4d699cbd01fp-4);
    return __builtin_fma(0x1.45f306dc9c883p-1 * log(x), j0(x), p);
}
static __inline__ __device__ double y1(double x) {
    if (!(x > 0)) return x == 0 ? -__builtin_inf() : __builtin_nan("");
    if (x >= 8) return x == __builtin_inf() ? 0 : rtcg_hankel<1>(x, true);
    if (x >= 0.5) return rtcg_bessel_of(rtcg_y1_table, x) / x;
    const double t = x * x;
    double p = -0x1.eec52cd81127cp-35;
    p = __builtin_fma(p, t, 0x1.32e4f1dff5685p-27); p = __builtin_fma(p, t, -0x1.0a780a8a767b9p-20);
    p = __builtin_fma(p, t, 0x1.2c7dbffcc93efp-14); p = __builtin_fma(p, t, -0x1.835b97894bde9p-9);
    p = __builtin_fma(p, t, 0x1.bd3975c75b4a7p-5); p = __builtin_fma(p, t, -0x1.91866143cbc8ap-3);
    return -0x1.45f306dc9c883p-1 / x + __builtin_fma(0x1.45f306dc9c883p-1 * log(x), j1(x), x * p);
}
// Of order n: forward where the order is below x, else backward from far above it (Miller).
static __inline__ __device__ double jn(int n, double a) {
    const double x = __builtin_fabs(a);
    if (n == 0) return j0(a);
    if (n == 1) return j1(a);
    if (n < 0 || a != a) return __builtin_nan("");
    if (x == 0 || x == __builtin_inf()) return 0;
    double y;
    if (n <= x) {
        double before = j0(x), now = j1(x);
        for (int k = 1; k < n; k++) { const double next = 2 * k / x * now - before; before = now; now = next; }
        y = now;
    } else {
        const int top = 2 * ((n + (int)__builtin_sqrt(160.0 * n)) / 2);
        double after = 0, now = 1, sum = 0, found = 0;
        for (int k = top; k > 0; k--) {
            const double before = 2 * k / x * now - after;
            after = now; now = before;
            if (__builtin_fabs(now) > 0x1p500) { now *= 0x1p-500; after *= 0x1p-500; found *= 0x1p-500; sum *= 0x1p-500; }
            if ((k - 1) % 2 == 0 && k > 1) sum += now;
            if (k == n) found = after;
        }
        y = found / (2 * sum + now);
    }
    return a < 0 && n % 2 ? -y : y;
}
static __inline__ __device__ double yn(int n, double x) {
    if (n == 0) return y0(x);
    if (n == 1) return y1(x);
    if (n < 0 || !(x > 0)) return x == 0 && n >= 0 ? -__builtin_inf() : __builtin_nan("");
    if (x == __builtin_inf()) return 0;
    double before = y0(x), now = y1(x);
    for (int k = 1; k < n && now > -__builtin_inf(); k++) { const double next = 2 * k / x * now - before; before = now; now = next; }
    return now;
}

// In single precision they are computed in double precision, and rounded once.
#define RTCG_BY_DOUBLE(name) \
    RTCG_DEVICE float name##f(float a) { return (float)name((double)a); } \
    RTCG_DEVICE float name(float a) { return (float)name((double)a); }
RTCG_BY_DOUBLE(erfinv) RTCG_BY_DOUBLE(erfcinv) RTCG_BY_DOUBLE(erfcx) RTCG_BY_DOUBLE(normcdf) RTCG_BY_DOUBLE(normcdfinv) RTCG_BY_DOUBLE(cyl_bessel_i0) RTCG_BY_DOUBLE(cyl_bessel_i1)
RTCG_BY_DOUBLE(j0) RTCG_BY_DOUBLE(j1) RTCG_BY_DOUBLE(y0) RTCG_BY_DOUBLE(y1)
RTCG_DEVICE float jnf(int n, float a) { return (float)jn(n, (double)a); } RTCG_DEVICE float jn(int n, float a) { return jnf(n, a); }
RTCG_DEVICE float ynf(int n, float a) { return (float)yn(n, (double)a); } RTCG_DEVICE float yn(int n, float a) { return ynf(n, a); }
#undef RTCG_BY_DOUBLE
}
