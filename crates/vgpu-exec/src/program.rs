//! What the engine needs to know of a kernel, independent of the code generator.

use super::stack::stack_class;
use rtcg_vgpu_abi::LaneSet;
use rtcg_vgpu_abi::model::memory::RESERVED_SHARED_BYTES;
use rtcg_vgpu_abi::{IgnorePoison, KernelEntry};
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// An instruction, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionLocation {
    /// The kernel or device function it is in.
    pub function: String,
    /// Its PTX text.
    pub instruction: String,
    /// Line of the PTX text, from 1; 0 when unknown.
    pub ptx_line: u32,
    /// File and line of the source, with `-lineinfo`.
    pub source: Option<(String, u32)>,
    /// That line itself, where it is to be had.
    pub source_text: Option<String>,
    /// The lanes that the machine code stands for.
    pub lanes: LaneSet,
    /// Whether it stores.
    pub is_store: bool,
    /// Bytes of one lane's access; 0 when it is none.
    pub access_bytes: u32,
}

impl InstructionLocation {
    /// Adds to a report, a line each: where it stands in the source, and the instruction.
    pub(crate) fn describe(&self, report: &mut String) {
        // Writing to a string cannot fail.
        if let Some((file, line)) = &self.source {
            let text = self.source_text.as_deref().map(|text| format!("  {text}")).unwrap_or_default();
            let _ = write!(report, "\n  source {file}:{line}{text}");
        }
        let _ = write!(report, "\n  instruction {} (line {} of the PTX)", self.instruction, self.ptx_line);
    }
}

/// Finds instructions from program counters and from the numbers that compiled code passes.
pub trait SourceMap: Send + Sync {
    /// Whether `pc` is in the kernel's machine code. Called from a signal handler: no locks, no
    /// allocation.
    fn contains_pc(&self, pc: usize) -> bool;
    /// The instruction at a program counter.
    fn lookup_pc(&self, pc: usize) -> Option<InstructionLocation>;
    /// The instruction of a site number.
    fn lookup_site(&self, number: u32) -> Option<InstructionLocation>;
    /// Where the launch record of an OpenCL kernel begins among its parameters.
    fn opencl_record(&self, _kernel: &str) -> Option<u32> {
        None
    }
    /// A hash of the module's text, which tells programs apart whose files and kernels have equal names.
    fn text_hash(&self) -> u64 {
        0
    }
}

/// A kernel that can run.
pub struct Program {
    /// Name as in the PTX.
    pub name: String,
    /// Runs one warp.
    pub entry: KernelEntry,
    /// What its warps find at [`rtcg_vgpu_abi::WarpCtx::host`]; 0 for a Rust function.
    pub host: usize,
    /// Whether it may wait for other warps; each warp gets a fiber of its own then.
    pub suspends: bool,
    /// Whether it was compiled for lanes that are scheduled at random.
    pub random: bool,
    /// Whether `stack_bytes` and `local_bytes_per_warp` are no bounds.
    pub recursive: bool,
    /// Native stack it needs.
    pub stack_bytes: u32,
    /// Local memory a warp needs.
    pub local_bytes_per_warp: u64,
    /// The address in shared memory where the dynamic part begins; the reserved and the static part lie before it.
    pub dynamic_shared_offset: u32,
    /// Whether it uses the reserved part of shared memory.
    pub uses_reserved_shared: bool,
    /// Finds its instructions.
    pub sites: Box<dyn SourceMap>,
    /// What a program of the first tier has for its replacement.
    pub first_tier: Option<FirstTier>,
    /// Running estimate of the time a block takes; start with 0.
    pub ns_per_block: AtomicU32,
}

/// Time in a program of the first tier after which it is worth to be optimised. Optimising takes some 10 to 300 ms of
/// a core that is idle otherwise.
const OPTIMIZE_AFTER: Duration = Duration::from_millis(2);

/// Has the replacement made, some time later.
pub(crate) type RequestOptimized = Box<dyn FnOnce() + Send>;

/// Where the replacement of a program of the first tier is put.
pub(crate) type OptimizedSlot = Arc<OnceLock<Arc<Program>>>;

/// Code that was made quickly, and what takes its place.
pub struct FirstTier {
    /// Time of its launches so far.
    spent_ns: AtomicU64,
    requested: AtomicBool,
    /// What is called once.
    request: Mutex<Option<RequestOptimized>>,
    optimized: OptimizedSlot,
}

impl Program {
    /// A program with no local and no shared memory that never waits; fill in the rest.
    pub fn new(name: &str, entry: KernelEntry, sites: Box<dyn SourceMap>) -> Program {
        Program {
            name: name.to_owned(),
            entry,
            host: 0,
            suspends: false,
            random: false,
            recursive: false,
            stack_bytes: 0,
            local_bytes_per_warp: 0,
            dynamic_shared_offset: RESERVED_SHARED_BYTES,
            uses_reserved_shared: false,
            sites,
            first_tier: None,
            ns_per_block: AtomicU32::new(0),
        }
    }

    /// The same program as one of the first tier: `request` is called once, when it has run for a while, and is to have
    /// its replacement put into `optimized`.
    pub fn with_optimized_later(self, optimized: OptimizedSlot, request: RequestOptimized) -> Program {
        let (spent_ns, requested) = (AtomicU64::new(0), AtomicBool::new(false));
        Program {
            first_tier: Some(FirstTier { spent_ns, requested, request: Mutex::new(Some(request)), optimized }),
            ..self
        }
    }

    /// Whether it is code of the first tier that nothing has replaced yet.
    pub(crate) fn awaits_optimized(&self) -> bool {
        self.first_tier.as_ref().is_some_and(|tier| tier.optimized.get().is_none())
    }

    /// Counts the time of a launch; after a while the program asks for its replacement.
    pub(crate) fn add_time(&self, ns: u64) {
        if let Some(tier) = &self.first_tier {
            let spent = tier.spent_ns.fetch_add(ns, Ordering::Relaxed) + ns;
            self.request_optimized_after(Duration::from_nanos(spent));
        }
    }

    /// Asks for its replacement if it has run for so long that this pays.
    pub(crate) fn request_optimized_after(&self, spent: Duration) {
        let Some(tier) = self.first_tier.as_ref().filter(|_| spent >= OPTIMIZE_AFTER) else { return };
        if !tier.requested.swap(true, Ordering::Relaxed) {
            let request = tier.request.lock().ignore_poison().take();
            request.into_iter().for_each(|request| request());
        }
    }

    /// What launches are to run: the optimised program as soon as there is one.
    pub fn newest(self: &Arc<Self>) -> &Arc<Program> {
        self.first_tier.as_ref().and_then(|tier| tier.optimized.get()).unwrap_or(self)
    }

    /// What the next block of a launch that began with this program runs. Stack and local memory are there already.
    pub(crate) fn newest_for_block(&self) -> &Program {
        let class = |p: &Program| stack_class(p.stack_bytes as usize).unwrap_or(usize::MAX);
        let fits = |p: &&Arc<Program>| {
            class(p) <= class(self)
                && p.local_bytes_per_warp <= self.local_bytes_per_warp
                && p.suspends == self.suspends
        };
        self.first_tier.as_ref().and_then(|tier| tier.optimized.get()).filter(fits).map_or(self, |p| p)
    }

    /// Where the code may be that a launch of this program runs.
    fn source_maps(&self) -> impl Iterator<Item = &dyn SourceMap> {
        let optimized = self.first_tier.as_ref().and_then(|tier| tier.optimized.get());
        [Some(self), optimized.map(|p| &**p)].into_iter().flatten().map(|p| &*p.sites)
    }

    /// Whether `pc` is in its machine code or in that of its replacement. Safe in a signal handler.
    pub(crate) fn contains_pc(&self, pc: usize) -> bool {
        self.source_maps().any(|map| map.contains_pc(pc))
    }

    /// The instruction at a program counter.
    pub(crate) fn lookup_pc(&self, pc: usize) -> Option<InstructionLocation> {
        self.source_maps().find_map(|map| map.lookup_pc(pc))
    }

    /// The instruction of a site number, which is the same in both tiers.
    pub(crate) fn lookup_site(&self, number: u32) -> Option<InstructionLocation> {
        self.sites.lookup_site(number)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name).field("suspends", &self.suspends).finish_non_exhaustive()
    }
}
