//! The cache of planned calls. Its key is what determines the plan: what is computed, dtypes, layouts and the alignment
//! of addresses.
//!
//! Programs repeat few different calls, and planning dominates the host time of a call. A cached call only fills in
//! addresses and scalars. A call that may do anything but a single launch (an error, a copy of overlapping operands, a
//! result known in advance) is not cached.
//!
//! Elementwise operations and reductions say how their launch is repeated. Of any other call, [`cached_call`] records
//! what it enqueues: if that is one launch whose addresses all lie in the operands and the result, it is repeated with
//! those of later ones. So every function of arrays can be cached by wrapping it, whichever crate it is in.

use crate::array::{Arg, GpuArray};
use crate::fuse;
use crate::layout::Layout;
use crate::reduction_plan::ReductionWorkspace;
use crate::scalar::Scalar;
use rtcg_codegen::array::{Op, ReductionOp};
use rtcg_hal::{
    ArrayContext, DType, Launch, Result, WeakScalar, is_compiling_ahead, lock_ignoring_poison, record_launches,
};
use smallvec::SmallVec;
use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

/// Calls that are remembered; a new one takes the place of an old one.
const CACHE_SLOTS: usize = 256;
/// Addresses are distinguished by their distance from a multiple of this, more than what is read at once.
const MAX_KEY_ALIGNMENT: u64 = 64;

/// What is computed: with the operands' dtypes, layouts and alignment, everything on which the launch depends.
pub trait CallKey: PartialEq + Debug + Send + Sync + Sized + 'static {
    /// A hash.
    fn hash_seed(&self) -> usize;

    /// Whether it is the key of a call that is remembered.
    #[doc(hidden)]
    fn is_stored(&self, stored: &StoredKey) -> bool {
        matches!(stored, StoredKey::Other(other) if other.downcast_ref() == Some(self))
    }

    /// The key of a call that is to be remembered.
    #[doc(hidden)]
    fn into_stored(self) -> StoredKey {
        StoredKey::Other(Box::new(self))
    }
}

/// The key of a call that is remembered.
#[doc(hidden)]
pub enum StoredKey {
    /// One of the arrays' own, which is compared soonest.
    Array(ArrayCall),
    /// Any other.
    Other(Box<dyn Any + Send + Sync>),
}

/// What arrays compute themselves.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayCall {
    /// An elementwise operation, with the common type that the caller requests.
    Pointwise(Op, Option<DType>),
    /// A reduction of the axes whose bits are set.
    Reduce { reduction: ReductionOp, dtype: Option<DType>, axes: u64, keepdims: bool },
}

impl CallKey for ArrayCall {
    #[inline]
    fn hash_seed(&self) -> usize {
        match *self {
            ArrayCall::Pointwise(op, _) => op as usize,
            ArrayCall::Reduce { reduction, axes, .. } => 128 + reduction as usize + 16 * axes as usize,
        }
    }

    #[inline]
    fn is_stored(&self, stored: &StoredKey) -> bool {
        matches!(stored, StoredKey::Array(call) if call == self)
    }

    fn into_stored(self) -> StoredKey {
        StoredKey::Array(self)
    }
}

/// A hash of a key's parts.
pub fn call_hash(parts: impl Hash) -> usize {
    let mut hasher = rustc_hash::FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish() as usize
}

/// Whether calls like this one end in the same launch, whatever the values of scalars are. Powers of
/// integers look at the exponent.
pub(crate) fn is_cacheable(op: Op, args: &[Arg<'_>]) -> bool {
    let is_array = |arg: &Arg<'_>| matches!(arg, Arg::Array(_));
    args.iter().any(is_array) && (op != Op::Power || args.iter().all(is_array))
}

/// An operand, as far as the plan depends on it.
#[derive(Debug)]
enum OperandKey {
    Array { dtype: DType, layout: Arc<Layout>, alignment: u8 },
    Value { strong: Option<DType>, kind: u8 },
}

/// The number of the kind of a Python scalar.
fn weak_scalar_kind_code(value: WeakScalar) -> u8 {
    match value {
        WeakScalar::Bool(_) => 0,
        WeakScalar::Int(_) => 1,
        WeakScalar::Float(_) => 2,
        WeakScalar::Complex(..) => 3,
    }
}

fn strong_dtype(scalar: &Scalar) -> Option<DType> {
    match scalar {
        Scalar::Strong(dtype, _) => Some(*dtype),
        Scalar::Weak(_) => None,
    }
}

fn alignment_of(address: u64) -> u8 {
    (address % MAX_KEY_ALIGNMENT) as u8
}

impl OperandKey {
    fn from_array(array: &GpuArray) -> Self {
        let alignment = alignment_of(array.device_ptr().unwrap_or(0));
        OperandKey::Array { dtype: array.dtype(), layout: array.layout_arc().clone(), alignment }
    }

    fn from_arg(arg: &Arg<'_>) -> Self {
        match arg {
            Arg::Array(array) => Self::from_array(array),
            Arg::Scalar(scalar) => {
                OperandKey::Value { strong: strong_dtype(scalar), kind: weak_scalar_kind_code(scalar.value()) }
            }
        }
    }

    /// Whether `array`, whose first element is at `address`, is like the one of the plan. Where the
    /// memory starts does not matter.
    fn matches_array(&self, array: &GpuArray, address: u64) -> bool {
        let OperandKey::Array { dtype, layout, alignment } = self else { return false };
        *dtype == array.dtype()
            && *alignment == alignment_of(address)
            && layout.has_same_shape_and_strides(array.layout_arc())
    }

    fn matches_scalar(&self, scalar: &Scalar) -> bool {
        let OperandKey::Value { strong, kind } = self else { return false };
        *strong == strong_dtype(scalar) && *kind == weak_scalar_kind_code(scalar.value())
    }
}

/// A launch of which only addresses and values are open.
pub(crate) struct PlannedLaunch {
    pub(crate) launch: Launch,
    /// Which arguments count from the first element of which array: 0 is the result, then come the operands. Where
    /// there is nothing, the first arguments do, in this order.
    pub(crate) addresses: Option<Box<[(u8, u8)]>>,
    /// Which argument each scalar is, and the type that it has there.
    pub(crate) values: SmallVec<[(usize, DType); 2]>,
    /// The workspace that each launch gets from the runtime.
    pub(crate) workspace: Option<ReductionWorkspace>,
}

impl PlannedLaunch {
    /// A launch that was recorded, with what it was made for; `None` where an address lies in none of these arrays, or
    /// in several.
    fn from_recorded(mut launch: Launch, result: &GpuArray, operands: &[&GpuArray]) -> Option<Self> {
        let arrays: SmallVec<[&GpuArray; 6]> = std::iter::once(result).chain(operands.iter().copied()).collect();
        let mut extents: SmallVec<[(u64, u64); 6]> = SmallVec::new();
        for array in &arrays {
            let first = array.first_element_address();
            let (low, high) = array.layout().byte_extent(array.itemsize());
            let start = first.wrapping_sub(array.layout().offset as u64);
            let extent = (start.wrapping_add(low as u64), start.wrapping_add(high as u64));
            if extents.iter().any(|other| extent.0 < other.1 && other.0 < extent.1) {
                return None;
            }
            extents.push(extent);
        }
        let passed: SmallVec<[(usize, u64); 16]> = (launch.args.view().iter().enumerate())
            .filter_map(|(at, arg)| Some((at, arg.address().filter(|&address| address != 0)?)))
            .collect();
        let mut addresses = Vec::with_capacity(passed.len());
        for (at, address) in passed {
            let owner = extents.iter().position(|&(low, high)| (low..high).contains(&address))?;
            launch.args.set_base(at, arrays[owner].first_element_address());
            addresses.push((u8::try_from(at).ok()?, owner as u8));
        }
        Some(Self { launch, addresses: Some(addresses.into()), values: SmallVec::new(), workspace: None })
    }
}

/// A call with its plan.
pub(crate) struct CachedCall {
    what: StoredKey,
    hash_seed: usize,
    /// [`ArrayContext::choices_epoch`] before the call was planned.
    epoch: u64,
    args: SmallVec<[OperandKey; 3]>,
    out: Option<OperandKey>,
    /// The result's layout and dtype, and the bytes that its elements take.
    layout: Arc<Layout>,
    dtype: DType,
    nbytes: usize,
    planned: PlannedLaunch,
}

impl CachedCall {
    /// The call of `what` with `args` whose result was `result`, which is `out` if one was given. `epoch` is what
    /// [`ArrayContext::choices_epoch`] was before it was planned.
    pub(crate) fn new<K: CallKey>(
        what: K,
        epoch: u64,
        args: &[Arg<'_>],
        out: Option<&GpuArray>,
        result: &GpuArray,
        planned: PlannedLaunch,
    ) -> Self {
        Self {
            hash_seed: what.hash_seed(),
            what: what.into_stored(),
            epoch,
            args: args.iter().map(OperandKey::from_arg).collect(),
            out: out.map(OperandKey::from_array),
            layout: result.layout_arc().clone(),
            dtype: result.dtype(),
            nbytes: result.nbytes(),
            planned,
        }
    }

    /// Launches what was planned and returns the result; `None` if the call is not like that which was
    /// planned.
    fn launch_cached<K: CallKey>(
        &self,
        ctx: &Arc<ArrayContext>,
        what: &K,
        args: &[Arg<'_>],
        out: Option<&GpuArray>,
    ) -> Result<Option<GpuArray>> {
        if !what.is_stored(&self.what) || self.epoch != ctx.choices_epoch() || self.args.len() != args.len() {
            return Ok(None);
        }
        let given = match (out, &self.out) {
            (None, None) => None,
            (Some(out), Some(pattern)) => match address_if_in_context(ctx, out)? {
                Some(address) if pattern.matches_array(out, address) => Some((out, address)),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let PlannedLaunch { launch, workspace, .. } = &self.planned;
        let mut packed: SmallVec<[u8; 256]> = SmallVec::from_slice(launch.args.packed_bytes());
        // The result's comes last of all, and stands first.
        let mut firsts: SmallVec<[u64; 6]> = SmallVec::from_slice(&[0]);
        if !self.bind_operands(ctx, args, given, &mut packed, &mut firsts)? {
            return Ok(None);
        }
        let (result, address) = match given {
            Some((out, address)) => (out.clone(), address),
            None => {
                let new = GpuArray::empty_with_nbytes(ctx, self.layout.clone(), self.dtype, self.nbytes)?;
                let Some(address) = address_if_in_context(ctx, &new)? else { return Ok(None) };
                (new, address)
            }
        };
        firsts[0] = address;
        match &self.planned.addresses {
            None => launch.args.rebase(&mut packed, 0, address),
            Some(addresses) => {
                for &(at, array) in addresses {
                    launch.args.rebase(&mut packed, at.into(), firsts[usize::from(array)]);
                }
            }
        }
        if let Some(ReductionWorkspace { nbytes, at }) = *workspace {
            let (counters, partials) = ctx.queue().reduction_workspace(nbytes)?;
            launch.args.rebase(&mut packed, at, partials);
            launch.args.rebase(&mut packed, at + 1, counters);
        }
        launch.enqueue_packed(ctx.queue(), &packed)?;
        Ok(Some(result))
    }

    /// Puts addresses and values of the operands into the packed arguments. False when an operand does not
    /// fit; values out of range take the general path.
    fn bind_operands(
        &self,
        ctx: &Arc<ArrayContext>,
        args: &[Arg<'_>],
        out: Option<(&GpuArray, u64)>,
        packed: &mut [u8],
        firsts: &mut SmallVec<[u64; 6]>,
    ) -> Result<bool> {
        let (mut array_idx, mut value_idx) = (1, 0);
        for (pattern, arg) in self.args.iter().zip(args) {
            match arg {
                Arg::Array(array) => {
                    let Some(address) = address_if_in_context(ctx, array)? else { return Ok(false) };
                    let is_poisoned =
                        |(out, start): (&GpuArray, u64)| out.has_write_hazard_given_addresses(start, array, address);
                    if !pattern.matches_array(array, address) || out.is_some_and(is_poisoned) {
                        return Ok(false);
                    }
                    if self.planned.addresses.is_none() {
                        self.planned.launch.args.rebase(packed, array_idx, address);
                        array_idx += 1;
                    } else {
                        firsts.push(address);
                    }
                }
                Arg::Scalar(scalar) => {
                    if !pattern.matches_scalar(scalar) {
                        return Ok(false);
                    }
                    let (at, dtype) = self.planned.values[value_idx];
                    let Ok(element) = scalar.to_element(dtype) else { return Ok(false) };
                    self.planned.launch.args.replace_bytes(packed, at, element.bytes());
                    value_idx += 1;
                }
            }
        }
        Ok(true)
    }
}

/// The address of the first element, for work that is about to be enqueued; `None` where there are no
/// elements or the array is of another context.
fn address_if_in_context(ctx: &Arc<ArrayContext>, array: &GpuArray) -> Result<Option<u64>> {
    match array.buffer() {
        Some(buffer) if Arc::ptr_eq(array.context(), ctx) => {
            Ok(Some(buffer.address_recording_use()?.wrapping_add(array.layout().offset as u64)))
        }
        _ => Ok(None),
    }
}

/// The cached calls of a context.
pub(crate) struct CallCache(Mutex<Vec<Option<Arc<CachedCall>>>>);

impl Default for CallCache {
    fn default() -> Self {
        Self(Mutex::new(vec![None; CACHE_SLOTS]))
    }
}

/// Where a call is remembered. Calls that differ only in what is not counted here displace each other.
fn cache_slot_index(hash_seed: usize, args: &[Arg<'_>]) -> usize {
    let mix = |hash: usize, value: usize| (hash.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    let mut hash = hash_seed;
    for arg in args {
        hash = match arg {
            Arg::Array(array) => {
                let Layout { shape, strides, .. } = array.layout();
                let axes = shape.iter().zip(strides);
                let steps = axes.fold(shape.len(), |sum, (&n, &stride)| {
                    sum.rotate_left(9).wrapping_add(n ^ (stride as usize).rotate_left(40))
                });
                mix(hash, steps.wrapping_add((array.dtype().table_index() as usize).rotate_left(20)))
            }
            Arg::Scalar(scalar) => mix(hash, usize::from(weak_scalar_kind_code(scalar.value()))),
        };
    }
    hash >> (usize::BITS - CACHE_SLOTS.trailing_zeros())
}

/// The result of a call that is like one before.
///
/// # Errors
/// When the device is out of memory or refuses the launch, or an operand was freed.
pub(crate) fn lookup_and_launch<K: CallKey>(
    ctx: &Arc<ArrayContext>,
    what: &K,
    args: &[Arg<'_>],
    out: Option<&GpuArray>,
) -> Result<Option<GpuArray>> {
    let slot = cache_slot_index(what.hash_seed(), args);
    let Some(known) = lock_ignoring_poison(&ctx.layer::<CallCache>().0)[slot].clone() else { return Ok(None) };
    known.launch_cached(ctx, what, args, out)
}

/// Remembers a call.
pub(crate) fn insert_call(ctx: &ArrayContext, args: &[Arg<'_>], cached: CachedCall) {
    // Nobody would find it, and what others find in its place would be lost.
    if is_compiling_ahead() {
        return;
    }
    let slot = cache_slot_index(cached.hash_seed, args);
    let old = lock_ignoring_poison(&ctx.layer::<CallCache>().0)[slot].replace(Arc::new(cached));
    drop(old);
}

/// Computes a call of arrays, or repeats a launch where one like it was computed before. `compute` depends on nothing
/// but `key` and the operands, and writes to nothing but its result, which is new unless it is `out`. Nothing is cached
/// while operations are fused.
///
/// # Errors
/// Those of `compute`; and when the device is out of memory or refuses the launch, or an operand was freed.
pub fn cached_call<K: CallKey>(
    ctx: &Arc<ArrayContext>,
    key: K,
    operands: &[&GpuArray],
    out: Option<&GpuArray>,
    compute: impl FnOnce() -> Result<GpuArray>,
) -> Result<GpuArray> {
    if fuse::is_active() || out.is_some_and(|out| operands.iter().any(|operand| out.overlaps(operand))) {
        return compute();
    }
    let args: SmallVec<[Arg<'_>; 6]> = operands.iter().map(|array| Arg::Array(array)).collect();
    if let Some(result) = lookup_and_launch(ctx, &key, &args, out)? {
        return Ok(result);
    }
    let epoch = ctx.choices_epoch();
    let (result, recording) = record_launches(compute);
    let result = result?;
    let Some(mut recording) =
        recording.filter(|all| all.launches.len() == 1 && !all.uses_queue_memory && !all.has_other_work)
    else {
        return Ok(result);
    };
    // A new result begins where its memory does, as the one of a repetition will.
    let is_plain = match out {
        Some(out) => std::ptr::eq(Arc::as_ptr(out.layout_arc()), Arc::as_ptr(result.layout_arc())),
        None => result.layout().offset == 0 && result.layout().is_dense(result.itemsize()),
    };
    let planned = recording.launches.pop().filter(|_| is_plain && result.size() != 0);
    if let Some(planned) = planned.and_then(|launch| PlannedLaunch::from_recorded(launch, &result, operands)) {
        insert_call(ctx, &args, CachedCall::new(key, epoch, &args, out, &result, planned));
    }
    Ok(result)
}
