//! Which allocation an address belongs to, in words.
//!
//! Works with and without checked mode; checked mode keeps freed memory out of use for longer, so
//! that it is recognised for longer.

use crate::memory::heap::{HeapBlock, MemoryKind};
use rtcg_vgpu_abi::IgnorePoison;
use rtcg_vgpu_exec as exec;
use rtcg_vgpu_exec::host_ranges;
use rtcg_vgpu_exec::window::device_window;
use std::collections::BTreeMap;
use std::sync::RwLock;

/// Farther away than this an allocation has nothing to do with an address.
const MAX_REPORT_DISTANCE: u64 = 64 << 20;

/// A module variable.
#[derive(Debug, Clone)]
struct ModuleVariable {
    size: u64,
    name: String,
    constant: bool,
}

static MODULE_VARIABLES: RwLock<BTreeMap<u64, ModuleVariable>> = RwLock::new(BTreeMap::new());

/// A module variable has been placed.
pub(crate) fn add_variable(address: u64, size: u64, name: &str, constant: bool) {
    let variable = ModuleVariable { size, name: name.to_owned(), constant };
    MODULE_VARIABLES.write().ignore_poison().insert(address, variable);
}

/// The variables of a range were freed.
pub(crate) fn remove_variables(start: u64, len: u64) {
    MODULE_VARIABLES.write().ignore_poison().retain(|&a, _| !(start..start + len).contains(&a));
}

/// A piece of memory as a report names it.
struct MemoryRegion {
    start: u64,
    size: u64,
    name: String,
}

impl MemoryRegion {
    /// Bytes between the piece and an address; 0 inside.
    fn distance_to(&self, address: u64) -> u64 {
        match address {
            a if a < self.start => self.start - a,
            a => (a + 1).saturating_sub(self.start + self.size),
        }
    }

    fn describe_address(&self, address: u64) -> String {
        let MemoryRegion { start, size, name } = self;
        match address {
            a if a < *start => format!("{} before the start of {name} at {start:#x}", format_bytes(start - a)),
            a if a < start + size => format!("{} into {name} at {start:#x}", format_bytes(a - start)),
            a if a == start + size => format!("right past the end of {name} at {start:#x}"),
            a => format!("{} past the end of {name} at {start:#x}", format_bytes(a - (start + size))),
        }
    }
}

fn format_bytes(n: u64) -> String {
    if n == 1 { "1 byte".into() } else { format!("{n} bytes") }
}

fn heap_block_region(b: &HeapBlock, freed: bool) -> MemoryRegion {
    let kind = match b.kind {
        MemoryKind::Device => "allocation",
        MemoryKind::Imported => "allocation of another process",
        MemoryKind::Host => "page-locked allocation",
        MemoryKind::Managed => "managed allocation",
    };
    let freed = if freed { ", which has been freed," } else { "" };
    MemoryRegion { start: b.start, size: b.size, name: format!("a {}-byte {kind} (number {}){freed}", b.size, b.id) }
}

/// What `size` bytes at `address` have to do with memory of the heap, with module variables and
/// with device-side `malloc`. `None` when nothing is near.
pub(crate) fn describe_access(address: u64, size: u32) -> Option<String> {
    let w = device_window().ok()?;
    let at = address as usize;
    let pieces = match () {
        () if w.heap_area().contains(at) => heap_regions_near(address),
        () if w.globals_area().contains(at) => variables_near(address),
        () if w.malloc_area().contains(at) => device_malloc_regions_near(address),
        // Right below the heap lies what an index too small for its first block leads to.
        () if w.contains(at) => heap_regions_near(address),
        () => host_regions_near(address),
    };
    let nearest = pieces
        .into_iter()
        .min_by_key(|p| p.distance_to(address))
        .filter(|p| p.distance_to(address) <= MAX_REPORT_DISTANCE)?;
    let end = nearest.start + nearest.size;
    let crosses = address >= nearest.start && address < end && address + u64::from(size) > end;
    if crosses {
        let over = format_bytes(address + u64::from(size) - end);
        return Some(format!("the last {over} lie past the end of {} at {:#x}", nearest.name, nearest.start));
    }
    Some(nearest.describe_address(address))
}

fn heap_regions_near(address: u64) -> Vec<MemoryRegion> {
    let Ok(heap) = crate::memory::account::device_heap() else { return vec![] };
    let (live, freed) = heap.neighbor_blocks(address);
    let live = live.iter().map(|b| heap_block_region(b, false));
    live.chain(freed.iter().map(|b| heap_block_region(b, true))).collect()
}

fn variables_near(address: u64) -> Vec<MemoryRegion> {
    let known = MODULE_VARIABLES.read().ignore_poison();
    let around = known.range(..=address).next_back().into_iter().chain(known.range(address..).next());
    around
        .map(|(&start, v)| {
            let space = if v.constant { "constant" } else { "device" };
            MemoryRegion {
                start,
                size: v.size,
                name: format!("the {space} variable {} ({})", v.name, format_bytes(v.size)),
            }
        })
        .collect()
}

fn device_malloc_regions_near(address: u64) -> Vec<MemoryRegion> {
    let near = exec::runtime_calls::device_allocations(address as usize);
    near.into_iter()
        .map(|(start, size, freed)| {
            let freed = if freed { ", which has been freed," } else { "" };
            let name = format!("{} from device-side malloc{freed}", format_bytes(size as u64));
            MemoryRegion { start: start as u64, size: size as u64, name }
        })
        .collect()
}

fn host_regions_near(address: u64) -> Vec<MemoryRegion> {
    let near = host_ranges::neighbor_registrations(address);
    near.into_iter()
        .map(|r| MemoryRegion {
            start: r.start,
            size: r.len,
            name: format!("{} of registered host memory", format_bytes(r.len)),
        })
        .collect()
}
