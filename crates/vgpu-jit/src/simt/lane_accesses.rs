//! Which accesses to memory lanes may make to one place, within a segment.
//!
//! Two parameters of a kernel are taken for pointers to different memory here, unless one of the accesses is the same
//! for all lanes: where they do overlap, a warp that relies on its lock step across them runs in chunks of lanes instead, in
//! every version of its code. Else all that a kernel like `z[i] = x[i] + y[i]` has loaded would have to wait in registers.

use super::address_roots::AddressRoot;
use super::body::{Stmt, stmt_defs};
use super::lane_classes::{LaneClass, LaneClasses};
use super::register_width::CHUNK_LANES;
use rtcg_ptx::ast::*;
use rtcg_vgpu_abi::WARP_LANES;
use rtcg_vgpu_abi::model::lanes::STORE_GROUP_BYTES;
use std::collections::HashMap;

/// Accesses that a store is compared with: more than these count as a conflict.
const MAX_COMPARED: usize = 256;

/// A plain access to memory that other lanes can see.
#[derive(Debug, Clone, Copy)]
struct LaneAccess {
    /// The number of its statement in the block.
    at: usize,
    space: Space,
    /// Where the address is counted from.
    base: AddrBase,
    /// How often that register has been written in the block.
    version: u32,
    offset: i64,
    bytes: i64,
    /// From one lane to the next, if it is the same throughout the warp.
    stride: Option<i64>,
    root: AddressRoot,
    store: bool,
}

/// In which order the chunks of a warp store, where lanes may store to one place: bits that are flipped in the number of
/// each chunk. Within a chunk the lanes store from the last to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkOrder(usize);

impl ChunkOrder {
    pub(crate) const ASCENDING: ChunkOrder = ChunkOrder(0);

    /// The order for `bytes` per lane: the lowest lane of a group stores last, and the groups one after the other.
    fn of_store(bytes: i64) -> ChunkOrder {
        let lanes = i64::from(STORE_GROUP_BYTES) / bytes.clamp(4, 16);
        ChunkOrder(lanes as usize / CHUNK_LANES - 1)
    }

    /// The chunk that comes in place of `number`.
    pub(crate) fn chunk(self, number: usize) -> usize {
        number ^ self.0
    }
}

impl LaneAccess {
    fn new(classes: &LaneClasses, versions: &HashMap<Reg, u32>, at: usize, inst: &Inst) -> Option<LaneAccess> {
        let (space, ty, addr, n, store) = match inst {
            Inst::Ld { nc: false, space, ty, addr, dsts, .. } => (*space, ty, addr, dsts.len(), false),
            Inst::St { space, ty, addr, srcs, .. } => (*space, ty, addr, srcs.len(), true),
            _ => return None,
        };
        if matches!(space, Space::Param | Space::Const | Space::Local) {
            return None;
        }
        let stride = match classes.address_class(addr) {
            LaneClass::Uniform => Some(0),
            LaneClass::Affine(stride) => Some(stride),
            _ => None,
        };
        let version = if let AddrBase::Reg(r) = addr.base { versions.get(&r).copied().unwrap_or(0) } else { 0 };
        let bytes = i64::from(ty.bytes()) * n as i64;
        let root = classes.address_root(addr);
        Some(LaneAccess { at, space, base: addr.base, version, offset: addr.offset, bytes, stride, root, store })
    }

    /// The order that a store needs because several of its lanes may store to one place.
    fn chunk_order(&self) -> Option<ChunkOrder> {
        let apart = self.stride.is_some_and(|stride| stride.abs() >= self.bytes);
        (self.store && !apart).then(|| ChunkOrder::of_store(self.bytes))
    }

    /// Whether both need an order, and not the same one.
    fn differs_in_order(&self, other: &LaneAccess) -> bool {
        matches!((self.chunk_order(), other.chunk_order()), (Some(a), Some(b)) if a != b)
    }

    /// Whether two lanes may access one place, one with either access.
    fn may_overlap(&self, other: &LaneAccess) -> bool {
        let two_spaces = ![self.space, other.space].contains(&Space::Generic) && self.space != other.space;
        let per_lane = ![self.stride, other.stride].contains(&Some(0));
        if two_spaces || per_lane && self.root.are_two_params(other.root) {
            return false;
        }
        let same = self.base == other.base && self.version == other.version;
        let (Some(stride), true) = (self.stride, same) else { return true };
        let distance = i128::from(other.offset) - i128::from(self.offset);
        (1..WARP_LANES as i128).flat_map(|lanes| [lanes, -lanes]).any(|lanes| {
            let between = distance + lanes * i128::from(stride);
            between < i128::from(self.bytes) && -between < i128::from(other.bytes)
        })
    }
}

/// The order of the chunks in a segment, which its first store decides whose lanes may store to one place.
pub(crate) fn chunk_order(classes: &LaneClasses, segment: &[Stmt<'_>]) -> ChunkOrder {
    let mut accesses =
        segment.iter().enumerate().filter_map(|(at, st)| LaneAccess::new(classes, &HashMap::new(), at, &st.inst));
    accesses.find_map(|access| access.chunk_order()).unwrap_or(ChunkOrder::ASCENDING)
}

/// The accesses of the segment so far.
pub(super) struct LaneAccesses<'c> {
    classes: &'c LaneClasses,
    carry: Reg,
    begin: usize,
    loads: Vec<LaneAccess>,
    stores: Vec<LaneAccess>,
    /// How often registers have been written in the block.
    versions: HashMap<Reg, u32>,
}

impl<'c> LaneAccesses<'c> {
    pub(super) fn new(classes: &'c LaneClasses, carry: Reg) -> Self {
        LaneAccesses { classes, carry, begin: 0, loads: vec![], stores: vec![], versions: HashMap::new() }
    }

    /// A segment begins at the statement `begin`.
    pub(super) fn clear(&mut self, begin: usize) {
        self.begin = begin;
        self.loads.clear();
        self.stores.clear();
    }

    /// The last statement of the segment that begins at `begin` which all lanes must have executed before any goes on with
    /// the statement `at`.
    pub(super) fn conflicts_with(&mut self, begin: usize, at: usize, st: &Stmt<'_>) -> Option<usize> {
        if begin != self.begin {
            self.clear(begin);
        }
        let access = LaneAccess::new(self.classes, &self.versions, at, &st.inst)?;
        let loads = if access.store { &self.loads[..] } else { &[] };
        let too_many = loads.len() + self.stores.len() > MAX_COMPARED;
        let conflicts = |a: &&LaneAccess| too_many || a.may_overlap(&access) || a.differs_in_order(&access);
        loads.iter().chain(&self.stores).filter(conflicts).map(|a| a.at).max()
    }

    /// Goes on behind the statement `at` of the segment.
    pub(super) fn add(&mut self, at: usize, st: &Stmt<'_>) {
        if let Some(access) = LaneAccess::new(self.classes, &self.versions, at, &st.inst) {
            let list = if access.store { &mut self.stores } else { &mut self.loads };
            list.push(access);
        }
        stmt_defs(st, self.carry, &mut |r| *self.versions.entry(r).or_default() += 1);
    }
}
