//! Panels of columns for blocked factorisations, and the kernels that factorise them.

use super::launch::LinalgKernel;
use crate::array::GpuArray;
use rtcg_codegen::array::{LINALG_THREADS, LinalgSpec, LinalgStep};
use rtcg_hal::{DeviceInfo, Result, tunable};

/// Bytes of a register panel that a thread holds, bytes of a row of one, and columns, at most.
const PANEL_REGISTER_BYTES: i64 = 256;
const MAX_PANEL_ROW_BYTES: i64 = 128;
const MAX_PANEL_WIDTH: i64 = 16;
/// Most threads of a block that factors a register panel.
const REGISTER_PANEL_THREADS: i64 = 512;
/// Blocks of a cluster, and rows from which on one has a panel.
const CLUSTER_BLOCKS: i64 = 8;
const MIN_CLUSTER_ROWS: i64 = 512;
/// Columns that a block applies reflectors to at a time.
pub(super) const REFLECTED_COLUMNS: usize = 32;

tunable! {
    /// The panel width for factorising matrices and solving triangular systems.
    pub(crate) PanelWidth = "linalg.panel";
    /// Matrices to factorise, or triangles with right-hand sides.
    problem PanelWidthProblem {
        /// `lu`, `cholesky`, `qr` or `triangular`.
        operation: &'static str = Exact,
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        m: i64 = PowerOfTwo,
        /// Number of columns, or of right-hand sides.
        n: i64 = PowerOfTwo,
    }
    parameters {
        /// Columns per panel, or rows per block of a triangle.
        width: i64 = [16, 32, 48, 64, 96, 128],
    }
    device {}
    require {
        operation == "qr" || 32 * ((width + 31) / 32 * 32 + 1) * itemsize + 20 * width <= 49152;
        operation != "cholesky" || width * (width + 1) * itemsize <= 49152;
    }
    rule panel_width_rule;
}

fn panel_width_rule(problem: &PanelWidthProblem, _: &DeviceInfo) -> PanelWidth {
    let width = match problem.operation {
        "qr" => 32,
        "cholesky" if problem.itemsize > 8 => 32,
        _ => 64,
    };
    PanelWidth { width }
}

/// How wide the panels of an operation on matrices `a` with `n` columns or right sides are.
pub(super) fn panel_width(a: &GpuArray, operation: &'static str, n: usize) -> usize {
    let [itemsize, batches, m, n] = [a.itemsize(), a.shape()[0], a.shape()[1], n].map(|number| number as i64);
    a.context().choose::<PanelWidth>(&PanelWidthProblem { operation, itemsize, batches, m, n }).width as usize
}

tunable! {
    /// The kernel that factorises panels.
    pub(crate) PanelKernel = "linalg.panel_kernel";
    /// Panels of `m` rows.
    problem PanelKernelProblem {
        /// `lu` or `qr`.
        operation: &'static str = Exact,
        /// Bytes per element.
        itemsize: i64 = Exact,
        /// Number of matrices.
        batches: i64 = PowerOfTwo,
        /// Number of rows.
        m: i64 = PowerOfTwo,
    }
    parameters {
        /// Whether blocks factorise strips of panels in registers, rather than whole panels in memory.
        registers: bool = [false, true],
        /// Maximum threads per block; for whole panels the exact number.
        threads: i64 = [32, 64, 128, 256, 512],
        /// Columns per strip.
        width: i64 = [1, 2, 4, 8, 16, 32],
        /// Blocks that share the rows of a strip, as a cluster if there are several.
        blocks: i64 = [1, 2, 4, 8],
    }
    device { compute_capability }
    require {
        blocks == 1 || registers && compute_capability >= 90 && width * itemsize >= 8;
    }
    rule panel_kernel_rule;
    also check_registers;
}

/// A SIMD CPU has few registers.
fn panel_kernel_rule(problem: &PanelKernelProblem, device_info: &DeviceInfo) -> PanelKernel {
    let PanelKernelProblem { operation, itemsize, batches, m } = *problem;
    let multiprocessors = i64::from(device_info.multiprocessors);
    let has_clusters = device_info.compute_capability >= 90 && batches * CLUSTER_BLOCKS <= multiprocessors;
    let is_shared = has_clusters && m >= MIN_CLUSTER_ROWS;
    let (blocks, scale) = if is_shared { (CLUSTER_BLOCKS, 2) } else { (1, 1) };
    // Beside the panel, threads have sums of products with its columns in QR.
    let most = if is_shared && operation == "qr" { REGISTER_PANEL_THREADS / 2 } else { REGISTER_PANEL_THREADS };
    let rows = rows_per_thread(m, most, blocks);
    let row_bytes = (PANEL_REGISTER_BYTES / rows).min(scale * MAX_PANEL_ROW_BYTES);
    let width = (row_bytes / itemsize).min(scale * MAX_PANEL_WIDTH);
    // Messages of clusters have words of 8 bytes.
    if width > 0 && (blocks == 1 || width * itemsize >= 8) && !device_info.is_simd_cpu() {
        return PanelKernel { registers: true, threads: most, width, blocks };
    }
    let threads = match operation {
        "lu" => LINALG_THREADS.into(),
        _ => (REFLECTED_COLUMNS * threads_per_column(m as usize, device_info)) as i64,
    };
    PanelKernel { registers: false, threads, width: 1, blocks: 1 }
}

/// Rows of a register panel of `m` rows that a thread has.
fn rows_per_thread(m: i64, most: i64, blocks: i64) -> i64 {
    let threads = (block_threads(m, most, blocks) * blocks).cast_unsigned();
    m.max(1).cast_unsigned().div_ceil(threads).next_power_of_two().cast_signed()
}

/// Threads of each of the blocks that have a register panel of `m` rows.
fn block_threads(m: i64, most: i64, blocks: i64) -> i64 {
    m.max(1).cast_unsigned().div_ceil(blocks.cast_unsigned()).next_power_of_two().cast_signed().clamp(32, most)
}

fn check_registers(choice: &PanelKernel, problem: &PanelKernelProblem, _: &DeviceInfo) -> Option<&'static str> {
    let bytes = rows_per_thread(problem.m, choice.threads, choice.blocks) * choice.width * problem.itemsize;
    (choice.registers && bytes > 2 * PANEL_REGISTER_BYTES).then_some("a thread holds at most 512 bytes of a panel")
}

/// The threads that have the rows of a column which is reflected in memory: several, unless a warp runs as vectors of a
/// CPU.
pub(super) fn threads_per_column(m: usize, device_info: &DeviceInfo) -> usize {
    let most = if device_info.is_simd_cpu() { 1 } else { LINALG_THREADS as usize / REFLECTED_COLUMNS };
    m.div_ceil(16).next_power_of_two().min(most)
}

/// How panels are divided into register panels.
#[derive(Debug, Clone, Copy)]
pub(super) struct RegisterPanels {
    /// Threads of a block.
    pub threads: usize,
    /// Rows of a thread.
    rows: u16,
    pub width: usize,
    /// Blocks of the cluster that has one.
    pub blocks: usize,
    max_threads: u16,
}

impl PanelKernel {
    /// For panels of `a` that have `m` rows.
    pub(super) fn of_rows(a: &GpuArray, operation: &'static str, m: usize) -> Self {
        let [itemsize, batches, m] = [a.itemsize(), a.shape()[0], m].map(|number| number as i64);
        a.context().choose(&PanelKernelProblem { operation, itemsize, batches, m })
    }

    /// The register panels of panels of `m` rows, if there are such.
    pub(super) fn register_panels(self, m: usize) -> Option<RegisterPanels> {
        let threads = block_threads(m as i64, self.threads, self.blocks) as usize;
        let rows = rows_per_thread(m as i64, self.threads, self.blocks) as u16;
        let (width, blocks) = (self.width as usize, self.blocks as usize);
        let panels = RegisterPanels { threads, rows, width, blocks, max_threads: self.threads as u16 };
        self.registers.then_some(panels)
    }
}

impl RegisterPanels {
    /// The kernel that does a step for register panels.
    pub(super) fn panel_step_kernel(self, a: &GpuArray, step: LinalgStep) -> Result<LinalgKernel> {
        let (width, cluster, threads) = (self.width as u16, self.blocks as u16, self.max_threads);
        LinalgKernel::compile_kernel(
            a.context(),
            LinalgSpec { group: self.rows, width, cluster, threads, ..LinalgSpec::new(a.dtype(), step) },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtcg_hal::ExecutionModel;

    const GPU: DeviceInfo = DeviceInfo {
        multiprocessors: 132,
        max_blocks: 4096,
        execution: ExecutionModel::Simt,
        vector_bytes: 16,
        bulk_copy_smem_bytes: 0,
        shared_bytes: 160 << 10,
        compute_capability: 90,
    };

    #[test]
    fn the_rule_fills_the_registers_of_threads() {
        let rule = |operation, itemsize, m, device: &DeviceInfo| {
            let kernel = panel_kernel_rule(&PanelKernelProblem { operation, itemsize, batches: 1, m }, device);
            let rows = rows_per_thread(m, kernel.threads, kernel.blocks);
            (kernel.registers, kernel.threads, kernel.width, kernel.blocks, rows)
        };
        let older = DeviceInfo { compute_capability: 80, ..GPU };
        assert_eq!(rule("lu", 4, 100, &GPU), (true, 512, 16, 1, 1));
        assert_eq!(rule("lu", 8, 1500, &older), (true, 512, 8, 1, 4));
        assert_eq!(rule("qr", 16, 8192, &older), (true, 512, 1, 1, 16));
        // Clusters have eight times as many registers.
        assert_eq!(rule("lu", 8, 4096, &GPU), (true, 512, 32, 8, 1));
        assert_eq!(rule("qr", 16, 8192, &GPU), (true, 256, 4, 8, 4));
        // Not one element of each row fits.
        assert_eq!(rule("qr", 16, 8193, &older), (false, 256, 1, 1, 64));
        assert_eq!(rule("lu", 16, 65537, &GPU), (false, 256, 1, 1, 512));
        let cpu = DeviceInfo { execution: ExecutionModel::SimdCpu, vector_bytes: 1, ..GPU };
        assert_eq!(rule("lu", 4, 100, &cpu), (false, 256, 1, 1, 1));
        assert_eq!(rule("qr", 4, 100, &cpu), (false, 32, 1, 1, 4));
    }
}
