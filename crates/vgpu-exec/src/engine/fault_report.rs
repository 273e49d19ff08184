//! Faults in words: which kernel, block, thread, instruction and address.

use super::fiber::{SignalInfo, Warp};
use super::grid_job::GridJob;
use super::report_words::{Words, describe_place, words_of};
use super::watchdog;
use crate::address_space::describe_address;
use crate::barrier::Barrier;
use crate::check::{Finding, FindingKind};
use crate::program::InstructionLocation;
use crate::stop_reason;
use crate::window::device_window;
use rtcg_vgpu_abi::LaneSet;
use rtcg_vgpu_abi::fault::{Fault, FaultAccess, FaultKind};
use rtcg_vgpu_abi::model::memory::RESERVED_SHARED_BYTES;
use rtcg_vgpu_abi::{TrapKind, WARP_LANES};
use std::fmt::Write;

/// What a fault is about; `describe_fault` makes the report.
struct FaultInfo<'a> {
    kind: FaultKind,
    what: String,
    warp: &'a Warp,
    lanes: LaneSet,
    place: Option<InstructionLocation>,
    access: Option<FaultAccess>,
}

/// The fault behind a signal.
pub(crate) fn signal_fault(job: &GridJob<'_>, warp: &Warp, info: SignalInfo) -> Fault {
    let sites = job.program;
    let place = if warp.in_access { sites.lookup_site(warp.access_site) } else { sites.lookup_pc(info.pc) };
    let lanes = match (&place, warp.in_access) {
        (_, true) => LaneSet::Lane(warp.access_lane),
        (Some(p), false) => p.lanes.move_to_chunk(warp.ctx.chunk),
        (None, false) => LaneSet::Warp,
    };
    let write = info.write.or(place.as_ref().map(|p| p.is_store));
    let (kind, what) = match info.signal {
        _ if info.overflow => (
            FaultKind::StackOverflow,
            "the stack is exhausted (too deep a recursion; CU_LIMIT_STACK_SIZE sets how much there is)".to_owned(),
        ),
        libc::SIGSEGV | libc::SIGBUS => (FaultKind::IllegalAddress, "illegal memory access".to_owned()),
        n => (FaultKind::IllegalInstruction, format!("the machine code of the kernel raised signal {n}")),
    };
    let access = (kind == FaultKind::IllegalAddress).then(|| FaultAccess {
        address: info.address as u64,
        write,
        size: place.as_ref().map_or(0, |p| p.access_bytes),
        space: state_space_of_address(warp, info.address),
    });
    if access.is_some_and(|a| a.space == "local") {
        let what = "local memory is exhausted or overrun".to_owned();
        return describe_fault(job, FaultInfo { kind, what, warp, lanes, place, access });
    }
    describe_fault(job, FaultInfo { kind, what, warp, lanes, place, access })
}

/// The fault of a trap that compiled code or the runtime raised. `lane` beyond the warp means all.
pub(crate) fn trap_fault(
    job: &GridJob<'_>,
    warp: &Warp,
    kind: FaultKind,
    what: &str,
    lane: u32,
    site: u32,
    address: u64,
) -> Fault {
    let place = job.program.lookup_site(site);
    let lanes = if (lane as usize) < WARP_LANES { LaneSet::Lane(lane) } else { LaneSet::Warp };
    let access = matches!(kind, FaultKind::IllegalAddress | FaultKind::MisalignedAddress).then(|| FaultAccess {
        address,
        write: place.as_ref().map(|p| p.is_store),
        size: place.as_ref().map_or(0, |p| p.access_bytes),
        space: state_space_of_address(warp, address as usize),
    });
    let what = if kind == FaultKind::InvalidPc { format!("{what}: {address:#x}") } else { what.to_owned() };
    describe_fault(job, FaultInfo { kind, what, warp, lanes, place, access })
}

/// The fault of a block whose warps all wait.
pub(crate) fn deadlock_fault(job: &GridJob<'_>, warp: &Warp, stuck: &[(usize, Barrier)], finished: u32) -> Fault {
    let words = words_of(job);
    let mut what = format!("deadlock: all warps of the {} wait at barriers that cannot complete", words.group);
    for (id, b) in stuck {
        let (of, exited) = match b.expected {
            0 => (job.threads, format!(", {finished} have exited")),
            n => (n, String::new()),
        };
        // Writing to a string cannot fail.
        let _ = write!(what, "; barrier {id}: {} of {of} {}s have arrived{exited}", b.arrived, words.item);
    }
    let place = job.program.lookup_site(warp.ctx.barrier_site);
    describe_fault(job, FaultInfo { kind: FaultKind::Deadlock, what, warp, lanes: LaneSet::Warp, place, access: None })
}

/// The fault of a launch that was stopped from outside, with the place of a warp that it left.
pub(crate) fn stopped_fault(job: &GridJob<'_>, warp: &Warp, why: u32) -> Fault {
    let (kind, what) = stop_fault_kind(why);
    describe_fault(job, FaultInfo { kind, what, warp, lanes: LaneSet::Warp, place: None, access: None })
}

/// The same without a place.
pub(crate) fn stopped_launch_fault(kernel: &str, why: u32) -> Fault {
    let (kind, what) = stop_fault_kind(why);
    Fault::launch_fault(kind, kernel, what)
}

fn stop_fault_kind(why: u32) -> (FaultKind, String) {
    match why {
        stop_reason::TIMEOUT => {
            let limit = watchdog::kernel_time_limit().map_or(0.0, |limit| limit.as_secs_f64());
            (FaultKind::Timeout, format!("stopped after {limit} s, the limit that RTCG_VIRTUAL_TIMEOUT sets"))
        }
        stop_reason::INTERRUPTED => (FaultKind::Cancelled, "interrupted".to_owned()),
        _ => (FaultKind::Cancelled, "stopped: its context was destroyed".to_owned()),
    }
}

/// Kind and words of a trap number; unknown numbers are plain traps.
pub(crate) fn trap_kind(number: u32) -> (FaultKind, &'static str) {
    match number {
        n if n == TrapKind::IllegalAddress as u32 => (FaultKind::IllegalAddress, "illegal memory access"),
        n if n == TrapKind::MisalignedAddress as u32 => (FaultKind::MisalignedAddress, "misaligned memory access"),
        n if n == TrapKind::Assert as u32 => (FaultKind::Assert, "assertion failed"),
        n if n == TrapKind::StackOverflow as u32 => {
            let what = "the stack or local memory of a thread is exhausted (too deep a recursion; \
                        CU_LIMIT_STACK_SIZE sets how much there is)";
            (FaultKind::StackOverflow, what)
        }
        n if n == TrapKind::InvalidPc as u32 => (FaultKind::InvalidPc, "call through a pointer that is no function"),
        n if n == TrapKind::PartialWarp as u32 => {
            (FaultKind::IllegalInstruction, "a matrix instruction that not all 32 lanes of the warp execute")
        }
        n if n == TrapKind::BarrierCount as u32 => {
            (FaultKind::IllegalInstruction, "a barrier for a number of threads that is no multiple of the warp size")
        }
        n if n == TrapKind::ProvedInvalid as u32 => {
            let what = "the compiler proved an access invalid (as through a null pointer) and put a trap in its place";
            (FaultKind::Trap, what)
        }
        n if n == TrapKind::Breakpoint as u32 => (FaultKind::Breakpoint, "breakpoint without a debugger"),
        _ => (FaultKind::Trap, "trap instruction"),
    }
}

fn state_space_of_address(warp: &Warp, address: usize) -> &'static str {
    let Ok(w) = device_window() else { return "generic" };
    match () {
        () if w.local_area().contains(address) => "local",
        () if w.params_area().contains(address) => "param",
        () if address.wrapping_sub(warp.ctx.shared as usize) < crate::window::SHARED_SPAN_BYTES => "shared",
        () if w.shared_area().contains(address) => "shared",
        () if address == 0 => "generic",
        () => "global",
    }
}

fn describe_fault(job: &GridJob<'_>, f: FaultInfo<'_>) -> Fault {
    let lanes = first_affected_lane(f.warp, f.lanes);
    let tid = |lane: u32| {
        // SAFETY: the table belongs to the job.
        let t = unsafe { &*f.warp.ctx.tid };
        [t.x[lane as usize], t.y[lane as usize], t.z[lane as usize]]
    };
    let first = if lanes == 0 { 0 } else { lanes.trailing_zeros() };
    let last = if lanes == 0 { 0 } else { 31 - lanes.leading_zeros() };
    let (block, thread) = (f.warp.ctx.ctaid, tid(first));
    let words = words_of(job);
    let mut report = format!("kernel {}: {}", job.program.name, f.what);
    if let Some(a) = f.access {
        append_access_description(&mut report, a, f.warp, words);
    }
    let allocation = f.access.and_then(|a| describe_accessed_allocation(a, f.warp, words));
    let mut line = |text: String| {
        report.push_str("\n  ");
        report.push_str(&text);
    };
    // The first line has the offset in shared memory.
    let is_told = f.access.is_some_and(|a| a.space == "shared") && report_has_offset(allocation.as_deref());
    if let Some(a) = allocation.as_ref().filter(|_| !is_told) {
        line(a.clone());
    }
    line(describe_place(job, block, thread, tid(last)));
    if let Some(p) = &f.place {
        if p.function != job.program.name {
            line(format!("in function {}", p.function));
        }
        p.describe(&mut report);
    }
    Fault {
        code: f.kind.result_code(),
        kind: f.kind,
        kernel: job.program.name.clone(),
        block,
        thread,
        access: f.access,
        allocation,
        instruction: f.place.as_ref().map(|p| p.instruction.clone()).unwrap_or_default(),
        ptx_line: f.place.as_ref().map_or(0, |p| p.ptx_line),
        source: f.place.and_then(|p| p.source),
        report,
    }
}

/// Whether an access lies in its allocation as a whole.
fn report_has_offset(allocation: Option<&str>) -> bool {
    allocation.is_some_and(|text| text.contains(" bytes into "))
}

/// What an access has to do with the memory it was meant for.
fn describe_accessed_allocation(a: FaultAccess, warp: &Warp, words: &Words) -> Option<String> {
    let end = |what: &str, start: u64, size: u64| match a.address.wrapping_sub(start) {
        at if at < size && at + u64::from(a.size) > size => {
            format!("reaches past the end of the {size} bytes of {what}")
        }
        at if at < size => format!("{at} bytes into the {size} bytes of {what}"),
        at if at == size => format!("right past the end of the {size} bytes of {what}"),
        at if at < 1 << 32 => format!("{} bytes past the end of the {size} bytes of {what}", at - size),
        at => format!("{} bytes before the {size} bytes of {what}", at.wrapping_neg()),
    };
    // SAFETY: the job outlives its warps.
    let job = unsafe { &*warp.job };
    match a.space {
        "shared" if offset_in_shared(a.address, warp).is_some() => Some(end(
            &format!("{} memory of the {}", words.shared, words.group),
            warp.ctx.shared as u64 + u64::from(RESERVED_SHARED_BYTES),
            u64::from(warp.ctx.total_shared_size),
        )),
        "param" => Some(end("parameters of the kernel", job.params as u64, job.param_bytes as u64)),
        "local" => Some(format!("in local memory, outside the variables of the {}", words.item)),
        _ => Some(describe_address(a.address, a.size)?.replace("allocation", words.allocation)),
    }
}

/// Something that `lane` does wrong without faulting.
pub(crate) fn build_lane_finding(
    job: &GridJob<'_>,
    warp: &Warp,
    kind: FindingKind,
    what: &str,
    lane: u32,
    site: u32,
    address: u64,
) -> Finding {
    let place = job.program.lookup_site(site);
    let lanes = if (lane as usize) < WARP_LANES { LaneSet::Lane(lane) } else { LaneSet::Warp };
    let access = (address != 0).then(|| FaultAccess {
        address,
        write: place.as_ref().map(|p| p.is_store),
        size: place.as_ref().map_or(0, |p| p.access_bytes),
        space: state_space_of_address(warp, address as usize),
    });
    let f = describe_fault(job, FaultInfo { kind: FaultKind::Trap, what: what.to_owned(), warp, lanes, place, access });
    Finding {
        kind,
        kernel: f.kernel,
        module_hash: job.program.sites.text_hash(),
        block: f.block,
        thread: f.thread,
        address,
        size: f.access.map_or(0, |a| u64::from(a.size)),
        allocation: f.allocation,
        instruction: f.instruction,
        ptx_line: f.ptx_line,
        source: f.source,
        other: None,
        count: 1,
        message: f.report,
    }
}

fn append_access_description(report: &mut String, a: FaultAccess, warp: &Warp, words: &Words) {
    let verb = match a.write {
        Some(true) => "write",
        Some(false) => "read",
        None => "access",
    };
    let bytes = if a.size == 0 { String::new() } else { format!(" of {} bytes", a.size) };
    // Writing to a string cannot fail.
    let _ = write!(report, ", {verb}{bytes} at {:#x}", a.address);
    if let Some(offset) = offset_in_shared(a.address, warp).filter(|_| a.space == "shared") {
        let total = warp.ctx.total_shared_size;
        let offset = i64::from(offset) - i64::from(RESERVED_SHARED_BYTES);
        let (group, shared) = (words.group, words.shared);
        let _ = write!(report, " (offset {offset} of the {group}'s {total} bytes of {shared} memory)");
    } else if a.address < 4096 {
        report.push_str(" (a null pointer)");
    }
}

/// The address in the block's shared memory that a generic address stands for. Compiled code extends
/// offsets with their sign, so that the upper half lies below the block's memory; nothing is ever
/// committed there.
fn offset_in_shared(address: u64, warp: &Warp) -> Option<u32> {
    let distance = (address as i64).wrapping_sub(warp.ctx.shared as i64);
    (-(1 << 31)..1 << 32).contains(&distance).then_some(distance as u32)
}

fn first_affected_lane(warp: &Warp, lanes: LaneSet) -> u32 {
    let mask = match lanes {
        LaneSet::Lane(l) => 1 << (l % 32),
        LaneSet::Chunk(first) => 0xff << (first % 32),
        LaneSet::Warp => u32::MAX,
    };
    mask & warp.ctx.live & !warp.ctx.exited
}
