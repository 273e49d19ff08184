//! The heap behind `cuMemAlloc` and page-locked host memory.
//!
//! Establishes: every live block is known with its size, owner and kind, so a driver call can
//! check a range before it touches it. Blocks up to 64 KiB share slabs of size classes; a larger
//! one has pages of its own with a page without access behind it, and loses its access when it is
//! freed, so that a kernel that runs past its end or uses it afterwards faults. Above 1 MiB blocks
//! begin at multiples of 2 MiB, as on GPUs; a device is charged for their pages only.
//!
//! Assumes: the heap's range of addresses is reserved without access by the device window and
//! no other code changes its protection.

use rtcg_vgpu_abi::IgnorePoison;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use super::ipc::{self, SharedBlock};
use super::pages::{PageAllocator, madvise_pages, page_bytes, set_access};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_exec::check::{self, shadow};
use rtcg_vgpu_exec::move_pages;

/// Alignment of every block: that of textures of linear memory, which GPUs give every block, too.
pub(crate) const BLOCK_ALIGNMENT: u64 = 512;
const MAX_SLAB_BLOCK_BYTES: u64 = 64 << 10;
const SLAB_BYTES: u64 = 512 << 10;
/// Blocks of device memory of this size and more begin with a page. Programs divide them by pages of their own.
const PAGE_ALIGNED_BYTES: u64 = 1 << 20;
/// Smaller ones that have pages of their own begin at so many different places of a page, as their pages' addresses
/// decide: a processor takes addresses that differ by whole pages for the same when it looks for
/// stores that a load must wait for, and kernels walk through arrays in steps of a grid.
const START_OFFSETS_PER_PAGE: u64 = 4;
/// Bytes of the red zone behind each block, when accesses are checked.
const RED_ZONE_BYTES: u64 = 256;
/// Freed blocks that are remembered, so that a report can name them.
const MAX_FREED_HISTORY: usize = 1024;
/// Bytes of small freed blocks that are kept out of use when accesses are checked. Large ones
/// cost addresses only.
const MAX_QUARANTINE_BYTES: u64 = 64 << 20;
/// Freed blocks that are kept out of use when accesses are checked.
const MAX_QUARANTINE_BLOCKS: usize = 8192;

/// What a block is, for pointer attributes and for who may free it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    /// `cuMemAlloc` and its pitched and stream-ordered forms.
    Device,
    /// `cuMemHostAlloc`.
    Host,
    /// `cuMemAllocManaged`.
    Managed,
    /// Device memory of another process.
    Imported,
}

impl MemoryKind {
    /// Memory of a device that the host has no address for, in CUDA's terms.
    pub(crate) fn is_device(self) -> bool {
        matches!(self, MemoryKind::Device | MemoryKind::Imported)
    }
}

/// Who asked for a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockOwner {
    /// Identifier of the context.
    pub(crate) ctx: u64,
    /// Ordinal of the device.
    pub(crate) device: u32,
    /// Handle of the memory pool, 0 for none.
    pub(crate) pool: u64,
}

/// A live block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeapBlock {
    /// First address.
    pub(crate) start: u64,
    /// Bytes asked for.
    pub(crate) size: u64,
    /// Bytes it occupies.
    pub(crate) span: u64,
    /// Bytes that its device is charged for: not those before its place in its first page.
    pub(crate) charged: u64,
    /// What it is.
    pub(crate) kind: MemoryKind,
    /// Whose it is.
    pub(crate) owner: BlockOwner,
    /// Flags of the call that made it.
    pub(crate) flags: u32,
    /// Unique in the process (`CU_POINTER_ATTRIBUTE_BUFFER_ID`).
    pub(crate) id: u64,
}

/// The heap over one reserved range of addresses.
#[derive(Debug)]
pub(crate) struct DeviceHeap {
    space: Mutex<HeapSpace>,
    live: RwLock<BTreeMap<u64, HeapBlock>>,
    freed: Mutex<FreedBlocks>,
}

/// Blocks that have been freed.
#[derive(Debug, Default)]
struct FreedBlocks {
    /// For reports, oldest first.
    history: VecDeque<HeapBlock>,
    /// Not to be used again yet, oldest first.
    quarantine: VecDeque<HeapBlock>,
    quarantine_bytes: u64,
}

#[derive(Debug)]
struct HeapSpace {
    pages: PageAllocator,
    slabs: HashMap<u64, Slab>,
    /// Slabs with a free place, by size class.
    partial_slabs: HashMap<u64, BTreeSet<u64>>,
    /// Ranges of whole pages that are mapped from files: slabs and large blocks that other processes may
    /// open (with the file), and those of other processes.
    files: HashMap<u64, Option<Arc<File>>>,
    next_id: u64,
}

#[derive(Debug)]
struct Slab {
    class: u64,
    free: Vec<u32>,
    n_slots: u32,
}

impl DeviceHeap {
    /// A heap over `[start, start + len)`, reserved and without access. Up to `cache_limit` bytes of
    /// freed pages stay in memory, so that a program that allocates and frees in a loop does not
    /// fault every page in again.
    pub(crate) fn new(start: u64, len: u64, cache_limit: u64) -> DeviceHeap {
        let pages = PageAllocator::new(start, len, cache_limit);
        let space = HeapSpace {
            pages,
            slabs: HashMap::new(),
            partial_slabs: HashMap::new(),
            files: HashMap::new(),
            next_id: 1,
        };
        DeviceHeap { space: Mutex::new(space), live: RwLock::new(BTreeMap::new()), freed: Mutex::default() }
    }

    /// A new block of at least `size` bytes. Its contents are undefined.
    pub(crate) fn alloc_block(&self, size: u64, kind: MemoryKind, owner: BlockOwner, flags: u32) -> Res<HeapBlock> {
        ensure(size > 0, ResultCode::INVALID_VALUE)?;
        let mut space = self.lock_heap_space();
        let zone = if check::enabled_checks().memory { RED_ZONE_BYTES } else { 0 };
        let bytes = size.checked_add(zone).ok_or(ResultCode::OUT_OF_MEMORY)?;
        let charged = span_bytes_for_size(bytes).ok_or(ResultCode::OUT_OF_MEMORY)?;
        let (span, start) = match kind {
            _ if bytes <= MAX_SLAB_BLOCK_BYTES => (charged, space.alloc_slot(charged)),
            MemoryKind::Device if size < PAGE_ALIGNED_BYTES => {
                let most = page_bytes() - BLOCK_ALIGNMENT;
                let span = bytes.checked_add(most).and_then(span_bytes_for_size).ok_or(ResultCode::OUT_OF_MEMORY)?;
                (span, space.pages.alloc_pages(span).map(|pages| pages + start_offset_in_page(pages)))
            }
            _ => (charged, space.pages.alloc_pages(charged)),
        };
        let start = start.ok_or(ResultCode::OUT_OF_MEMORY)?;
        let id = space.next_id;
        space.next_id += 1;
        drop(space);
        let block = HeapBlock { start, size, span, charged, kind, owner, flags, id };
        self.live.write().ignore_poison().insert(start, block);
        // The host writes to its own memory without telling anybody.
        match kind {
            MemoryKind::Device => shadow::mark_allocated_on_device(owner.device, start as usize, size as usize),
            _ => shadow::mark_allocated(start as usize, size as usize, kind != MemoryKind::Device),
        }
        Ok(block)
    }

    /// Frees the block that starts at `start`.
    pub(crate) fn free_block(&self, start: u64) -> Res<HeapBlock> {
        let block = self.live.write().ignore_poison().remove(&start);
        let block = block.ok_or(ResultCode::INVALID_VALUE)?;
        ipc::remove_exported_block(start);
        shadow::mark_freed(start as usize, block.size as usize);
        let mut freed = self.lock_freed_blocks();
        freed.history.push_back(block);
        if freed.history.len() > MAX_FREED_HISTORY {
            freed.history.pop_front();
        }
        if check::enabled_checks().memory && block.kind != MemoryKind::Imported {
            self.quarantine_block(&mut freed, block);
        } else {
            self.lock_heap_space().release_block(&block);
        }
        Ok(block)
    }

    /// Keeps a freed block out of use, and lets the oldest ones go.
    fn quarantine_block(&self, freed: &mut FreedBlocks, block: HeapBlock) {
        if block.span > MAX_SLAB_BLOCK_BYTES && set_access(block.first_page_address(), block.span, false) {
            madvise_pages(block.first_page_address(), block.span, libc::MADV_DONTNEED);
        }
        freed.quarantine.push_back(block);
        freed.quarantine_bytes += block.quarantined_bytes();
        while freed.quarantine_bytes > MAX_QUARANTINE_BYTES || freed.quarantine.len() > MAX_QUARANTINE_BLOCKS {
            let Some(oldest) = freed.quarantine.pop_front() else { return };
            freed.quarantine_bytes -= oldest.quarantined_bytes();
            self.lock_heap_space().release_block(&oldest);
        }
    }

    fn lock_freed_blocks(&self) -> MutexGuard<'_, FreedBlocks> {
        self.freed.lock().ignore_poison()
    }

    /// The live blocks on either side of an address (or that it lies in), and the freed block that
    /// it lies in unless a live one does.
    pub(crate) fn neighbor_blocks(&self, address: u64) -> (Vec<HeapBlock>, Option<HeapBlock>) {
        let live = self.live.read().ignore_poison();
        let below = live.range(..=address).next_back().map(|(_, b)| *b);
        let above = live.range(address..).next().map(|(_, b)| *b);
        let inside = below.is_some_and(|b| address - b.start < b.size);
        drop(live);
        let was_here = |b: &&HeapBlock| address.wrapping_sub(b.start) < b.size;
        let freed = self.lock_freed_blocks().history.iter().rev().find(was_here).copied().filter(|_| !inside);
        (below.into_iter().chain(above).collect(), freed)
    }

    /// Frees every block for which `dead` holds.
    pub(crate) fn free_matching_blocks(&self, dead: impl Fn(&HeapBlock) -> bool) -> Vec<HeapBlock> {
        let doomed: Vec<u64> = {
            let live = self.live.read().ignore_poison();
            live.values().filter(|b| dead(b)).map(|b| b.start).collect()
        };
        doomed.into_iter().filter_map(|start| self.free_block(start).ok()).collect()
    }

    /// The live block that `address` lies in.
    pub(crate) fn find_block(&self, address: u64) -> Option<HeapBlock> {
        let live = self.live.read().ignore_poison();
        let (_, block) = live.range(..=address).next_back()?;
        (address - block.start < block.size).then_some(*block)
    }

    /// The live block that all of `[address, address + len)` lies in.
    pub(crate) fn find_range(&self, address: u64, len: u64) -> Option<HeapBlock> {
        let block = self.find_block(address)?;
        (len <= block.size - (address - block.start)).then_some(block)
    }

    /// Lets other processes map a live block. The pages it lies in go into a file, which the other
    /// blocks of a slab share.
    pub(crate) fn export_block(&self, block: &HeapBlock, pool: u64) -> Res<SharedBlock> {
        let small = block.span <= MAX_SLAB_BLOCK_BYTES;
        let base = if small { block.start & !(SLAB_BYTES - 1) } else { block.first_page_address() };
        let mut space = self.lock_heap_space();
        let file = match space.files.get(&base) {
            Some(Some(file)) => file.clone(),
            _ => {
                let len = if small { SLAB_BYTES } else { block.span };
                let file = Arc::new(ipc::new_file(len)?);
                move_pages::move_pages_into_file(base, len, &file)?;
                space.files.insert(base, Some(file.clone()));
                file
            }
        };
        let about = file.metadata().map_err(|_| ResultCode::OPERATING_SYSTEM)?;
        let (fd, offset) = (file.as_raw_fd() as u64, block.start - base);
        Ok(SharedBlock {
            fd,
            inode: about.ino(),
            offset,
            size: block.size,
            device: u64::from(block.owner.device),
            pool,
        })
    }

    /// A block over memory of another process.
    pub(crate) fn import_block(&self, file: &File, place: &SharedBlock, owner: BlockOwner) -> Res<HeapBlock> {
        let page = page_bytes();
        let (first, end) = (place.offset & !(page - 1), place.offset.checked_add(place.size));
        let end = end.and_then(|e| e.checked_next_multiple_of(page)).ok_or(ResultCode::INVALID_VALUE)?;
        ensure(file.metadata().is_ok_and(|m| m.len() >= end) && place.size > 0, ResultCode::INVALID_VALUE)?;
        let span = end - first;
        let mut space = self.lock_heap_space();
        let base = space.pages.carve_free_range(span + page, page).ok_or(ResultCode::OUT_OF_MEMORY)?;
        if !space.pages.map_file(base, span, file, first) {
            space.pages.reset_pages(base, span);
            return ResultCode::MAP_FAILED.err();
        }
        space.files.insert(base, None);
        let (start, size, id) = (base + (place.offset - first), place.size, space.next_id);
        space.next_id += 1;
        drop(space);
        let block = HeapBlock { start, size, span, charged: span, kind: MemoryKind::Imported, owner, flags: 0, id };
        self.live.write().ignore_poison().insert(start, block);
        shadow::mark_allocated(start as usize, size as usize, true);
        Ok(block)
    }

    /// Addresses without access, which their user maps memory at; a page without access follows.
    pub(crate) fn reserve_addresses(&self, len: u64, alignment: u64) -> Option<u64> {
        let mut space = self.lock_heap_space();
        let len = len.checked_add(page_bytes())?;
        space.pages.carve_free_range(len, alignment).or_else(|| {
            space.pages.trim_cached_pages(0);
            space.pages.carve_free_range(len, alignment)
        })
    }

    /// Takes back what [`reserve_addresses`](Self::reserve_addresses) gave, when nothing is mapped there any more.
    pub(crate) fn unreserve_addresses(&self, start: u64, len: u64) {
        self.lock_heap_space().pages.insert_free_range(start, len + page_bytes());
    }

    /// Gives freed pages that are still in memory back to the system.
    pub(crate) fn trim_free_pages(&self) {
        self.lock_heap_space().pages.trim_cached_pages(0);
    }

    fn lock_heap_space(&self) -> MutexGuard<'_, HeapSpace> {
        self.space.lock().ignore_poison()
    }
}

impl HeapBlock {
    /// The page that the block begins in, which is the first that a large one occupies.
    fn first_page_address(&self) -> u64 {
        self.start & !(page_bytes() - 1)
    }
    /// Bytes that the block holds while it is kept out of use.
    fn quarantined_bytes(&self) -> u64 {
        if self.span <= MAX_SLAB_BLOCK_BYTES { self.span } else { 0 }
    }
}

/// Bytes a block of `size` bytes occupies: its size class, or whole pages.
fn span_bytes_for_size(size: u64) -> Option<u64> {
    if size > MAX_SLAB_BLOCK_BYTES {
        return size.checked_next_multiple_of(page_bytes());
    }
    if size <= 8 * BLOCK_ALIGNMENT {
        return Some(size.next_multiple_of(BLOCK_ALIGNMENT));
    }
    // Eight classes per doubling keep the waste below 1/8.
    let step = (size.next_power_of_two() / 16).max(BLOCK_ALIGNMENT);
    Some(size.next_multiple_of(step))
}

/// Where in its first page a large block begins, the same whenever the pages are used. The places lie at the
/// page's end: so few bytes are left between a block of whole pages and the page without access behind it.
fn start_offset_in_page(pages: u64) -> u64 {
    // The upper bits of a product with the golden ratio differ for pages at any distance.
    let place = (pages / page_bytes()).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - START_OFFSETS_PER_PAGE.ilog2());
    page_bytes() - (place + 1) * BLOCK_ALIGNMENT
}

impl HeapSpace {
    fn release_block(&mut self, block: &HeapBlock) {
        match block.kind {
            MemoryKind::Imported => self.release_pages(block.first_page_address(), block.span),
            _ if block.span <= MAX_SLAB_BLOCK_BYTES => self.free_slot(block.start),
            _ => self.release_pages(block.first_page_address(), block.span),
        }
    }

    /// Pages that are no longer used. Those of a file leave it, so that what comes next is private.
    fn release_pages(&mut self, start: u64, span: u64) {
        if self.files.remove(&start).is_some() {
            self.pages.reset_pages(start, span);
        } else {
            self.pages.release_pages(start, span);
        }
    }

    fn alloc_slot(&mut self, class: u64) -> Option<u64> {
        let base = match self.partial_slabs.get(&class).and_then(|set| set.first().copied()) {
            Some(base) => base,
            None => self.new_slab(class)?,
        };
        let slab = self.slabs.get_mut(&base)?;
        let place = slab.free.pop()?;
        if slab.free.is_empty() {
            self.partial_slabs.get_mut(&class)?.remove(&base);
        }
        Some(base + u64::from(place) * class)
    }

    fn new_slab(&mut self, class: u64) -> Option<u64> {
        let base = self.pages.alloc_aligned_pages(SLAB_BYTES, SLAB_BYTES)?;
        let n_slots = (SLAB_BYTES / class) as u32;
        // Lowest addresses first.
        let free = (0..n_slots).rev().collect();
        self.slabs.insert(base, Slab { class, free, n_slots });
        self.partial_slabs.entry(class).or_default().insert(base);
        Some(base)
    }

    fn free_slot(&mut self, start: u64) {
        let base = start & !(SLAB_BYTES - 1);
        let Some(slab) = self.slabs.get_mut(&base) else { return };
        slab.free.push(((start - base) / slab.class) as u32);
        let (class, empty) = (slab.class, slab.free.len() == slab.n_slots as usize);
        let open = self.partial_slabs.entry(class).or_default();
        open.insert(base);
        // One empty slab of each class is kept, so that a lone block does not map and unmap it.
        if empty && open.len() > 1 {
            open.remove(&base);
            self.slabs.remove(&base);
            self.release_pages(base, SLAB_BYTES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_OWNER: BlockOwner = BlockOwner { ctx: 1, device: 0, pool: 0 };

    fn new_test_heap(len: usize) -> (DeviceHeap, u64) {
        // SAFETY: a fresh anonymous mapping, never unmapped.
        let p = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        assert_ne!(p, libc::MAP_FAILED);
        (DeviceHeap::new(p as u64, len as u64, 4 << 20), p as u64)
    }

    #[test]
    fn blocks_do_not_overlap_and_are_reused() {
        let (heap, _) = new_test_heap(1 << 30);
        let sizes = [1u64, 255, 256, 257, 2048, 2049, 5000, 65536, 65537, 1 << 20, 3 << 20];
        let mut blocks = Vec::new();
        for round in 0..40 {
            for &size in &sizes {
                let b = heap.alloc_block(size + round, MemoryKind::Device, TEST_OWNER, 0).unwrap();
                assert_eq!(b.start % BLOCK_ALIGNMENT, 0);
                // SAFETY: the block was just made and is writable for its size.
                unsafe { std::ptr::write_bytes(b.start as *mut u8, 1, b.size as usize) };
                blocks.push(b);
            }
            if round % 3 == 0 {
                for b in blocks.drain(..blocks.len() / 2) {
                    heap.free_block(b.start).unwrap();
                }
            }
        }
        let mut sorted = blocks.clone();
        sorted.sort_by_key(|b| b.start);
        assert!(sorted.windows(2).all(|w| w[0].start + w[0].span <= w[1].start));
        for b in blocks {
            heap.free_block(b.start).unwrap();
        }
        assert_eq!(heap.free_block(0x1000).unwrap_err().code, ResultCode::INVALID_VALUE);
    }

    /// Blocks of some pages begin at different places of a page, and a freed one is soon used again.
    #[test]
    fn large_blocks_do_not_alias() {
        let (heap, _) = new_test_heap(64 << 20);
        let size = PAGE_ALIGNED_BYTES - 1;
        let blocks: Vec<HeapBlock> =
            (0..8).map(|_| heap.alloc_block(size, MemoryKind::Device, TEST_OWNER, 0).unwrap()).collect();
        let places: BTreeSet<u64> = blocks.iter().map(|b| b.start % page_bytes()).collect();
        assert!(places.len() > 1 && blocks.iter().all(|b| b.start.is_multiple_of(BLOCK_ALIGNMENT)));
        let host = heap.alloc_block(size, MemoryKind::Host, TEST_OWNER, 0).unwrap();
        assert_eq!(host.start % page_bytes(), 0);
        heap.free_block(blocks[1].start).unwrap();
        let again = heap.alloc_block(size, MemoryKind::Device, TEST_OWNER, 0).unwrap();
        assert_eq!(again.start, blocks[1].start);
    }

    /// Multiples of 2 MiB above 1 MiB, whatever was allocated and freed before; charged is what is used.
    #[test]
    fn large_blocks_are_aligned_as_those_of_gpus() {
        let (heap, _) = new_test_heap(1 << 30);
        for round in 0..3 {
            let mut blocks = Vec::new();
            for size in
                [1, 513, 65_536, 65_537, 1_048_575, 1 << 20, (1 << 20) + 1, 1_200_000, 2 << 20, 3_145_733, 33 << 20]
            {
                for kind in [MemoryKind::Device, MemoryKind::Managed, MemoryKind::Host] {
                    let b = heap.alloc_block(size + round, kind, TEST_OWNER, 0).unwrap();
                    let alignment = match size + round {
                        ..1_048_576 => BLOCK_ALIGNMENT,
                        1_048_576 => page_bytes(),
                        _ => 2 << 20,
                    };
                    assert_eq!(b.start % alignment, 0, "{size} {kind:?}");
                    assert!(b.charged < size + round + size / 8 + page_bytes(), "{size} {kind:?}: {}", b.charged);
                    blocks.push(b);
                }
            }
            for block in blocks.into_iter().step_by(1 + round as usize % 2) {
                heap.free_block(block.start).unwrap();
            }
        }
    }

    #[test]
    fn ranges_are_checked_to_the_byte() {
        let (heap, _) = new_test_heap(64 << 20);
        let b = heap.alloc_block(1000, MemoryKind::Device, TEST_OWNER, 0).unwrap();
        assert!(heap.find_range(b.start, 1000).is_some());
        assert!(heap.find_range(b.start + 999, 1).is_some());
        assert!(heap.find_range(b.start, 1001).is_none());
        assert!(heap.find_range(b.start + 1000, 1).is_none());
        assert!(heap.find_range(b.start + 4, u64::MAX).is_none());
        heap.free_block(b.start).unwrap();
        assert!(heap.find_block(b.start).is_none());
    }

    #[test]
    fn exhaustion_is_an_error_and_leaves_the_heap_usable() {
        let (heap, _) = new_test_heap(16 << 20);
        assert_eq!(
            heap.alloc_block(1 << 40, MemoryKind::Device, TEST_OWNER, 0).unwrap_err().code,
            ResultCode::OUT_OF_MEMORY
        );
        assert_eq!(
            heap.alloc_block(u64::MAX, MemoryKind::Device, TEST_OWNER, 0).unwrap_err().code,
            ResultCode::OUT_OF_MEMORY
        );
        assert_eq!(heap.alloc_block(0, MemoryKind::Device, TEST_OWNER, 0).unwrap_err().code, ResultCode::INVALID_VALUE);
        let mut blocks = Vec::new();
        while let Ok(b) = heap.alloc_block(1 << 20, MemoryKind::Device, TEST_OWNER, 0) {
            blocks.push(b);
        }
        assert!(blocks.len() >= 7);
        for b in &blocks {
            heap.free_block(b.start).unwrap();
        }
        assert!(heap.alloc_block(8 << 20, MemoryKind::Device, TEST_OWNER, 0).is_ok(), "freed ranges were not merged");
    }
}
