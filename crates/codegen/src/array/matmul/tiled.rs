//! Matrix products by tiles that are copied to shared memory while earlier ones are multiplied, by threads or by tensor
//! cores. For devices of compute capability 8.0 and later.
//!
//! Parameters: the result (contiguous), `a`, `b`, then `m`, `n`, `k`, the byte strides of `a` (row, column) and `b`,
//! the bytes between the matrices of `a` and of `b`, and for each batch the byte offsets of both matrices instead, or
//! null. The grid has one block per tile along x, and one row of blocks per batch along y.
//!
//! The register tiles of threads follow V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra",
//! 2008; the ring of tiles and the order of blocks follow NVIDIA's CUTLASS.

use super::super::c_types::helper_preamble;
use super::MATMUL_KERNEL_NAME;
use super::epilogue::{MatmulEpilogue, MatmulKernel, finish_source};
use rtcg_hal::{DType, KernelSpec};
use std::borrow::Cow;
use std::fmt::Write;

/// Bytes that a copy to shared memory has at most.
const VECTOR_COPY_BYTES: usize = 16;
/// A line of a stage for tensor cores that multiply 16-bit floats or bytes.
const LINE_BYTES: usize = 128;
/// Boxes of 64 x 64 elements by which a warpgroup stores results in turn.
const BOXES: usize = 2;

/// The unit that multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatmulUnit {
    /// Threads, which compute several rows and columns each: float32, complex64, integers of 32 and 64 bits, and other
    /// types that tensor cores do not support.
    Simt,
    /// Warps by `mma` of 16-bit floats.
    Mma16,
    /// Warpgroups by `wgmma` of 16-bit floats, only on compute capability 9.0.
    Wgmma,
    /// The same, but another warpgroup copies boxes that tensor maps describe, and blocks take one tile after the other.
    WgmmaBoxes,
    /// Warps by `mma` of doubles, whose fragments have 8 rows and 4 columns, or 16 rows and up to 16 columns on compute
    /// capability 9.0 and later.
    Dmma {
        /// Rows of a fragment.
        rows: u8,
        /// Columns of a fragment of the first operand.
        depth: u8,
    },
}

/// The tile that a block computes, and how it does so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatmulTile {
    /// The unit that multiplies.
    pub unit: MatmulUnit,
    /// Warps (or warpgroups) per block along rows and columns.
    pub warps: [u8; 2],
    /// Rows and columns of the result per thread, warp, or warpgroup (64 rows).
    pub part: [u16; 2],
    /// Elements along the common axis that are copied at once.
    pub depth: u8,
    /// Tiles of each operand in shared memory.
    pub stages: u8,
    /// Blocks that should be resident on a multiprocessor at once.
    pub blocks_per_sm: u8,
}

/// The memory layout of an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MatmulOperand {
    /// Whether adjacent elements in memory are adjacent along the common axis.
    pub is_k_contiguous: bool,
    /// Whether they are contiguous, in lines that begin at multiples of 16 bytes.
    pub is_vectorizable: bool,
}

/// A kernel, described by everything that determines its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TiledMatmul {
    /// The dtype of operands and result.
    pub dtype: DType,
    /// Whether the result is the sums of 16-bit floats before rounding.
    pub is_sum: bool,
    /// The tile of a block.
    pub tile: MatmulTile,
    /// The first operand.
    pub a: MatmulOperand,
    /// The second operand.
    pub b: MatmulOperand,
    /// Whether the result, of 16 bits, is stored by boxes that a tensor map describes (by [`MatmulUnit::WgmmaBoxes`] only).
    pub stores_boxes: bool,
}

impl MatmulTile {
    /// Rows and columns of the result that a block computes.
    pub fn tile_extents(&self) -> [usize; 2] {
        let [down, across] = self.unit_grid();
        [down * usize::from(self.part[0]), across * usize::from(self.part[1])]
    }

    /// The threads, warps or warpgroups from top to bottom, and from left to right.
    fn unit_grid(&self) -> [usize; 2] {
        let [down, across] = self.warps.map(usize::from);
        // The lanes of a warp are four down and eight across.
        if self.unit == MatmulUnit::Simt { [4 * down, 8 * across] } else { [down, across] }
    }

    /// Threads per block.
    pub fn threads_per_block(&self) -> u32 {
        let warps = u32::from(self.warps[0]) * u32::from(self.warps[1]);
        match self.unit {
            MatmulUnit::Wgmma => 128 * warps,
            MatmulUnit::WgmmaBoxes => 128 * (warps + 1),
            _ => 32 * warps,
        }
    }
}

/// An operand's part of a stage in shared memory.
struct OperandStage {
    /// Items from a line to the next.
    pitch: usize,
    nbytes: usize,
}

impl TiledMatmul {
    /// Shared memory per block in bytes.
    pub fn shared_bytes(&self) -> usize {
        let stages = usize::from(self.tile.stages);
        // Each stage has two barriers.
        let barriers = if self.tile.unit == MatmulUnit::WgmmaBoxes { 16 * stages } else { 0 };
        self.operand_stages().iter().map(|part| part.nbytes).sum::<usize>() * stages + self.store_bytes() + barriers
    }

    /// Shared memory of the boxes by which results are stored.
    fn store_bytes(&self) -> usize {
        if self.stores_boxes { usize::from(self.tile.warps[0]) * BOXES * 64 * LINE_BYTES } else { 0 }
    }

    fn operand_stages(&self) -> [OperandStage; 2] {
        let [rows, columns] = self.tile.tile_extents();
        [self.operand_stage(self.a, rows), self.operand_stage(self.b, columns)]
    }

    fn operand_stage(&self, operand: MatmulOperand, extent: usize) -> OperandStage {
        let (item, depth) = (self.dtype.itemsize(), usize::from(self.tile.depth));
        let (lines, pitch) = match self.tile.unit {
            MatmulUnit::Simt => (depth, extent + VECTOR_COPY_BYTES / item),
            MatmulUnit::Mma16 | MatmulUnit::Wgmma | MatmulUnit::WgmmaBoxes => (extent, LINE_BYTES / item),
            MatmulUnit::Dmma { .. } if operand.is_k_contiguous => (extent, depth + 4),
            MatmulUnit::Dmma { .. } => (depth, extent + if item == VECTOR_COPY_BYTES { 2 } else { 4 }),
        };
        OperandStage { pitch, nbytes: lines * pitch * item }
    }

    /// The bytes that a thread copies at once.
    fn bytes_per_copy(&self, operand: MatmulOperand) -> usize {
        // Threads read lines across `k`, so that lines along it are transposed element by element.
        let transposes = self.tile.unit == MatmulUnit::Simt && operand.is_k_contiguous;
        if operand.is_vectorizable && !transposes { VECTOR_COPY_BYTES } else { self.dtype.itemsize() }
    }

    fn constant_definitions(&self) -> String {
        let Self { tile, a, b, .. } = *self;
        let ([rows, columns], [first, second]) = (tile.tile_extents(), self.operand_stages());
        let numbers = [
            ("THREADS", tile.threads_per_block() as usize),
            ("BLOCKS_PER_SM", tile.blocks_per_sm.into()),
            ("WARPS_N", tile.warps[1].into()),
            ("ROWS", tile.part[0].into()),
            ("COLUMNS", tile.part[1].into()),
            ("TILE_ROWS", rows),
            ("TILE_COLUMNS", columns),
            ("DEPTH", tile.depth.into()),
            ("STAGES", tile.stages.into()),
            ("PITCH_A", first.pitch),
            ("PITCH_B", second.pitch),
            ("BYTES_A", first.nbytes),
            ("STAGE_BYTES", first.nbytes + second.nbytes),
            ("A_CHUNK", self.bytes_per_copy(a)),
            ("B_CHUNK", self.bytes_per_copy(b)),
        ];
        let mut text =
            format!("constexpr bool A_K_CONTIGUOUS = {}, B_K_CONTIGUOUS = {};\n", a.is_k_contiguous, b.is_k_contiguous);
        for (name, number) in numbers {
            let _ = writeln!(text, "constexpr int {name} = {number};");
        }
        if let MatmulUnit::Dmma { rows, depth } = tile.unit {
            let _ = writeln!(text, "constexpr int FRAGMENT_ROWS = {rows}, FRAGMENT_K = {depth};");
        }
        text
    }

    /// The C type of an element: complex numbers are pairs, integers have no sign, so that they wrap.
    fn element_type(&self) -> &'static str {
        match self.dtype {
            DType::U8 => "unsigned char",
            DType::F16 => "rt_half",
            DType::BF16 => "rt_bfloat",
            DType::F32 => "float",
            DType::F64 => "double",
            DType::C64 => "float2",
            DType::C128 => "double2",
            other if other.itemsize() == 8 => "unsigned long long",
            _ => "unsigned int",
        }
    }
}

impl KernelSpec for TiledMatmul {
    fn kernel_name(&self) -> Cow<'static, str> {
        MATMUL_KERNEL_NAME.into()
    }

    fn source(&self) -> String {
        self.source_with(None)
    }
}

impl MatmulKernel for TiledMatmul {
    fn source_with(&self, epilogue: Option<&MatmulEpilogue>) -> String {
        let is_half = self.is_half();
        let result = if self.is_sum { "float" } else { self.element_type() };
        let store = if is_half { "rt_cast<O>(sum)" } else { "sum" };
        let finish = finish_source(epilogue, self.dtype, self.element_type(), (result, store, is_half));
        self.source_after(finish, false)
    }
}

/// For each row of `a`, the column `j` with the least `bias[j] - 2 * sum`, and the first of equal ones, instead of the
/// product: with squared lengths of columns as `bias`, the nearest column. Of float32 and 16-bit floats.
///
/// Parameters: those of [`TiledMatmul`], whose result is a key (uint64) for each row, in the lower half the column, which
/// must begin with all bits set, and `bias` (float32). The grid is that of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArgminMatmul(pub TiledMatmul);

impl KernelSpec for ArgminMatmul {
    fn kernel_name(&self) -> Cow<'static, str> {
        MATMUL_KERNEL_NAME.into()
    }

    fn source(&self) -> String {
        let helpers = if self.0.is_half() { helper_preamble([self.0.dtype].into_iter(), false) } else { String::new() };
        let finish = format!(
            "{helpers}typedef unsigned long long O;\n#define RT_INFINITY __int_as_float(0x7f800000)\n\
             #define RT_EPILOGUE_PARAMETER , const float *bias\n#define RT_EPILOGUE_ARGUMENT , bias\n\
             #define RT_OUT_ROW n\n\
             #define RT_FINISH(sum, i, j, batch) fmaf(-2.0f, sum, bias[j])\n"
        );
        self.0.source_after(finish, true)
    }
}

impl TiledMatmul {
    fn is_half(&self) -> bool {
        matches!(self.dtype, DType::F16 | DType::BF16)
    }

    /// The kernel after the definitions of what it does with sums.
    fn source_after(&self, mut text: String, is_argmin: bool) -> String {
        let is_half = self.is_half();
        let _ = writeln!(text, "typedef {} E;", self.element_type());
        text.push_str(&self.constant_definitions());
        text.push_str(&select_argmin(include_str!("pipeline.cuh"), is_argmin));
        if is_half {
            let format = if self.dtype == DType::F16 { "f16" } else { "bf16" };
            let _ = writeln!(text, "#define FORMAT \"{format}\"");
            text.push_str(&select_argmin(include_str!("half.cuh"), is_argmin));
        }
        match self.tile.unit {
            MatmulUnit::Simt => text.push_str(&select_argmin(include_str!("simt.cuh"), is_argmin)),
            MatmulUnit::Mma16 => text.push_str(&select_argmin(include_str!("half_mma.cuh"), is_argmin)),
            MatmulUnit::Dmma { .. } => text.push_str(&select_argmin(include_str!("double_mma.cuh"), is_argmin)),
            MatmulUnit::Wgmma => {
                text.push_str(&self.wgmma_definitions());
                text.push_str(&select_argmin(include_str!("half_wgmma.cuh"), is_argmin));
            }
            MatmulUnit::WgmmaBoxes => {
                self.push_wgmma(&mut text, &select_argmin(include_str!("wgmma_half.cuh"), is_argmin));
            }
        }
        text
    }
}

/// The source with one of two parts: that between `#ifdef RT_ARGMIN` and `#else`, or that between `#else` and `#endif`.
fn select_argmin(source: &str, is_argmin: bool) -> String {
    let mut is_selected = true;
    let mut text = String::new();
    for line in source.split_inclusive('\n') {
        match line.trim_end() {
            "#ifdef RT_ARGMIN" => is_selected = is_argmin,
            "#else // RT_ARGMIN" => is_selected = !is_argmin,
            "#endif // RT_ARGMIN" => is_selected = true,
            _ if is_selected => text.push_str(line),
            _ => {}
        }
    }
    text
}

impl TiledMatmul {
    /// The kernel by `wgmma` after the definitions of the result, with what it does with sums.
    pub(super) fn push_wgmma_source(&self, text: &mut String, store: &str) {
        let _ = writeln!(text, "typedef {} E;", self.element_type());
        text.push_str(&self.constant_definitions());
        text.push_str(&select_argmin(include_str!("pipeline.cuh"), false));
        self.push_wgmma(text, store);
    }

    fn push_wgmma(&self, text: &mut String, store: &str) {
        text.push_str(&self.wgmma_definitions());
        text.push_str(include_str!("tensor_copies.cuh"));
        text.push_str(store);
        text.push_str(include_str!("wgmma.cuh"));
    }

    /// The kernel that computes what is marked.
    pub(super) fn marked_source(&self) -> String {
        let finish = format!(
            "typedef {} O;\n#define RT_MARKS\n#define RT_IS_WANTED(block) rt_is_wanted(marks, block, n)\n\
             #define RT_EPILOGUE_PARAMETER , const unsigned char *marks\n#define RT_EPILOGUE_ARGUMENT , marks\n\
             #define RT_OUT_ROW n\n#define RT_FINISH(sum, i, j, batch) sum\n",
            self.element_type()
        );
        self.source_after(finish, false)
    }

    /// The operands of `wgmma`, of whose sums a thread has half as many as there are columns, and of the kernel.
    fn wgmma_definitions(&self) -> String {
        let columns = usize::from(self.tile.part[1]);
        let (sum, constraint, instruction) = match self.dtype {
            DType::U8 => ("int", 'r', "k32.s32.u8.u8"),
            DType::F16 => ("float", 'f', "k16.f32.f16.f16"),
            _ => ("float", 'f', "k16.f32.bf16.bf16"),
        };
        let list = |item: &dyn Fn(usize) -> String| (0..columns / 2).map(item).collect::<Vec<_>>().join(", ");
        let names = list(&|i| format!("%{i}"));
        let operands = list(&|i| format!("\"+{constraint}\"(sum[{}][{}])", i / 4, i % 4));
        let [x, y, adds, transpose_x, transpose_y] = [0, 1, 2, 3, 4].map(|i| columns / 2 + i);
        // Lines of bytes lie along the common axis.
        let (scales, transposes) = if self.dtype == DType::U8 {
            (String::new(), "")
        } else {
            (
                format!(", 1, 1, %{transpose_x}, %{transpose_y}"),
                ", \"n\"(A_K_CONTIGUOUS ? 0 : 1), \"n\"(B_K_CONTIGUOUS ? 0 : 1)",
            )
        };
        let maps =
            if self.stores_boxes { ["const __grid_constant__ rt_tensor_map map_out, ", "map_out, "] } else { ["", ""] };
        format!(
            "typedef {sum} rt_sum;\n#define INSTRUCTION \"m64n{columns}{instruction}\"\n#define SUM_NAMES \"{names}\"\n\
             #define SUM_OPERANDS {operands}\n#define INPUTS \"%{x}, %{y}, p{scales}\"\n#define ADDS \"%{adds}\"\n\
             #define TRANSPOSES {transposes}\n#define STORE_BYTES {}\n#define RT_OUT_MAP_PARAMETER {}\n\
             #define RT_OUT_MAP_ARGUMENT {}\n",
            self.store_bytes(),
            maps[0],
            maps[1]
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled_kernel(dtype: DType, unit: MatmulUnit, part: [u16; 2], depth: u8) -> TiledMatmul {
        let tile = MatmulTile { unit, warps: [2, 1], part, depth, stages: 4, blocks_per_sm: 1 };
        let operand = |is_k_contiguous| MatmulOperand { is_k_contiguous, is_vectorizable: true };
        TiledMatmul { dtype, is_sum: false, tile, a: operand(true), b: operand(false), stores_boxes: false }
    }

    #[test]
    fn blocks_and_shared_memory_follow_from_the_tile() {
        let singles = tiled_kernel(DType::F32, MatmulUnit::Simt, [8, 4], 16);
        assert_eq!((singles.tile.tile_extents(), singles.tile.threads_per_block()), ([64, 32], 64));
        assert_eq!(singles.shared_bytes(), 4 * 16 * (68 + 36) * 4);
        // The first operand is transposed, the second is not.
        assert_eq!((singles.bytes_per_copy(singles.a), singles.bytes_per_copy(singles.b)), (4, 16));
        let doubles = tiled_kernel(DType::F64, MatmulUnit::Dmma { rows: 8, depth: 4 }, [32, 32], 16);
        assert_eq!((doubles.tile.tile_extents(), doubles.tile.threads_per_block()), ([64, 32], 64));
        assert_eq!(doubles.shared_bytes(), 4 * (64 * 20 + 16 * 36) * 8);
        let halves = tiled_kernel(DType::BF16, MatmulUnit::WgmmaBoxes, [64, 256], 64);
        assert_eq!((halves.tile.tile_extents(), halves.tile.threads_per_block()), ([128, 256], 384));
        assert_eq!(halves.shared_bytes(), 4 * (128 + 256) * 128 + 4 * 16);
        let stores_boxes = TiledMatmul { stores_boxes: true, ..halves };
        assert_eq!(stores_boxes.shared_bytes(), halves.shared_bytes() + 2 * 2 * 64 * 128);
    }

    #[test]
    fn wgmma_macros_list_every_accumulator() {
        let source = tiled_kernel(DType::F16, MatmulUnit::WgmmaBoxes, [64, 64], 64).source();
        for text in [
            "#define INSTRUCTION \"m64n64k16.f32.f16.f16\"",
            "%30, %31\"",
            "\"+f\"(sum[7][3])\n",
            "#define INPUTS \"%32, %33, p, 1, 1, %35, %36\"",
        ] {
            assert!(source.contains(text), "{text}");
        }
    }

    #[test]
    fn argmin_replaces_what_is_stored() {
        for (dtype, unit, part, depth, lanes) in [
            (DType::F32, MatmulUnit::Simt, [8, 4], 16, 8),
            (DType::F16, MatmulUnit::Mma16, [64, 64], 64, 4),
            (DType::F16, MatmulUnit::Wgmma, [64, 128], 64, 4),
            (DType::F16, MatmulUnit::WgmmaBoxes, [64, 128], 64, 4),
        ] {
            let kernel = tiled_kernel(dtype, unit, part, depth);
            let (plain, argmin) = (kernel.source(), ArgminMatmul(kernel).source());
            let keeps = format!("rt_keep_least<{lanes}>(out + ");
            assert!(argmin.contains(&keeps) && !argmin.contains("O *const to"), "{argmin}");
            assert!(plain.contains("O *const to") && !plain.contains("rt_keep_least"), "{plain}");
            assert!(!argmin.contains("RT_ARGMIN") && !plain.contains("RT_ARGMIN"));
        }
    }
}
