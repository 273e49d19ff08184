//! Matrix products of a warp (`mma`, `wmma`) on the registers of its 32 lanes.
//!
//! A register of all lanes is a *plane*: 32 words, lane after lane (64 words, low half first, for
//! registers of 64 bits). [`layout`] says where the elements of a fragment lie in its planes,
//! [`exact`] what a product of floats is, `fast_float` computes the same quickly.
//!
//! Integers and bits are exact. In double precision each element is a chain of fused multiply-adds
//! with `k` ascending, which keep the payload of one NaN ([`DOUBLE_NAN_ORDER`]). The sum of the other floats is
//! that of the tensor cores of sm_90 (see [`exact::exact_dot`]), but for `mma.m8n8k4`, which they do not have
//! (`quad_pairs`).

pub mod exact;
mod fast_float;
mod fragment_packing;
mod halves;
mod integer_and_f64;
pub mod layout;
pub mod load_store;
mod quad_pairs;
mod simd;

use layout::Fragment;
use rtcg_ptx::ast::{MatrixProduct, MatrixRole, MatrixShape, MatrixType, MmaCombineOp};
use std::sync::Mutex;

/// Products of `.f16` and `.bf16` that a tensor core adds up in one step.
pub const HALF_STEP: usize = 16;
/// Those of `.tf32` in `mma`.
pub const TF32_STEP: usize = 8;
/// Those of `.tf32` in `wmma`, which is made of two instructions with four each.
pub const WMMA_TF32_STEP: usize = 4;
/// The sum of a product whose `c` and `d` have different types.
pub const MIXED_SUM: MatrixType = MatrixType::F32;
/// Whether `mma.sp` multiplies elements of `b` with the zeros that `a` does not store: an infinity would give a NaN.
pub const MULTIPLIES_UNSTORED_ZEROS: bool = false;
/// The operands `a`, `b`, `c` (0, 1, 2) in the order in which a step in double precision looks for the NaN to keep.
pub const DOUBLE_NAN_ORDER: [usize; 3] = [1, 2, 0];

/// Words of a plane of 32-bit registers.
pub const WARP_REGISTER_WORDS: usize = 32;

/// The planes of one product.
#[derive(Debug)]
pub struct MmaRegisters<'a> {
    /// The planes of `a`.
    pub a: &'a [u32],
    /// The planes of `b`.
    pub b: &'a [u32],
    /// The planes of `c`.
    pub c: &'a [u32],
    /// The plane of `mma.sp`'s metadata, else empty.
    pub metadata: &'a [u32],
    /// The planes of the result.
    pub d: &'a mut [u32],
}

/// Words that the planes of a fragment take. A fragment that holds its matrix more than once is
/// read from its first registers.
pub fn fragment_register_words(form: &MatrixProduct, role: MatrixRole) -> usize {
    let registers = if form.is_quad_pair_mma() || form.sparse.is_some() {
        form.registers_per_lane(role)
    } else {
        Fragment::dense_fragment(form, role).registers_per_lane()
    };
    registers * WARP_REGISTER_WORDS * (form.element_type(role).register_bits() / 32) as usize
}

/// Computes `d = a * b + c`.
pub fn matrix_product(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    compute_product(form, planes, true);
}

/// The same as [`matrix_product`], floats one by one as [`exact`] defines it.
pub fn matrix_product_reference(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    compute_product(form, planes, false);
}

fn compute_product(form: &MatrixProduct, planes: &mut MmaRegisters<'_>, quickly: bool) {
    if form.is_quad_pair_mma() {
        return quad_pairs::multiply_by_quad_pairs(form, planes);
    }
    if layout::is_held_transposed(form.shape) {
        let form = MatrixProduct { shape: layout::transposed_shape(form.shape), a: form.b, b: form.a, ..*form };
        let MmaRegisters { a, b, c, metadata, ref mut d } = *planes;
        return compute_product(&form, &mut MmaRegisters { a: b, b: a, c, metadata, d }, quickly);
    }
    match form.a {
        MatrixType::F64 => integer_and_f64::multiply_doubles(form, planes),
        MatrixType::B1 => multiply_bits(form, planes),
        MatrixType::S8 | MatrixType::U8 | MatrixType::S4 | MatrixType::U4 => {
            integer_and_f64::multiply_integers(form, planes)
        }
        _ => fast_float::multiply_floats(form, planes, quickly),
    }
}

/// [`matrix_product`] for compiled code: the planes of `a`, `b`, `c`, metadata and `d` one after the other.
///
/// # Safety
/// `form` comes from [`intern_instruction_form`], and `frame` has the words that it needs.
#[allow(unsafe_code, reason = "compiled code calls it with pointers")]
#[inline(never)]
pub unsafe extern "C" fn matrix_product_in_frame(form: *const MatrixProduct, frame: *mut u32) {
    // SAFETY: by contract.
    let (form, rest) = unsafe { (&*form, std::slice::from_raw_parts_mut(frame, matrix_product_frame_words(&*form))) };
    matrix_product(form, &mut MmaRegisters::from_frame_words(form, rest));
}

impl<'a> MmaRegisters<'a> {
    /// The planes of a frame.
    pub fn from_frame_words(form: &MatrixProduct, mut rest: &'a mut [u32]) -> MmaRegisters<'a> {
        let mut take = |n: usize| {
            let (head, tail) = std::mem::take(&mut rest).split_at_mut(n);
            rest = tail;
            head
        };
        let a = take(fragment_register_words(form, MatrixRole::A));
        let b = take(fragment_register_words(form, MatrixRole::B));
        let c = take(fragment_register_words(form, MatrixRole::C));
        let metadata = take(if form.sparse.is_some() { WARP_REGISTER_WORDS } else { 0 });
        let d = take(fragment_register_words(form, MatrixRole::D));
        MmaRegisters { a, b, c, metadata, d }
    }
}

/// Words of the frame of [`matrix_product_in_frame`].
pub fn matrix_product_frame_words(form: &MatrixProduct) -> usize {
    let roles = [MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D];
    let metadata = if form.sparse.is_some() { WARP_REGISTER_WORDS } else { 0 };
    roles.iter().map(|&r| fragment_register_words(form, r)).sum::<usize>() + metadata
}

/// A form that lives for ever, for compiled code to point to. There are some hundreds at most.
pub fn intern_instruction_form<T: PartialEq + Sync>(pool: &'static Mutex<Vec<&'static T>>, form: T) -> &'static T {
    let mut pool = pool.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = pool.iter().find(|known| ***known == form) {
        return known;
    }
    let new: &'static T = Box::leak(Box::new(form));
    pool.push(new);
    new
}

/// `a` (rows of `k` elements), `b` (rows of `n`), and `c`, then `d` (rows of `n`): a word per element.
struct UnpackedMatrices<const CAP: usize> {
    a: [u32; CAP],
    b: [u32; CAP],
    c: [u32; CAP],
}

impl<const CAP: usize> UnpackedMatrices<CAP> {
    #[inline(always)]
    fn unpack_fragments(form: &MatrixProduct, planes: &MmaRegisters<'_>) -> Self {
        let mut all = UnpackedMatrices { a: [0; CAP], b: [0; CAP], c: [0; CAP] };
        let [a, b, c] = [MatrixRole::A, MatrixRole::B, MatrixRole::C].map(|role| Fragment::dense_fragment(form, role));
        match form.sparse {
            None => fragment_packing::unpack_rows_of_a(planes.a, a, form.shape.k as usize, &mut all.a),
            Some(sparse) => fragment_packing::unpack_sparse_rows_of_a(form, sparse, planes, &mut all.a),
        }
        fragment_packing::unpack_rows_of_b(planes.b, b, form.shape.n as usize, &mut all.b);
        fragment_packing::unpack_accumulator(planes.c, c, &mut all.c);
        all
    }

    #[inline(always)]
    fn pack_results(&self, form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
        fragment_packing::pack_accumulator(&self.c, Fragment::dense_fragment(form, MatrixRole::D), planes.d);
    }
}

/// Whether the matrices of a product have at most `cap` elements.
fn matrices_fit(form: &MatrixProduct, cap: u32) -> bool {
    let MatrixShape { m, n, k } = form.shape;
    m * k <= cap && k * n <= cap && m * n <= cap
}

/// Values of `k` that one step of the tensor core adds up.
fn k_per_step(form: &MatrixProduct) -> usize {
    let dense = match (form.a, form.wmma) {
        (MatrixType::TF32, true) => WMMA_TF32_STEP,
        (MatrixType::TF32, false) => TF32_STEP,
        _ => HALF_STEP,
    };
    if form.sparse.is_some() { 2 * dense } else { dense }
}

#[inline(never)]
fn multiply_floats_exactly<const CAP: usize>(
    form: &MatrixProduct,
    planes: &MmaRegisters<'_>,
    all: &mut UnpackedMatrices<CAP>,
) {
    let (m, n, k) = (form.shape.m as usize, form.shape.n as usize, form.shape.k as usize);
    let per_step = k_per_step(form);
    let stored = form.sparse.map(|sparse| fragment_packing::stored_elements_of_a(form, sparse, planes));
    let is_term =
        |i: usize, l: usize| MULTIPLIES_UNSTORED_ZEROS || stored.as_ref().is_none_or(|stored| stored[i * k + l] != 0);
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let mut bits = u64::from(all.c[i * n + j]);
        let mut sum = exact::ExactNumber::from_bits(form.c, bits);
        for first in (0..k).step_by(per_step) {
            let steps = (first..(first + per_step).min(k)).filter(|&l| is_term(i, l));
            let terms = steps.map(|l| {
                let (x, y) = (all.a[i * k + l], all.b[l * n + j]);
                (exact::ExactNumber::from_bits(form.a, x.into()), exact::ExactNumber::from_bits(form.b, y.into()))
            });
            bits = exact::exact_dot(terms, sum, form.d);
            sum = exact::ExactNumber::from_bits(form.d, bits);
        }
        all.c[i * n + j] = bits as u32;
    }
}

fn multiply_bits(form: &MatrixProduct, planes: &mut MmaRegisters<'_>) {
    let (m, n, words) = (form.shape.m as usize, form.shape.n as usize, form.shape.k as usize / 32);
    let [fa, fb] = [MatrixRole::A, MatrixRole::B].map(|role| Fragment::dense_fragment(form, role));
    let mut sums = [0; 128];
    fragment_packing::unpack_accumulator(planes.c, Fragment::dense_fragment(form, MatrixRole::C), &mut sums);
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for w in 0..words {
            let (x, y) = (fa.element_position(i, w * 32), fb.element_position(w * 32, j));
            let (x, y) = (
                planes.a[x.register * WARP_REGISTER_WORDS + x.lane],
                planes.b[y.register * WARP_REGISTER_WORDS + y.lane],
            );
            let both = if form.op == MmaCombineOp::XorPopc { x ^ y } else { x & y };
            sums[i * n + j] = u32::wrapping_add(sums[i * n + j], both.count_ones());
        }
    }
    fragment_packing::pack_accumulator(&sums, Fragment::dense_fragment(form, MatrixRole::D), planes.d);
}

/// Whether the processor has AVX-512 with doublewords and all lengths.
#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("fma")
}
