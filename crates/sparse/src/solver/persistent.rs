//! One persistent kernel for all iterations: the kernels of an iteration one after the other, with grid barriers
//! between.
//!
//! The sources are those of the kernels themselves, each in a namespace, as functions that take the block index. A
//! block of the grid does the work of every n-th block of theirs, so that sums are added in the same order, and results
//! have the same bits, whatever the size of the grid. Arguments keep their packed layout: a structure whose members are
//! a kernel's parameters has the same layout.
//!
//! All blocks of the grid must be resident at once, which a cooperative launch guarantees. If there are few blocks they
//! form one cluster, if the device supports clusters: its barrier takes a fraction of the time of one in memory.

use crate::kernels::THREADS;
use rtcg_array::{GpuArray, Order, array_args};
use rtcg_codegen::dialect::CUDA_PRELUDE;
use rtcg_hal::{ArrayContext, ArrayError, DType, Kernel, KernelSpec, Launch, LaunchArgs, LaunchableGraph, Result};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Bytes of arguments that every device takes.
const MAX_ARGUMENT_BYTES: usize = 4096;

/// Iterations of a launch. The host looks at interrupts between launches.
const MAX_ITERATIONS: u32 = 1 << 14;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PersistentSpec {
    source: Arc<str>,
}

impl KernelSpec for PersistentSpec {
    fn kernel_name(&self) -> Cow<'static, str> {
        "solver_persistent".into()
    }

    fn source(&self) -> String {
        self.source.to_string()
    }
}

/// The launch of all iterations.
pub(super) struct PersistentLaunch {
    ctx: Arc<ArrayContext>,
    kernel: Arc<dyn Kernel>,
    blocks: u32,
    is_cluster: bool,
    args: LaunchArgs,
    /// What blocks wait at: how many have come, and how often all have.
    _barrier: GpuArray,
}

fn unsupported(message: &str) -> ArrayError {
    ArrayError::value_error(format!("mode: 'persistent' {message}; expected 'auto', 'graph' or 'stream'"))
}

/// Why there is no such kernel of `kernels` on a device, `kernels` being those of an iteration.
pub(super) fn obstacle(ctx: &ArrayContext, kernels: Option<&[&Launch]>) -> Option<String> {
    let Some(kernels) = kernels else {
        return Some("needs matrices in formats of this package, not functions".to_owned());
    };
    if ctx.device().cooperative().is_none() {
        return Some("needs cooperative launches, which the device does not have".to_owned());
    }
    if !kernels.iter().all(|kernel| kernel.block == [THREADS, 1, 1] && kernel.shared_bytes == 0) {
        return Some("cannot have a format whose blocks are larger than its own".to_owned());
    }
    let nbytes = argument_bytes(kernels);
    (nbytes > MAX_ARGUMENT_BYTES).then(|| {
        let count = kernels.len();
        format!(
            "has {nbytes} bytes of arguments for the {count} kernels of an iteration, of which {MAX_ARGUMENT_BYTES} fit"
        )
    })
}

fn argument_bytes(kernels: &[&Launch]) -> usize {
    // The barrier, the stop flag, iterations; each structure begins at a multiple of its largest member's size.
    24 + kernels.iter().map(|kernel| kernel.args.packed_bytes().len().next_multiple_of(16)).sum::<usize>()
}

impl PersistentLaunch {
    /// Of the kernels of an iteration, which ends iterations by what it writes to `stop`.
    pub(super) fn new(ctx: &Arc<ArrayContext>, kernels: Option<&[&Launch]>, stop: u64) -> Result<Self> {
        if let Some(obstacle) = obstacle(ctx, kernels) {
            return Err(unsupported(&obstacle));
        }
        let (Some(kernels), Some(cooperative)) = (kernels, ctx.device().cooperative()) else {
            return Err(unsupported("is not possible"));
        };
        let is_cluster = fits_cluster(ctx, kernels);
        let source = compose(kernels, if is_cluster { CLUSTER_BARRIER } else { GRID_BARRIER })?.into();
        let kernel = ctx.compiled_kernel(&PersistentSpec { source })?;
        let resident = match is_cluster {
            true => cooperative.cluster_blocks(),
            false => kernel.resident_blocks(THREADS, 0)?,
        };
        // On a SIMD CPU a block that waits for others costs switches of stacks; few have enough to do.
        let device_info = ctx.device_info();
        let most = if device_info.is_simd_cpu() { SIMD_CPU_BLOCKS } else { device_info.resident_blocks() as u32 };
        let blocks = widest(kernels).min(resident).min(most).max(1);
        let barrier = GpuArray::zeros(ctx, &[2 * BARRIER_STRIDE], DType::U32, Order::C)?;
        let mut args = array_args(&[&barrier])?;
        args.push_u64(stop);
        args.push_u32(MAX_ITERATIONS);
        for kernel in kernels {
            args.push(kernel.args.packed_bytes(), 8);
        }
        Ok(Self { ctx: ctx.clone(), kernel, blocks, is_cluster, args, _barrier: barrier })
    }
}

fn widest(kernels: &[&Launch]) -> u32 {
    kernels.iter().map(|kernel| kernel.grid[0]).max().unwrap_or(1)
}

/// Whether the kernels have no more blocks than a cluster.
pub(super) fn fits_cluster(ctx: &ArrayContext, kernels: &[&Launch]) -> bool {
    let most = ctx.device().cooperative().map_or(0, |cooperative| cooperative.cluster_blocks());
    widest(kernels) <= most
}

impl LaunchableGraph for PersistentLaunch {
    fn launch(&self) -> Result<()> {
        let Some(cooperative) = self.ctx.device().cooperative() else {
            return Err(unsupported("needs cooperative launches"));
        };
        cooperative.launch(&*self.kernel, [self.blocks, 1, 1], [THREADS, 1, 1], 0, self.is_cluster, self.args.view())
    }
}

/// Blocks on a SIMD CPU.
const SIMD_CPU_BLOCKS: u32 = 2;

/// Words between the barrier's counter and its flag, so that they are on different cache lines.
const BARRIER_STRIDE: usize = 32;

/// The source of the kernel of kernels.
fn compose(kernels: &[&Launch], barrier: &str) -> Result<String> {
    let words = ["RT_KERNEL", "RT_GROUP_ID", "RT_GROUP_COUNT"];
    let is_kept = |line: &&str| !words.iter().any(|word| line.starts_with(&format!("#define {word} ")));
    let mut text: String = CUDA_PRELUDE.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect();
    text.push_str(&barrier.replace("STRIDE", &BARRIER_STRIDE.to_string()));
    let (mut known, mut parameters, mut body): (Vec<String>, _, _) = (Vec::new(), String::new(), String::new());
    for (k, kernel) in kernels.iter().enumerate() {
        let Some((name, source)) = kernel.text() else { return Err(unsupported("cannot have a recorded kernel")) };
        let number = known.iter().position(|other| *other == source).unwrap_or(known.len());
        let found = split_kernel(&name, &source);
        let Some(parts) = found else {
            return Err(unsupported(&format!("cannot have the kernel {name}")));
        };
        if number == known.len() {
            parts.print(number, &mut text);
            known.push(source.clone());
        }
        let _ = write!(parameters, ", const phase_{number}::Arguments a{k}");
        let _ = writeln!(
            body,
            "    for (unsigned group = blockIdx.x; group < {blocks}u; group += gridDim.x) {{\n      \
             if (group >= gridDim.x) RT_BARRIER();\n      phase_{number}::{name}(group, {blocks}u{arguments});\n    }}\n    \
             grid_barrier(barrier);",
            blocks = kernel.grid[0],
            arguments = parts.names.iter().map(|name| format!(", a{k}.{name}")).collect::<String>(),
        );
    }
    let _ = write!(
        text,
        "extern \"C\" __global__ void __launch_bounds__({THREADS}) solver_persistent(unsigned *barrier, \
         const volatile double *stop, unsigned iterations{parameters})\n{{\n  \
         for (unsigned k = 0; k < iterations && *stop == 0; k++) {{\n{body}  }}\n}}\n"
    );
    Ok(text)
}

/// A kernel's source in parts.
struct KernelParts<'a> {
    /// Before the kernel.
    head: &'a str,
    name: &'a str,
    parameters: &'a str,
    /// What follows its parameters.
    rest: &'a str,
    /// Names of parameters.
    names: Vec<&'a str>,
}

fn split_kernel<'a>(name: &'a str, source: &'a str) -> Option<KernelParts<'a>> {
    let source = source.strip_prefix(CUDA_PRELUDE)?;
    let (head, rest) = source.split_once(&format!("RT_KERNEL {name}("))?;
    let (parameters, rest) = rest.split_once(')')?;
    let names = parameters.split(", ").filter_map(|parameter| parameter.rsplit([' ', '*']).next()).collect();
    Some(KernelParts { head, name, parameters, rest, names })
}

impl KernelParts<'_> {
    /// The kernel as a function of a namespace, which leaves no macros behind.
    fn print(&self, number: usize, text: &mut String) {
        let Self { head, name, parameters, rest, .. } = self;
        let _ = write!(
            text,
            "namespace phase_{number} {{\n{head}struct Arguments {{ {}; }};\n\
             RT_FUNCTION void {name}(const unsigned RT_GROUP_ID, const unsigned RT_GROUP_COUNT, {parameters}){rest}}}\n",
            parameters.replace(", ", "; ")
        );
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for line in head.lines().filter_map(|line| line.strip_prefix("#define ")) {
            let _ = writeln!(text, "#undef {}", line.split(|c| !is_name(c)).next().unwrap_or_default());
        }
    }
}

/// What a block has written is seen by all blocks behind the barrier.
const GRID_BARRIER: &str = "\
RT_FUNCTION void grid_barrier(unsigned *words)
{
  RT_BARRIER();
  if (gridDim.x == 1) return;
  if (threadIdx.x == 0) {
    volatile unsigned *const count = words, *const turn = words + STRIDE;
    const unsigned before = *turn;
    asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");
    if (atomicAdd(words, 1u) == gridDim.x - 1) {
      *count = 0;
      asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");
      atomicAdd(words + STRIDE, 1u);
    } else {
      while (*turn == before) { }
    }
    asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\");
  }
  RT_BARRIER();
}
";

const CLUSTER_BARRIER: &str = "\
RT_FUNCTION void grid_barrier(unsigned *)
{
  __syncwarp();
  asm volatile(\"barrier.cluster.arrive.release.aligned;\\n\\tbarrier.cluster.wait.acquire.aligned;\" ::: \"memory\");
}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_becomes_a_function_with_its_arguments_in_a_structure() {
        let source = format!(
            "{CUDA_PRELUDE}typedef double T;\n#define START(x) x\nRT_KERNEL f(RT_GLOBAL T *y, RT_GLOBAL const T *x, \
             unsigned long long n)\n{{\n  y[0] = START(x[0]);\n}}\n"
        );
        let parts = split_kernel("f", &source).unwrap();
        assert_eq!(parts.names, ["y", "x", "n"]);
        let mut text = String::new();
        parts.print(3, &mut text);
        assert!(
            text.contains("struct Arguments { RT_GLOBAL T *y; RT_GLOBAL const T *x; unsigned long long n; };"),
            "{text}"
        );
        assert!(
            text.contains(
                "RT_FUNCTION void f(const unsigned RT_GROUP_ID, const unsigned RT_GROUP_COUNT, RT_GLOBAL T *y"
            )
        );
        assert!(text.ends_with("}\n#undef START\n"), "{text}");
        assert!(split_kernel("g", &source).is_none());
    }
}
