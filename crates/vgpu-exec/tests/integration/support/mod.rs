//! Rust functions as kernels: they get the same context and call the same runtime as compiled code.

use rtcg_vgpu_abi::LaneSet;
use rtcg_vgpu_abi::{KernelEntry, WarpCtx};
use rtcg_vgpu_exec::{CancelFlag, Fault, InstructionLocation, LaunchConfig, Program, SourceMap, run_program};

/// Every program counter is the kernel's, and every site the same instruction.
struct AnyPcSourceMap;

impl SourceMap for AnyPcSourceMap {
    fn contains_pc(&self, _: usize) -> bool {
        true
    }
    fn lookup_pc(&self, _: usize) -> Option<InstructionLocation> {
        Some(helper_location(LaneSet::Warp))
    }
    fn lookup_site(&self, number: u32) -> Option<InstructionLocation> {
        (number != 0).then(|| helper_location(LaneSet::Lane(number)))
    }
}

fn helper_location(lanes: LaneSet) -> InstructionLocation {
    InstructionLocation {
        function: "helper".into(),
        instruction: "ld.global.u32 %r1, [%rd1];".into(),
        ptx_line: 12,
        source: Some(("k.cu".into(), 7)),
        source_text: None,
        lanes,
        is_store: false,
        access_bytes: 4,
    }
}

pub fn serial_program(entry: KernelEntry) -> Program {
    Program::new("kernel", entry, Box::new(AnyPcSourceMap))
}

pub fn suspending_program(entry: KernelEntry) -> Program {
    Program { suspends: true, ..serial_program(entry) }
}

pub fn launch_config(grid: u32, block: u32) -> LaunchConfig {
    LaunchConfig { grid: [grid, 1, 1], block: [block, 1, 1], dynamic_shared: 0, cooperative: false }
}

/// Runs with one pointer as parameter.
pub fn run_with_data<T>(program: &Program, shape: LaunchConfig, data: &T) -> Result<(), Fault> {
    let address = std::ptr::from_ref(data) as usize;
    run_program(program, shape, &address.to_ne_bytes(), &CancelFlag::new())
}

/// The parameter of [`run_with_data`].
///
/// # Safety
/// The launch was made by [`run_with_data`] with a `T`.
pub unsafe fn kernel_param<'a, T>(ctx: *mut WarpCtx) -> &'a T {
    // SAFETY: the caller's contract.
    unsafe { &**(*ctx).params.cast::<*const T>() }
}

/// Number of this block in its grid of one dimension.
///
/// # Safety
/// `ctx` is the context of the running warp.
pub unsafe fn block_index(ctx: *mut WarpCtx) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { (*ctx).ctaid[0] }
}
