//! Reductions by label in slots: rows are sorted by groups of labels, and each group's rows are divided into slots.
//!
//! Numbers are sorted by high digits of their labels only, so that a warp has results of all labels of a group in
//! shared memory; vectors stay where they are, and their places are sorted by label. Slots of a group are combined in
//! order. A slot has a bounded number of rows, so it matters little how many rows a label has.

use super::Category;
use crate::array::{GpuArray, array_args, push_arrays, push_optional};
use crate::layout::Order;
use crate::sort::LabelDigits;
use rtcg_codegen::array::{CATEGORY_THREADS, CategoryCombine, CategorySpec, CategoryStage, Op, RADIX_BINS};
use rtcg_hal::{DType, LaunchArgs, Result};

/// Slots that keep a GPU busy, of numbers and of vectors, and rows of one, at least.
const SLOTS: usize = 4096;
const VECTOR_SLOTS: usize = 8192;
const MIN_SLOT_ROWS: usize = 32;
/// Labels of a thread that counts digits, at least.
const THREAD_LABELS: usize = 16;
/// Bits of a label within its group, at most, for which a label has bits left that no digit sorts by.
const MAX_SHIFT: u32 = 10;
/// Labels of the warps of a block together.
const BLOCK_LABELS: usize = 4096;
/// Bytes that a thread reads of a row at once, at most.
const VECTOR_BYTES: usize = 16;
/// Threads that share the slots of a result of vectors.
const WAYS: u8 = 8;

/// Rows that are sorted by group.
struct Sorted {
    keys: GpuArray,
    /// Values, or the places of rows.
    payload: GpuArray,
    /// Where digits begin.
    begins: GpuArray,
}

/// How rows are divided.
#[derive(Clone, Copy)]
struct Division {
    shift: u8,
    passes: usize,
    groups: usize,
    length: usize,
    slots: usize,
}

impl Division {
    /// `largest` is the largest label.
    fn new(n: usize, n_labels: usize, largest: usize, is_number: bool) -> Self {
        let bits = usize::BITS - largest.leading_zeros();
        let (passes, shift) = match is_number {
            true => {
                let passes = bits.saturating_sub(MAX_SHIFT).div_ceil(8).max(1);
                (passes, bits.saturating_sub(8 * passes))
            }
            false => (bits.div_ceil(8).max(1), 0),
        };
        let groups = n_labels.div_ceil(1 << shift);
        let length = match is_number {
            true => n.div_ceil(SLOTS).max(8 << shift),
            false => n.div_ceil(VECTOR_SLOTS).max(MIN_SLOT_ROWS),
        };
        Self { shift: shift as u8, passes: passes as usize, groups, length, slots: n / length + groups }
    }
}

impl Category<'_> {
    /// Whether numbers of rows were written, too.
    pub(super) fn combine_in_slots(&self) -> Result<bool> {
        let is_small = |dtype| CategorySpec::item_bytes(dtype) <= 8;
        if self.columns > 1 || !is_small(self.spec.out) || !is_small(self.spec.x) {
            self.combine_vectors()?;
            return Ok(self.numbers.is_some());
        }
        let Some(weights) = &self.weights else { return self.combine_numbers().map(|()| false) };
        // As the kernels multiply, before values are sorted.
        let dtype = if self.spec.out.itemsize() == 2 { DType::F32 } else { self.spec.out };
        let values = self.values.reshape_to(&[self.n], Order::C)?.to_dtype(dtype)?;
        let values = values.binary(Op::Multiply, &weights.to_dtype(dtype)?)?.to_dtype(dtype)?;
        let spec = CategorySpec { x: dtype, weight: None, ..self.spec.clone() };
        let (labels, bins) = (self.labels.clone(), self.bins.clone());
        Category { spec, values, weights: None, labels, bins, ..*self }.combine_numbers().map(|()| false)
    }

    fn combine_numbers(&self) -> Result<()> {
        let division = Division::new(self.n, self.n_labels, self.n_labels, true);
        let values = match self.spec.combine {
            CategoryCombine::Count => None,
            _ => Some(self.values.reshape_to(&[self.n], Order::C)?),
        };
        let sorted = self.sort_by_group(&division, values.as_ref())?;
        let [offsets, slots] = self.bounds(&division, &sorted)?;
        let Division { shift, slots: count, .. } = division;
        let partials = self.partials(count << shift)?;
        let mut args = array_args(&[&partials, &sorted.payload, &sorted.keys, &offsets, &slots])?;
        [self.n_labels, division.groups, division.length].iter().for_each(|&n| args.push_u32(n as u32));
        let warps = (BLOCK_LABELS >> shift).clamp(1, 8) as u8;
        let spec = self.stage(CategoryStage::Slots { shift, warps });
        let shared_bytes = CategorySpec::slots_bytes(self.spec.out, shift, warps) as u32;
        let grid = [self.slot_blocks(count, warps.into()), 1, 1];
        self.out.context().launch_grid(&spec, grid, [spec.threads(), 1, 1], shared_bytes, &args)?;
        self.join(&division, &partials, &offsets, 1)
    }

    fn combine_vectors(&self) -> Result<()> {
        // Labels out of range are sorted, too, as the number behind the last one.
        let largest = if self.numbers.is_some() { self.n_labels - 1 } else { self.n_labels };
        let division = Division::new(self.n, self.n_labels, largest, false);
        let sorted = self.sort_by_group(&division, None)?;
        let [offsets, slots] = self.bounds(&division, &sorted)?;
        let partials = self.partials(division.slots * self.columns)?;
        let mut args = array_args(&[&partials, &self.values])?;
        push_optional(&mut args, self.weights.as_ref())?;
        for array in [&sorted.payload, &offsets, &slots] {
            args.push_address(array.first_element_address(), 0);
        }
        [division.groups, division.length, self.columns].iter().for_each(|&n| args.push_u32(n as u32));
        let vector = self.vector();
        let lanes = self.columns.div_ceil(vector).next_power_of_two().min(32);
        let spec = self.stage(CategoryStage::Rows { vector: vector as u8, lanes: lanes as u8 });
        let blocks = self.slot_blocks(division.slots, CATEGORY_THREADS as usize / 32);
        self.out.context().launch(&spec, blocks, CATEGORY_THREADS, &args)?;
        self.join(&division, &partials, &offsets, WAYS)
    }

    /// Adjacent values of a row that are read at once.
    fn vector(&self) -> usize {
        let itemsize = self.spec.x.itemsize();
        let mut vector = (VECTOR_BYTES / itemsize).max(1);
        while vector > 1
            && !(self.columns.is_multiple_of(vector)
                && self.values.first_element_address().is_multiple_of((vector * itemsize) as u64))
        {
            vector /= 2;
        }
        vector
    }

    fn slot_blocks(&self, slots: usize, warps: usize) -> u32 {
        slots.div_ceil(warps).min(self.out.context().device_info().max_blocks as usize) as u32
    }

    fn partials(&self, count: usize) -> Result<GpuArray> {
        let bytes = count * CategorySpec::item_bytes(self.spec.out);
        GpuArray::empty(self.out.context(), &[bytes], DType::U8, Order::C)
    }

    fn sort_by_group(&self, division: &Division, payload: Option<&GpuArray>) -> Result<Sorted> {
        let ctx = self.out.context();
        let counts = 4 * RADIX_BINS * division.passes;
        let begins = GpuArray::empty(ctx, &[counts + 64], DType::U8, Order::C)?;
        begins.memset_zero()?;
        // Labels of 32 bits are read as they are.
        let is_read = self.bins.is_none() && matches!(self.spec.label, DType::I32 | DType::U32);
        let keys = match is_read {
            true => None,
            false => Some(GpuArray::empty(ctx, &[self.n], DType::U32, Order::C)?),
        };
        let mut args = LaunchArgs::new();
        [0, counts].iter().for_each(|&at| args.push_address(begins.first_element_address(), at));
        push_optional(&mut args, keys.as_ref())?;
        self.push_labels(&mut args)?;
        args.push_u32(division.shift.into());
        let spec = self.stage(CategoryStage::Digits { passes: division.passes as u8 });
        let blocks =
            ctx.device_info().resident_blocks().min(self.n.div_ceil(THREAD_LABELS * CATEGORY_THREADS as usize));
        ctx.launch(&spec, blocks.max(1) as u32, CATEGORY_THREADS, &args)?;
        let digits = LabelDigits {
            labels: keys.as_ref().unwrap_or(&self.labels),
            limit: self.n_labels,
            shift: division.shift.into(),
            passes: division.passes,
            begins: &begins,
        };
        let [keys, payload] = digits.sort(payload)?;
        Ok(Sorted { keys, payload, begins })
    }

    /// Where groups begin, and the groups of slots.
    fn bounds(&self, division: &Division, sorted: &Sorted) -> Result<[GpuArray; 2]> {
        let ctx = self.out.context();
        let new = |length: usize| GpuArray::empty(ctx, &[length], DType::U32, Order::C);
        let found = [new(division.groups + 1)?, new(division.slots)?];
        let mut args = array_args(&[&found[0], &found[1], &sorted.keys])?;
        push_optional(&mut args, (division.passes == 1).then_some(&sorted.begins))?;
        let numbers = [self.n, self.n_labels, division.groups, division.length];
        numbers.iter().for_each(|&n| args.push_u32(n as u32));
        let spec = self.stage(CategoryStage::Bounds { shift: division.shift });
        ctx.launch(&spec, ctx.device_info().grid_block_count(division.groups + 2), CATEGORY_THREADS, &args)?;
        Ok(found)
    }

    fn join(&self, division: &Division, partials: &GpuArray, offsets: &GpuArray, ways: u8) -> Result<()> {
        let ctx = self.out.context();
        let mut args = array_args(&[self.out])?;
        push_optional(&mut args, self.numbers.filter(|_| division.shift == 0))?;
        push_arrays(&mut args, &[partials, offsets])?;
        args.push_u32(self.columns as u32);
        args.push_u64(self.out.size() as u64);
        args.push_u32(division.length as u32);
        let spec = self.stage(CategoryStage::JoinSlots { shift: division.shift, ways });
        let blocks = ctx.device_info().grid_block_count(self.out.size() * usize::from(ways));
        ctx.launch(&spec, blocks, CATEGORY_THREADS, &args)
    }
}
