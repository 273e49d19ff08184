//! A launch: blocks one after another, threads one after another, each until it waits.
//!
//! Threads that wait go on when all they wait for have come: the members of a warp operation, the
//! threads of a barrier. If nobody can go on, the program is wrong.

mod matrix_tiles;
mod thread;
mod warp;

use self::thread::{SimBlock, SimThread, ThreadState};
use crate::memory::MemoryRegion;
use crate::texture::BoundTextureObject;
use rtcg_ptx::ast::*;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

/// Statements that all threads together may execute.
const MAX_EXECUTED_STATEMENTS: u64 = 20_000_000;
/// Where module variables lie.
const VARIABLES_BASE: u64 = 0x7000_0000_0000;
/// Where function addresses begin.
const FUNCTIONS_BASE: u64 = 0x0300 << 48;

/// The shape and the arguments of a launch.
#[derive(Debug, Clone, Default)]
pub struct OracleLaunch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Packed parameters.
    pub params: Vec<u8>,
    /// Texture and surface objects.
    pub objects: Vec<BoundTextureObject>,
    /// Registers that nobody wrote are 0, as on the virtual GPU; else reading one is an error.
    pub zero_unwritten: bool,
}

/// Device memory that the caller owns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleBuffer {
    /// Its address, as parameters name it.
    pub address: u64,
    /// Its contents, before and after the launch.
    pub bytes: Vec<u8>,
    /// Whether the kernel may write it.
    pub writable: bool,
}

/// Why a program was not executed to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleError {
    /// What is wrong.
    pub message: String,
    /// The statement, as text.
    pub statement: String,
}

impl fmt::Display for OracleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.statement)
    }
}

impl std::error::Error for OracleError {}

/// What a launch did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OracleReport {
    /// Statements executed by all threads.
    pub steps: u64,
    /// Different NaNs of double precision met, or one met an atomic sum: CUDA leaves open which one
    /// is kept. The oracle keeps the one that an H200 mostly keeps, the last.
    pub unspecified: bool,
    /// A register was read that nobody wrote, see [`OracleLaunch::zero_unwritten`]: another device may have any value there.
    pub read_unwritten: bool,
}

/// What all blocks see.
#[derive(Debug)]
pub(crate) struct GridState {
    /// `%nctaid`
    pub(crate) grid: [u32; 3],
    /// `%ntid`
    pub(crate) block: [u32; 3],
    /// `%dynamic_smem_size`
    pub(crate) dynamic_shared: u32,
    /// Addresses of module variables in their own space.
    pub(crate) variables: Vec<u64>,
    /// Offsets of shared variables of functions, by function and variable.
    pub(crate) shared_variables: HashMap<(usize, usize), u64>,
    /// Global and constant memory.
    pub(crate) memory: Vec<MemoryRegion>,
    /// Texture and surface objects.
    pub(crate) objects: Vec<BoundTextureObject>,
    /// See [`OracleReport::unspecified`].
    pub(crate) unspecified: Cell<bool>,
}

/// The address of a function.
pub(crate) fn function_address(f: FuncId) -> u64 {
    FUNCTIONS_BASE + 16 * u64::from(f.0)
}

/// The function at an address.
pub(crate) fn function_at_address(module: &Module, address: u64) -> Option<FuncId> {
    let offset = address.checked_sub(FUNCTIONS_BASE)?;
    (offset % 16 == 0 && offset / 16 < module.functions.len() as u64).then_some(FuncId((offset / 16) as u32))
}

/// The contents of a variable.
fn initial_variable_bytes(var: &Var, addresses: &[u64]) -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    for init in &var.init {
        match init {
            VarInit::Bytes(b) => bytes.extend(b),
            VarInit::Address { symbol, offset, size, shift, .. } => {
                let address = match symbol {
                    Symbol::Func(f) => function_address(*f),
                    Symbol::Global(g) => addresses[g.index()],
                    _ => return Err("an initialiser names what has no address".into()),
                };
                let address = address.wrapping_add_signed(*offset) >> shift;
                bytes.extend(&address.to_le_bytes()[..*size as usize]);
            }
        }
    }
    bytes.resize(var.size as usize, 0);
    Ok(bytes)
}

impl GridState {
    /// Places all variables; gives the size of shared memory too.
    fn new(module: &Module, launch: &OracleLaunch, buffers: &[OracleBuffer]) -> Result<(GridState, usize), String> {
        let mut grid = GridState {
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            variables: vec![],
            shared_variables: HashMap::new(),
            unspecified: Cell::new(false),
            objects: launch.objects.clone(),
            memory: buffers.iter().map(|b| MemoryRegion::new(b.address, b.bytes.clone(), b.writable)).collect(),
        };
        let (mut shared, mut next) = (0u64, VARIABLES_BASE);
        let mut dynamic = vec![];
        let place = |end: &mut u64, var: &Var| {
            let at = end.next_multiple_of(u64::from(var.align.max(1)));
            *end = at + var.size;
            at
        };
        for (i, var) in module.vars.iter().enumerate() {
            match var.space {
                Space::Shared if var.unsized_array => dynamic.push(i),
                _ => {}
            }
            let end = if var.space == Space::Shared { &mut shared } else { &mut next };
            let at = place(end, var);
            grid.variables.push(at);
        }
        for (f, function) in module.functions.iter().enumerate() {
            for (v, var) in function.vars.iter().enumerate().filter(|(_, v)| v.space == Space::Shared) {
                grid.shared_variables.insert((f, v), place(&mut shared, var));
            }
        }
        let shared = shared.next_multiple_of(16);
        dynamic.into_iter().for_each(|i| grid.variables[i] = shared);
        for (var, &at) in module.vars.iter().zip(&grid.variables).filter(|(v, _)| v.space != Space::Shared) {
            grid.memory.push(MemoryRegion::new(
                at,
                initial_variable_bytes(var, &grid.variables)?,
                var.space != Space::Const,
            ));
        }
        Ok((grid, shared as usize + launch.dynamic_shared as usize))
    }
}

/// Runs a kernel; the buffers have their final contents afterwards.
///
/// # Errors
/// The program does something that has no defined result, or that the oracle does not know.
pub fn run_kernel(
    module: &Module,
    kernel: &str,
    launch: &OracleLaunch,
    buffers: &mut [OracleBuffer],
) -> Result<OracleReport, OracleError> {
    let plain = |message: String| OracleError { message, statement: String::new() };
    let (id, _) = module.find_kernel(kernel).ok_or_else(|| plain(format!("there is no kernel {kernel}")))?;
    let (mut grid, shared) = GridState::new(module, launch, buffers).map_err(plain)?;
    let mut report = OracleReport::default();
    let [gx, gy, gz] = launch.grid;
    for number in 0..gx * gy * gz {
        let ctaid = [number % gx, number / gx % gy, number / gx / gy];
        let shared = MemoryRegion::new_uninitialised(0, shared);
        let mut block =
            SimBlock { grid: &mut grid, ctaid, number, epoch: 0, shared, arrivals: [0; 16], mbarriers: HashMap::new() };
        run_block(module, id.index(), launch, &mut block, &mut report)?;
    }
    for (buffer, region) in buffers.iter_mut().zip(&grid.memory) {
        buffer.bytes.clone_from(&region.bytes);
    }
    report.unspecified = grid.unspecified.get();
    Ok(report)
}

fn run_block(
    module: &Module,
    kernel: usize,
    launch: &OracleLaunch,
    block: &mut SimBlock<'_>,
    report: &mut OracleReport,
) -> Result<(), OracleError> {
    let [x, y, z] = launch.block;
    let plain = |message: String| OracleError { message, statement: String::new() };
    let n = x * y * z;
    let thread = |i: u32| {
        let tid = [i % x, i / x % y, i / x / y];
        SimThread::new(module, kernel, launch, i, tid, block.number * n + i)
    };
    let threads: Result<Vec<SimThread<'_>>, String> = (0..n).map(thread).collect();
    let mut threads = threads.map_err(plain)?;
    loop {
        for thread in &mut threads {
            while thread.state == ThreadState::Ready {
                thread.execute_next(block).map_err(|e| error_at_thread(module, thread, e))?;
                report.steps += 1;
                if report.steps > MAX_EXECUTED_STATEMENTS {
                    return Err(error_at_thread(module, thread, "the program does not end".into()));
                }
            }
        }
        if threads.iter().all(|t| t.state == ThreadState::Done) {
            report.read_unwritten |= threads.iter().any(|t| t.read_unwritten.get());
            return Ok(());
        }
        let mut progress = wake_mbarrier_waiters(&mut threads, block).map_err(plain)?;
        for warp in threads.chunks_mut(32) {
            progress |= warp::resolve_warp_ops(warp, block).map_err(|e| error_at_thread(module, &warp[0], e))?;
        }
        if !progress {
            for warp in threads.chunks_mut(32) {
                progress |= warp::resolve_activemask(warp).map_err(plain)?;
            }
        }
        if !progress && !resolve_barriers(&mut threads, block).map_err(plain)? {
            let waiting = threads.iter().find(|t| t.state != ThreadState::Done);
            return Err(waiting.map_or(plain(String::new()), |t| error_at_thread(module, t, "nobody can go on".into())));
        }
    }
}

/// Lets the threads go on whose phases of an `mbarrier` have ended.
fn wake_mbarrier_waiters(threads: &mut [SimThread<'_>], block: &mut SimBlock<'_>) -> Result<bool, String> {
    let mut progress = false;
    for thread in threads.iter_mut().filter(|t| t.state == ThreadState::Mbarrier) {
        // It tests again, and waits again if need be.
        thread.state = ThreadState::Ready;
        thread.execute_next(block)?;
        progress |= thread.state != ThreadState::Mbarrier;
    }
    Ok(progress)
}

/// The error with the statement that a thread stands at.
fn error_at_thread(module: &Module, thread: &SimThread<'_>, message: String) -> OracleError {
    let statement = thread.current_statement().ok().flatten();
    let text = statement.and_then(|s| module.source.get(s.span.start as usize..s.span.end as usize));
    OracleError { message, statement: text.unwrap_or("").to_owned() }
}

/// Completes the barriers that all their threads have reached.
fn resolve_barriers(threads: &mut [SimThread<'_>], block: &mut SimBlock<'_>) -> Result<bool, String> {
    let live = threads.iter().filter(|t| t.state != ThreadState::Done).count();
    let mut progress = false;
    for id in 0..16 {
        let waits = |t: &SimThread<'_>| matches!(t.state, ThreadState::Barrier(i, _) if i == id);
        let here: Vec<usize> = (0..threads.len()).filter(|&i| waits(&threads[i])).collect();
        let Some(&first) = here.first() else { continue };
        let ThreadState::Barrier(_, count) = threads[first].state else { continue };
        let wanted = count.map_or(live, |c| c as usize);
        if here.len() + block.arrivals[id as usize] as usize != wanted {
            continue;
        }
        block.arrivals[id as usize] = 0;
        complete_barrier(threads, block, &here)?;
        // Those that have arrived may have ended since.
        block.epoch += u32::from(wanted == live || wanted == threads.len());
        progress = true;
    }
    Ok(progress)
}

/// Lets the threads `here` go on, with the reduction of their predicates if one is requested.
fn complete_barrier(threads: &mut [SimThread<'_>], block: &SimBlock<'_>, here: &[usize]) -> Result<(), String> {
    let mut truths = vec![];
    for &i in here {
        let Some(Statement { inst: Inst::Bar { kind, .. }, .. }) = threads[i].current_statement()? else { continue };
        if let BarKind::RedPopc { pred, negated, .. } | BarKind::RedBool { pred, negated, .. } = kind {
            truths.push(threads[i].read_predicate(block, &PredSrc::Reg { reg: *pred, negated: *negated })?);
        }
    }
    for &i in here {
        if let Some(Statement { inst: Inst::Bar { kind, .. }, .. }) = threads[i].current_statement()? {
            match kind {
                BarKind::RedPopc { dst, .. } => {
                    threads[i].write_register(*dst, truths.iter().filter(|&&t| t).count() as u128)?;
                }
                BarKind::RedBool { op, dst, .. } => {
                    let all = truths.iter().all(|&t| t);
                    let any = truths.iter().any(|&t| t);
                    threads[i].write_register(*dst, if *op == BoolOp::And { all } else { any }.into())?;
                }
                BarKind::Sync | BarKind::Arrive => {}
            }
        }
        threads[i].state = ThreadState::Ready;
        threads[i].advance_to_next_statement()?;
    }
    Ok(())
}
