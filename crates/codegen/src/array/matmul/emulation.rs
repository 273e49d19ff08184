//! Products of floats by tensor cores for bytes: integers are multiplied modulo several small numbers, and the Chinese
//! remainder theorem tells the product.
//!
//! The method is the second scheme of K. Ozaki, Y. Uchino and T. Imamura, "Ozaki Scheme II: A GEMM-oriented emulation of
//! floating-point matrix multiplication using an integer modular technique", 2025. For complex numbers, moduli are such
//! that -1 has a root: a product is then two independent ones of integers. Where rows and columns are such that rounding
//! them to integers loses accuracy, elements are marked, to be computed natively.

use super::MATMUL_KERNEL_NAME;
use super::tiled::{MatmulOperand, MatmulTile, MatmulUnit, TiledMatmul};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Bytes of what is known of a row or a column.
pub const EMULATION_VECTOR_BYTES: usize = 24;
/// What is known of a row or a column: the largest absolute value, the power of two that scales it, the norm and the sum of
/// absolute values in units of 255th parts of the largest one, and whether an element was rounded.
const VECTOR: &str = "struct rt_vector { double most; int exponent; float norm, sum; int is_rounded; };\n";
/// Rows and columns of a plane that are scaled by a block of 256 threads.
pub const EMULATION_SCALE_VECTORS: usize = 32;
/// Elements of the common axis from which on sums might not fit 32 bits.
pub const EMULATION_MAX_TERMS: usize = 1 << 15;
/// Bits of a limb.
const LIMB_BITS: u32 = 40;

/// Pairwise coprime numbers up to 256.
const REAL_MODULI: [u32; 14] = [256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199];
/// Pairwise coprime numbers up to 256 modulo which -1 has a root: their prime factors leave 1 divided by 4.
const COMPLEX_MODULI: [u32; 15] = [241, 233, 229, 221, 205, 197, 193, 181, 173, 157, 149, 137, 113, 109, 101];

/// The moduli of a dtype.
pub fn emulation_moduli(dtype: DType) -> &'static [u32] {
    match dtype {
        DType::F32 => &REAL_MODULI[..7],
        DType::C64 => &COMPLEX_MODULI[..7],
        DType::C128 => &COMPLEX_MODULI,
        _ => &REAL_MODULI,
    }
}

/// Planes of bytes of a factor for each modulus: 2 of complex numbers.
fn parts(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

/// Planes that are multiplied.
pub fn emulation_planes(dtype: DType) -> usize {
    emulation_moduli(dtype).len() * parts(dtype)
}

/// Threads of a block that divides 64 rows or columns, by a quarter as many of their elements.
pub fn emulation_split_threads(dtype: DType) -> u32 {
    if dtype == DType::C128 { 128 } else { 256 }
}

fn product(moduli: &[u32]) -> u128 {
    moduli.iter().map(|&modulus| u128::from(modulus)).product()
}

/// The base-two logarithm of the largest norm of a row or a column of `k` integers: those of both factors then have
/// products of less than half the product of the moduli, also after rounding.
pub fn emulation_norm_limit(dtype: DType, k: usize) -> f64 {
    let largest = (product(emulation_moduli(dtype)) as f64 / 2.0).sqrt();
    (largest - 0.5 * ((k * parts(dtype)) as f64).sqrt()).log2()
}

/// The number `x` such that `a * x` leaves 1 divided by `modulus`.
fn inverse(a: u32, modulus: u32) -> u32 {
    (1..modulus).find(|x| a * x % modulus == 1).unwrap_or(1)
}

/// A root of -1 modulo `modulus`.
fn root_of_minus_one(modulus: u32) -> u32 {
    (1..modulus).find(|x| (x * x + 1).is_multiple_of(modulus)).unwrap_or(0)
}

/// `{first, second, ...}`.
fn list<T: ToString>(items: impl Iterator<Item = T>) -> String {
    format!("{{{}}}", items.map(|item| item.to_string()).collect::<Vec<_>>().join(", "))
}

/// Powers of 256 times `factor`, as bytes with a sign modulo `modulus`: those of the low digits and of the high ones.
fn digit_coefficients(modulus: u32, factor: u32) -> [i32; 2] {
    let mut power = factor % modulus;
    [0, 1].map(|_| {
        let bytes: [u8; 4] = std::array::from_fn(|_| {
            let signed = if power >= 128 { power as i32 - modulus as i32 } else { power as i32 };
            power = power * 256 % modulus;
            signed as u8
        });
        i32::from_le_bytes(bytes)
    })
}

/// Tables of the moduli, with the element type `E`.
fn definitions(dtype: DType) -> String {
    let (moduli, parts) = (emulation_moduli(dtype), parts(dtype));
    let element = match dtype {
        DType::F32 => "float",
        DType::C64 => "float2",
        DType::C128 => "double2",
        _ => "double",
    };
    let mut text = format!("#define PARTS {parts}\n#define MODULI {}\n", moduli.len());
    text.push_str(if parts == 2 {
        "#define RT_PART(value, c) (double)((c) == 0 ? (value).x : (value).y)\n\
         #define RT_MAGNITUDE(value, scale) hypot(RT_PART(value, 0) * (scale), RT_PART(value, 1) * (scale))\n"
    } else {
        "#define RT_PART(value, c) (double)(value)\n#define RT_MAGNITUDE(value, scale) fabs(RT_PART(value, 0) * (scale))\n"
    });
    let shift = |modulus: u32| modulus.next_power_of_two().trailing_zeros() - 1;
    let tables = [
        ("rt_modulus", list(moduli.iter())),
        ("rt_shift", list(moduli.iter().map(|&modulus| shift(modulus)))),
        ("rt_magic", list(moduli.iter().map(|&p| (1u64 << (32 + shift(p))).div_ceil(p.into()).to_string() + "u"))),
        ("rt_magic_small", list(moduli.iter().map(|&p| (1u64 << 32).div_ceil(p.into()).to_string() + "u"))),
        // Modulo `p` the inverse of a root of -1 is its negative.
        ("rt_root", list(moduli.iter().map(|&p| p - root_of_minus_one(p)))),
    ];
    let _ = writeln!(text, "{VECTOR}typedef {element} rt_factor;");
    for (name, values) in tables {
        let _ = writeln!(text, "__constant__ unsigned {name}[MODULI] = {values};");
    }
    text
}

/// Scales rows of the first factor, or columns of the second one (`array_matmul_scale`), and divides them
/// (`array_matmul_split`).
///
/// Parameters of the first kernel, whose blocks of 256 threads have [`EMULATION_SCALE_VECTORS`] of them: what is known of
/// each, the factor, their number, their length, the bytes from one to the next and from an element to the next, and the
/// largest norm's logarithm. Those of the second one, whose blocks have 64 of them (y) by a quarter of the threads of
/// [`emulation_split_threads`] elements (x): the planes, then the same but the last one, then the bytes of a plane and of a
/// row in it. After the planes that are multiplied, one has absolute values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EmulationSplit {
    /// The dtype of the factors.
    pub dtype: DType,
    /// Whether it divides rather than scales.
    pub divides: bool,
    /// Whether adjacent elements in memory are adjacent along the common axis.
    pub is_k_contiguous: bool,
    /// Whether it is the second factor, whose columns are in the order that [`ResidueMatmul`] expects.
    pub is_second: bool,
}

impl EmulationSplit {
    /// For each modulus the coefficients of digits, with those of imaginary parts; of the second factor they have the
    /// factors by which residues are multiplied in the end.
    fn coefficients(&self) -> String {
        let moduli = emulation_moduli(self.dtype);
        let whole = product(moduli);
        let of = |modulus: u32| {
            let factor = if self.is_second {
                let rest = (whole / u128::from(modulus) % u128::from(modulus)) as u32;
                // A real or imaginary part is half the sum or difference of two products.
                inverse(rest * parts(self.dtype) as u32 % modulus, modulus)
            } else {
                1
            };
            [digit_coefficients(modulus, factor), digit_coefficients(modulus, factor * root_of_minus_one(modulus))]
        };
        let table = |name: &str, value: &dyn Fn(u32) -> i32| {
            format!("__constant__ int {name}[MODULI] = {};\n", list(moduli.iter().map(|&modulus| value(modulus))))
        };
        // Sums of eight products of bytes, of both parts, are less than a multiple of each modulus.
        let start = |modulus: u32| (2 * 8 * 128 * 128u32).next_multiple_of(modulus) as i32;
        table("rt_low", &|modulus| of(modulus)[0][0])
            + &table("rt_high", &|modulus| of(modulus)[0][1])
            + &table("rt_root_low", &|modulus| of(modulus)[1][0])
            + &table("rt_root_high", &|modulus| of(modulus)[1][1])
            + &table("rt_start", &start)
    }
}

impl KernelSpec for EmulationSplit {
    fn kernel_name(&self) -> Cow<'static, str> {
        if self.divides { "array_matmul_split" } else { "array_matmul_scale" }.into()
    }

    fn source(&self) -> String {
        format!(
            "{}typedef rt_factor E;\n{}constexpr bool K_CONTIGUOUS = {}, IS_SECOND = {};\nconstexpr int SPLIT_THREADS = {};\n{}",
            definitions(self.dtype),
            self.coefficients(),
            self.is_k_contiguous,
            self.is_second,
            emulation_split_threads(self.dtype),
            include_str!("emulation_split.cuh")
        )
    }
}

/// Multiplies planes by `wgmma` of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResidueMatmul {
    /// Stores what is left of the sums divided by the planes' moduli. The parameters are those of a
    /// [`TiledMatmul`] by [`MatmulUnit::WgmmaBoxes`], whose columns are a multiple of 64.
    Residues(DType),
    /// Marks parts of 64 x 64 elements that have to be computed natively: one byte for each. Further parameters: what is
    /// known of rows and of columns, and how many times the product of absolute values the bound may be.
    Marks,
}

impl ResidueMatmul {
    /// The product that it is but for what is stored.
    pub fn tiled(&self) -> TiledMatmul {
        let operand = MatmulOperand { is_k_contiguous: true, is_vectorizable: true };
        let tile = MatmulTile {
            unit: MatmulUnit::WgmmaBoxes,
            warps: [2, 1],
            part: [64, 256],
            depth: 128,
            stages: 4,
            blocks_per_sm: 1,
        };
        TiledMatmul { dtype: DType::U8, is_sum: false, tile, a: operand, b: operand, stores_boxes: false }
    }
}

impl KernelSpec for ResidueMatmul {
    fn kernel_name(&self) -> Cow<'static, str> {
        MATMUL_KERNEL_NAME.into()
    }

    fn source(&self) -> String {
        let (mut text, store, epilogue) = match self {
            Self::Residues(dtype) => (definitions(*dtype), include_str!("wgmma_residues.cuh"), ["", ""]),
            Self::Marks => (
                VECTOR.to_owned(),
                include_str!("wgmma_bounds.cuh"),
                [
                    ", const rt_vector *of_rows, const rt_vector *of_columns, float tolerance",
                    ", of_rows, of_columns, tolerance",
                ],
            ),
        };
        let _ = writeln!(
            text,
            "typedef unsigned char O;\n#define RT_OUT_ROW n\n#define RT_EPILOGUE_PARAMETER {}\n#define RT_EPILOGUE_ARGUMENT {}",
            epilogue[0], epilogue[1]
        );
        self.tiled().push_wgmma_source(&mut text, store);
        text
    }
}

/// The product from residues.
///
/// Parameters: the result (m x n), the planes of residues, what is known of rows and of columns, `m`, `n`, and the bytes of
/// a row of residues. Blocks have 256 threads, each of which computes four elements at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EmulationJoin(pub DType);

impl KernelSpec for EmulationJoin {
    fn kernel_name(&self) -> Cow<'static, str> {
        "array_matmul_join".into()
    }

    fn source(&self) -> String {
        let moduli = emulation_moduli(self.0);
        let whole = product(moduli);
        let limbs = (u128::BITS - whole.leading_zeros()).div_ceil(LIMB_BITS);
        let limbs_of = |number: u128| {
            list((0..limbs).map(|at| format!("{}.0", number >> (at * LIMB_BITS) & ((1 << LIMB_BITS) - 1))))
        };
        let weights = list(moduli.iter().map(|&modulus| limbs_of(whole / u128::from(modulus))));
        let inverses = list(moduli.iter().map(|&modulus| format!("{:?}", 1.0 / f64::from(modulus))));
        format!(
            "{}typedef rt_factor E;\n#define LIMBS {limbs}\n#define LIMB {}.0\n\
             __constant__ double rt_weight[MODULI][LIMBS] = {weights};\n\
             __constant__ double rt_product[LIMBS] = {};\n__constant__ double rt_inverse[MODULI] = {inverses};\n{}",
            definitions(self.0),
            1u64 << LIMB_BITS,
            limbs_of(whole),
            include_str!("emulation_join.cuh")
        )
    }
}

/// A product of which blocks compute what is marked, as [`ResidueMatmul::Marks`] does it. The marks are its last parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MarkedMatmul(pub TiledMatmul);

impl KernelSpec for MarkedMatmul {
    fn kernel_name(&self) -> Cow<'static, str> {
        MATMUL_KERNEL_NAME.into()
    }

    fn source(&self) -> String {
        self.0.marked_source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_are_coprime_and_have_roots_of_minus_one() {
        let gcd = |mut a: u32, mut b: u32| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        for moduli in [&REAL_MODULI[..], &COMPLEX_MODULI] {
            for (at, &first) in moduli.iter().enumerate() {
                assert!(first <= 256 && moduli[..at].iter().all(|&other| gcd(first, other) == 1), "{first}");
            }
            // Sums of bytes times limbs are exact in a double.
            assert!(product(moduli) < 1 << (3 * LIMB_BITS) && (moduli.len() as u64 * 511) << LIMB_BITS <= 1 << 53);
        }
        for modulus in COMPLEX_MODULI {
            let root = root_of_minus_one(modulus);
            assert!(root > 0 && root * root % modulus == modulus - 1, "{modulus}");
        }
    }

    #[test]
    fn digits_times_coefficients_leave_what_the_number_leaves() {
        for modulus in [256, 199, 241] {
            for factor in [1, 77] {
                let [low, high] = digit_coefficients(modulus, factor).map(i32::to_le_bytes);
                for number in [0i64, 1, -1, 127, 128, 1 << 40, -(1 << 54) + 12345] {
                    let shift = 0x8080_8080_8080_8080u64;
                    let digits = ((number as u64).wrapping_add(shift) ^ shift).to_le_bytes();
                    let coefficients = [low, high].concat();
                    let sum: i64 =
                        digits.iter().zip(coefficients).map(|(&x, c)| i64::from(x as i8) * i64::from(c as i8)).sum();
                    let want = (i128::from(number) * i128::from(factor)).rem_euclid(modulus.into());
                    assert_eq!(i128::from(sum).rem_euclid(modulus.into()), want, "{number} {modulus}");
                }
            }
        }
    }

    #[test]
    fn norms_leave_room_for_rounding() {
        for (dtype, bits) in [(DType::F64, 54.5), (DType::F32, 27.3), (DType::C128, 55.0), (DType::C64, 26.6)] {
            let limit = emulation_norm_limit(dtype, 8192);
            assert!((limit - bits).abs() < 0.5, "{dtype} {limit}");
            let norm = limit.exp2() + 0.5 * ((8192 * parts(dtype)) as f64).sqrt();
            assert!(norm * norm <= product(emulation_moduli(dtype)) as f64 / 2.0 * (1.0 + 1e-12));
        }
    }
}
