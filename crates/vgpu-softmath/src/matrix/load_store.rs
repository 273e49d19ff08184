//! Fragments to and from memory.
#![allow(unsafe_code, reason = "matrices lie at addresses that kernels give")]

use super::WARP_REGISTER_WORDS;
use super::layout::{Fragment, is_held_transposed, transposed_layout};
use rtcg_ptx::ast::{MatrixLayout, MatrixRole, MatrixShape, MatrixType};

/// A matrix in memory: `stride` elements from row to row, or column to column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixInMemory {
    /// The matrix and its registers.
    pub fragment: Fragment,
    /// Order of the elements in memory.
    pub layout: MatrixLayout,
    /// Elements from one row (column) to the next.
    pub stride: u64,
}

impl MatrixInMemory {
    /// A matrix; without a stride, one without gaps.
    pub fn new(
        role: MatrixRole,
        shape: MatrixShape,
        ty: MatrixType,
        layout: MatrixLayout,
        stride: Option<u64>,
    ) -> MatrixInMemory {
        let fragment = Fragment { role, shape, ty };
        let (rows, cols) = fragment.matrix_extent();
        let dense = if layout == MatrixLayout::Row { cols } else { rows };
        let stride = stride.unwrap_or(dense as u64);
        if is_held_transposed(shape) {
            return MatrixInMemory { fragment: fragment.transposed(), layout: transposed_layout(layout), stride };
        }
        MatrixInMemory { fragment, layout, stride }
    }

    /// Lines in memory, and elements of each.
    fn line_count_and_length(&self) -> (usize, usize) {
        let (rows, cols) = self.fragment.matrix_extent();
        if self.layout == MatrixLayout::Row { (rows, cols) } else { (cols, rows) }
    }

    fn line_bytes(&self) -> u64 {
        self.stride.saturating_mul(u64::from(self.fragment.ty.bits())) / 8
    }

    /// Bytes from the first to the end of the last element.
    pub fn span_bytes(&self) -> u64 {
        let (lines, length) = self.line_count_and_length();
        let last = length as u64 * u64::from(self.fragment.ty.bits()) / 8;
        self.line_bytes().saturating_mul(lines as u64 - 1).saturating_add(last)
    }

    /// Calls `each` with the parts of the matrix that lie side by side in memory: the distance from
    /// the first byte, and where they belong. `spread` parts have eight elements.
    #[inline(always)]
    fn for_each_contiguous_run(&self, mut each: impl FnMut(usize, ContiguousRun)) {
        let f = self.fragment;
        let (rows, cols) = f.matrix_extent();
        let (line, bits, halves) = (self.line_bytes() as usize, f.ty.bits() as usize, f.n_row_groups());
        let by_row = self.layout == MatrixLayout::Row;
        let offset = |row: usize, col: usize| {
            let (l, i) = if by_row { (row, col) } else { (col, row) };
            line.wrapping_mul(l).wrapping_add(i * bits / 8)
        };
        let per = f.elements_per_register();
        if let MatrixRole::A | MatrixRole::B = f.role {
            // Seen as `a`: lines of k elements.
            let (along, halves) = if f.role == MatrixRole::A { (by_row, halves) } else { (!by_row, 1) };
            let units = f.shape.k as usize / (4 * per);
            let at = |line: usize, k: usize| if f.role == MatrixRole::A { offset(line, k) } else { offset(k, line) };
            for r in 0..f.registers_per_lane() {
                let (line, k) = ((r / halves / units * halves + r % halves) * 8, r / halves % units * 4 * per);
                for g in 0..if along { 8 } else { 0 } {
                    each(at(line + g, k), ContiguousRun::Whole { lane: r * WARP_REGISTER_WORDS + g * 4 });
                }
                for i in 0..if along { 0 } else { 4 * per } {
                    let bit = (i % per * bits) as u32;
                    each(at(line, k + i), ContiguousRun::Spread { lane: r * WARP_REGISTER_WORDS + i / per, bit });
                }
            }
            return;
        }
        for unit in 0..rows * cols / 64 {
            let (half, block) = (unit % halves, unit / halves);
            let row = (block / (cols / 8) * halves + half) * 8;
            let col = block % (cols / 8) * 8;
            for i in 0..8 {
                match (by_row, per) {
                    (true, 2) => {
                        each(offset(row + i, col), ContiguousRun::Whole { lane: unit * WARP_REGISTER_WORDS + i * 4 })
                    }
                    (true, _) => each(
                        offset(row + i, col),
                        ContiguousRun::Pairs { lane: unit * 2 * WARP_REGISTER_WORDS + i * 4 },
                    ),
                    (false, 2) => {
                        let bit = i as u32 % 2 * 16;
                        each(
                            offset(row, col + i),
                            ContiguousRun::Spread { lane: unit * WARP_REGISTER_WORDS + i / 2, bit },
                        );
                    }
                    (false, _) => {
                        let lane = (unit * 2 + i % 2) * WARP_REGISTER_WORDS + i / 2;
                        each(offset(row, col + i), ContiguousRun::Spread { lane, bit: 0 });
                    }
                }
            }
        }
    }

    /// Calls `each` with the parts that lie side by side: distance from the first byte, and bytes.
    pub fn for_each_contiguous_range(&self, mut each: impl FnMut(usize, usize)) {
        let (element, register) =
            ((self.fragment.ty.bits() / 8) as usize, self.fragment.ty.register_bits() as usize / 8);
        self.for_each_contiguous_run(|at, run| {
            each(at, if let ContiguousRun::Whole { .. } = run { 4 * register } else { 8 * element })
        });
    }

    /// Reads a fragment.
    ///
    /// # Safety
    /// All of [`MatrixInMemory::span_bytes`] from `from` may be read, or faults.
    pub unsafe fn load_fragment(&self, from: *const u8, planes: &mut [u32]) {
        // SAFETY: by contract; a run lies in the matrix. Planes of doubles are aligned.
        unsafe {
            match self.fragment.ty.bits() {
                64 => {
                    let (head, wide, _) = planes.align_to_mut::<u64>();
                    debug_assert!(head.is_empty());
                    self.for_each_contiguous_run(|at, run| load_run::<u64, u64>(from.wrapping_add(at), run, wide));
                }
                32 => self.for_each_contiguous_run(|at, run| load_run::<u32, u32>(from.wrapping_add(at), run, planes)),
                16 => self.for_each_contiguous_run(|at, run| load_run::<u16, u32>(from.wrapping_add(at), run, planes)),
                _ => self.for_each_contiguous_run(|at, run| load_run::<u8, u32>(from.wrapping_add(at), run, planes)),
            }
        }
    }

    /// Writes a fragment of a sum.
    ///
    /// # Safety
    /// All of [`MatrixInMemory::span_bytes`] from `to` may be written, or faults.
    pub unsafe fn store_fragment(&self, to: *mut u8, planes: &mut [u32]) {
        // SAFETY: by contract; a run lies in the matrix.
        unsafe {
            match self.fragment.ty.bits() {
                64 => {
                    let (head, wide, _) = planes.align_to_mut::<u64>();
                    debug_assert!(head.is_empty());
                    self.for_each_contiguous_run(|at, run| store_run::<u64, u64>(to.wrapping_add(at), run, wide));
                }
                32 => self.for_each_contiguous_run(|at, run| store_run::<u32, u32>(to.wrapping_add(at), run, planes)),
                _ => self.for_each_contiguous_run(|at, run| store_run::<u16, u32>(to.wrapping_add(at), run, planes)),
            }
        }
    }
}

/// Where elements that lie side by side in memory belong; `lane` counts through all planes.
#[derive(Clone, Copy)]
enum ContiguousRun {
    /// All of the registers of four lanes, from `lane` on.
    Whole { lane: usize },
    /// Bits `bit` and up of every fourth lane.
    Spread { lane: usize, bit: u32 },
    /// Two to each of four lanes, in this plane and the next.
    Pairs { lane: usize },
}

/// An element in memory, and a register.
trait MemoryWord: Copy {
    fn widen_to_u64(self) -> u64;
    fn truncate_from_u64(v: u64) -> Self;
}

macro_rules! impl_memory_word {
    ($($ty:ty)*) => { $(impl MemoryWord for $ty {
        fn widen_to_u64(self) -> u64 {
            self as u64
        }
        fn truncate_from_u64(v: u64) -> Self {
            v as $ty
        }
    })* };
}
impl_memory_word!(u8 u16 u32 u64);

/// # Safety
/// What the run covers may be read.
#[inline(always)]
unsafe fn load_run<E: MemoryWord, R: MemoryWord>(from: *const u8, run: ContiguousRun, planes: &mut [R]) {
    // SAFETY: by contract.
    unsafe {
        match run {
            ContiguousRun::Whole { lane } => {
                let words = from.cast::<[R; 4]>().read_unaligned();
                planes[lane..][..4].copy_from_slice(&words);
            }
            ContiguousRun::Spread { lane, bit } => {
                let elements = from.cast::<[E; 8]>().read_unaligned();
                let planes = &mut planes[lane..][..29];
                for (g, e) in elements.into_iter().enumerate() {
                    // The first of a register's elements comes first and clears the others.
                    let low = if bit == 0 { 0 } else { planes[g * 4].widen_to_u64() };
                    planes[g * 4] = R::truncate_from_u64(low | e.widen_to_u64() << bit);
                }
            }
            ContiguousRun::Pairs { lane } => {
                let elements = from.cast::<[E; 8]>().read_unaligned();
                let planes = &mut planes[lane..][..WARP_REGISTER_WORDS + 4];
                for t in 0..4 {
                    planes[t] = R::truncate_from_u64(elements[2 * t].widen_to_u64());
                    planes[WARP_REGISTER_WORDS + t] = R::truncate_from_u64(elements[2 * t + 1].widen_to_u64());
                }
            }
        }
    }
}

/// # Safety
/// What the run covers may be written.
#[inline(always)]
unsafe fn store_run<E: MemoryWord, R: MemoryWord>(to: *mut u8, run: ContiguousRun, planes: &[R]) {
    // SAFETY: by contract.
    unsafe {
        match run {
            ContiguousRun::Whole { lane } => {
                let words: [R; 4] = std::array::from_fn(|t| planes[lane + t]);
                to.cast::<[R; 4]>().write_unaligned(words);
            }
            ContiguousRun::Spread { lane, bit } => {
                let elements: [E; 8] =
                    std::array::from_fn(|g| E::truncate_from_u64(planes[lane + g * 4].widen_to_u64() >> bit));
                to.cast::<[E; 8]>().write_unaligned(elements);
            }
            ContiguousRun::Pairs { lane } => {
                let element =
                    |i: usize| E::truncate_from_u64(planes[lane + i % 2 * WARP_REGISTER_WORDS + i / 2].widen_to_u64());
                to.cast::<[E; 8]>().write_unaligned(std::array::from_fn(element));
            }
        }
    }
}

/// Eight rows of eight halves, lane `i` holding two elements of row `i / 4`: exchanges rows and
/// columns.
pub fn transpose_8x8(plane: &mut [u32]) {
    let old: [u16; 64] = std::array::from_fn(|i| (plane[i / 2] >> (i % 2 * 16)) as u16);
    let half = |row: usize, col: usize| u32::from(old[col * 8 + row]);
    for (lane, word) in plane.iter_mut().enumerate().take(WARP_REGISTER_WORDS) {
        let (row, col) = (lane / 4, lane % 4 * 2);
        *word = half(row, col) | half(row, col + 1) << 16;
    }
}

/// [`transpose_8x8`] for compiled code.
///
/// # Safety
/// `frame` has one plane.
#[inline(never)]
pub unsafe extern "C" fn transpose_8x8_in_frame(frame: *mut u32) {
    // SAFETY: by contract.
    transpose_8x8(unsafe { std::slice::from_raw_parts_mut(frame, WARP_REGISTER_WORDS) });
}
