//! Stacks for fibers: mapped once, lazily backed by memory, kept in a pool.
//!
//! Establishes: below every stack lies an inaccessible guard larger than any frame that compiled
//! code may have beyond `stack_bytes`, and the first byte in use is staggered from stack to stack,
//! so that the warps of a block, which do the same at the same depth, do not compete for the same
//! cache sets.

use std::cell::Cell;

/// Inaccessible bytes below the stacks of each size. Larger than a frame can be that still fits
/// the stack a few times, so that a recursion cannot step over it.
const GUARD_BYTES: [usize; 5] = [1 << 20, 1 << 20, 8 << 20, 64 << 20, 64 << 20];
/// What runtime functions may use of a stack beyond the kernel's own need. Without optimisation, products of matrices have
/// frames of many temporaries.
pub(crate) const RUNTIME_RESERVE_BYTES: usize = if cfg!(debug_assertions) { 160 << 10 } else { 64 << 10 };
const STACK_CLASS_BYTES: [usize; 5] = [256 << 10, 1 << 20, 8 << 20, 64 << 20, 512 << 20];
/// Stacks of one size that a thread keeps for later.
const MAX_POOLED_STACKS: usize = 128;

/// A stack for one fiber.
#[derive(Debug)]
pub(crate) struct FiberStack {
    map: usize,
    map_len: usize,
    class: usize,
    top: usize,
}

impl FiberStack {
    fn map_stack(class: usize) -> Option<FiberStack> {
        let map_len = STACK_CLASS_BYTES[class] + GUARD_BYTES[class];
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping; the guard part of it is then closed.
        let p = unsafe { libc::mmap(std::ptr::null_mut(), map_len, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if p == libc::MAP_FAILED {
            return None;
        }
        let mut stack = FiberStack { map: p as usize, map_len, class, top: 0 };
        stack.top = stack.map + map_len - stagger_bytes();
        // SAFETY: the range is the low end of the mapping just made.
        let rc = unsafe { libc::mprotect(p, GUARD_BYTES[class], libc::PROT_NONE) };
        (rc == 0).then_some(stack)
    }

    /// One past the last address in use, a multiple of the cache line.
    pub(crate) fn top_address(&self) -> usize {
        self.top
    }
    /// The lowest usable address.
    pub(crate) fn bottom_address(&self) -> usize {
        self.map + GUARD_BYTES[self.class]
    }
    /// First address of the guard, which ends at [`FiberStack::bottom_address`].
    pub(crate) fn guard_address(&self) -> usize {
        self.map
    }
}

/// A multiple of the cache line below 16 KiB, different for stacks made one after the other.
fn stagger_bytes() -> usize {
    thread_local!(static NEXT: Cell<usize> = const { Cell::new(0) });
    let n = NEXT.get();
    NEXT.set(n + 1);
    (n * 832 % (16 << 10)) & !63
}

impl Drop for FiberStack {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value and no fiber runs on a stack that is dropped.
        unsafe { libc::munmap(self.map as *mut _, self.map_len) };
    }
}

/// The stacks that one thread keeps.
#[derive(Debug, Default)]
pub(crate) struct StackPool {
    free: [Vec<FiberStack>; STACK_CLASS_BYTES.len()],
}

impl StackPool {
    /// A stack with at least `bytes` for the kernel; `None` when the system refuses.
    pub(crate) fn take_stack(&mut self, bytes: usize) -> Option<FiberStack> {
        let class = stack_class(bytes)?;
        self.free[class].pop().or_else(|| FiberStack::map_stack(class))
    }

    /// Takes a stack back.
    pub(crate) fn release_stack(&mut self, stack: FiberStack) {
        let class = stack.class;
        if class >= LARGE_STACK_CLASS {
            release_pages(&stack);
        }
        if self.free[class].len() < MAX_POOLED_STACKS {
            self.free[class].push(stack);
        }
    }
}

/// The smallest class of stacks with at least `bytes` for the kernel.
pub(crate) fn stack_class(bytes: usize) -> Option<usize> {
    STACK_CLASS_BYTES.iter().position(|&s| s - (16 << 10) >= bytes + RUNTIME_RESERVE_BYTES)
}

/// What a runaway recursion has touched goes back to the system.
fn release_pages(stack: &FiberStack) {
    let page = crate::window::page_size();
    let end = (stack.top - RUNTIME_RESERVE_BYTES) & !(page - 1);
    // SAFETY: the range lies in the stack's own mapping, and no fiber runs on it.
    unsafe { libc::madvise(stack.bottom_address() as *mut _, end - stack.bottom_address(), libc::MADV_DONTNEED) };
}

/// The class of stacks for kernels without a static bound, whose pages go back after each use.
const LARGE_STACK_CLASS: usize = 3;
/// Native stack for kernels without a static bound.
pub(crate) const UNBOUNDED_STACK_BYTES: usize =
    STACK_CLASS_BYTES[LARGE_STACK_CLASS] - RUNTIME_RESERVE_BYTES - (16 << 10);
/// Bytes of native stack for each byte of a thread's stack. A GPU's frame has 16 bytes at least;
/// the frame of a warp with as many registers rarely has 8 KiB.
const NATIVE_STACK_BYTES_PER_DEVICE_BYTE: usize = 512;

/// Native stack for kernels without a static bound where a thread has `limit` bytes of stack.
pub(crate) fn stack_bytes_for_limit(limit: usize) -> usize {
    let most = STACK_CLASS_BYTES[STACK_CLASS_BYTES.len() - 1] - RUNTIME_RESERVE_BYTES - (16 << 10);
    limit.saturating_mul(NATIVE_STACK_BYTES_PER_DEVICE_BYTE).min(most)
}
