//! Random well-formed programs.
//!
//! A program is one kernel with a few device functions. Its threads share nothing that races: each
//! has its own slot of global, shared and local memory, reads tables that nobody writes, adds to
//! common counters with atomics that commute, and exchanges values through shared memory between
//! barriers. Textures nobody writes; of surfaces each thread writes texels of its own. At its end every
//! thread stores all its registers. Loops are bounded.

mod barriers;
mod bulk_copies;
mod control_flow;
pub mod coverage;
mod generator;
mod hardware_filter;
mod instruction_forms;
mod lane_indices;
mod memory;
mod program_frame;
mod stride_loops;
mod surfaces;
mod tensor;
mod texture_objects;
mod textures;
mod warp_operations;

use crate::interpreter::{OracleBuffer, OracleLaunch, OracleReport};
use crate::random::Random;
use crate::texture::{BoundTextureObject, TextureObject};
use generator::ProgramGenerator;
use std::collections::BTreeSet;
use std::fmt::Write;
pub use texture_objects::MAX_OBJECTS;

/// What a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenerationTarget {
    /// `.target sm_...`, 80 or more; some instructions need 90.
    pub capability: u32,
    /// For a real device: without what `ptxas` is known to get wrong, see `generate/hardware_filter.rs`.
    pub real: bool,
}

/// A piece of a program's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramNode {
    /// A line that may be left out.
    Line(String),
    /// A line that belongs to what is around it.
    Fixed(String),
    /// Lines that may be left out together, or replaced by the lines in them that are not fixed.
    Group(Vec<ProgramNode>),
    /// Lines that belong to what is around them.
    Block(Vec<ProgramNode>),
}

impl ProgramNode {
    fn print_node(&self, out: &mut String) {
        match self {
            ProgramNode::Line(text) | ProgramNode::Fixed(text) => {
                out.push_str(text);
                out.push('\n');
            }
            ProgramNode::Group(nodes) | ProgramNode::Block(nodes) => nodes.iter().for_each(|n| n.print_node(out)),
        }
    }
}

/// A program with its launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestProgram {
    /// What it was made from.
    pub seed: u64,
    /// Its text.
    pub nodes: Vec<ProgramNode>,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Scalar parameters.
    pub uniform: (u32, u32, u64),
    /// Texture and surface objects, whose handles are the last parameters.
    pub objects: Vec<TextureObject>,
}

/// The name of the kernel.
pub const KERNEL_NAME: &str = "fuzz";
/// Bytes of the table in global memory that all threads read.
pub const INPUT_BYTES: usize = 4096;
/// Bytes of a thread's own global memory.
pub const THREAD_SLOT_BYTES: usize = 128;
/// Bytes of a thread's results.
pub const RESULT_BYTES: usize =
    8 * (N_PREDICATE_REGISTERS + N_16_BIT_REGISTERS + N_32_BIT_REGISTERS + N_64_BIT_REGISTERS);
/// Bytes of the common counters.
pub const COUNTERS_BYTES: usize = 8 * coverage::COUNTERS_PER_UPDATE * coverage::COMMUTING_UPDATES.len();

/// Registers of a size that instructions draw from: predicates, 16, 32 and 64 bits.
pub(crate) const N_PREDICATE_REGISTERS: usize = 6;
pub(crate) const N_16_BIT_REGISTERS: usize = 7;
pub(crate) const N_32_BIT_REGISTERS: usize = 14;
pub(crate) const N_64_BIT_REGISTERS: usize = 10;

const BLOCK_SHAPES: &[[u32; 3]] = &[
    [32, 1, 1],
    [64, 1, 1],
    [96, 1, 1],
    [128, 1, 1],
    [256, 1, 1],
    [7, 1, 1],
    [1, 1, 1],
    [33, 1, 1],
    [16, 16, 1],
    [8, 4, 3],
    [8, 8, 1],
    [24, 4, 1],
    [5, 3, 2],
    [32, 2, 2],
    [16, 2, 1],
    [4, 8, 2],
    [48, 1, 1],
    [100, 1, 1],
    [31, 1, 1],
    [16, 5, 1],
    [8, 5, 1],
    [40, 2, 1],
    [20, 3, 1],
    [64, 3, 1],
    [17, 1, 1],
    [8, 4, 1],
    [48, 2, 1],
    [32, 3, 1],
    [96, 2, 1],
];

const GRID_SHAPES: &[[u32; 3]] = &[[1, 1, 1], [1, 1, 1], [2, 1, 1], [3, 1, 1], [2, 2, 1], [1, 2, 2]];

/// Makes the program of a seed.
pub fn generate_program(seed: u64, target: GenerationTarget) -> TestProgram {
    generate_program_with_coverage(seed, target).0
}

/// Makes the program of a seed, and says which cells of the coverage it has, with their instructions.
pub fn generate_program_with_coverage(
    seed: u64,
    target: GenerationTarget,
) -> (TestProgram, BTreeSet<(coverage::CoverageCell, String)>) {
    let mut random = Random::new(seed);
    let block = BLOCK_SHAPES[random.next_below(BLOCK_SHAPES.len())];
    let grid = GRID_SHAPES[random.next_below(GRID_SHAPES.len())];
    let uniform = (random.edge_case_bits(32) as u32, random.next_word() as u32 % 64, random.edge_case_bits(64));
    let mut own = Random::new(seed ^ 0x7e87);
    let threads = grid.iter().chain(&block).product();
    // Real devices filter in their own ways.
    let with_objects = !target.real && own.chance_one_in(3);
    let objects = if with_objects { texture_objects::random_objects(&mut own, threads) } else { vec![] };
    let mut generator = ProgramGenerator::new(random, target, block, objects.clone());
    let program = TestProgram { seed, nodes: generator.module_nodes(), grid, block, uniform, objects };
    (program, generator.cells)
}

/// Where the buffers of a program lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferAddresses {
    /// The table that is read.
    pub input: u64,
    /// Results.
    pub out: u64,
    /// Slots of the threads.
    pub slots: u64,
    /// Counters.
    pub counters: u64,
    /// Texels of objects, where somebody needs their address.
    pub objects: [u64; MAX_OBJECTS],
    /// Handles of objects.
    pub handles: [u64; MAX_OBJECTS],
}

/// Addresses for the oracle alone.
pub const ORACLE_ADDRESSES: BufferAddresses = BufferAddresses {
    input: 0x1_0000_0000,
    out: 0x2_0000_0000,
    slots: 0x3_0000_0000,
    counters: 0x4_0000_0000,
    objects: [0x5_0000_0000, 0x6_0000_0000, 0x7_0000_0000],
    handles: [0x11, 0x22, 0x33],
};

impl TestProgram {
    /// The PTX.
    pub fn ptx_text(&self) -> String {
        let mut text = String::new();
        self.nodes.iter().for_each(|n| n.print_node(&mut text));
        text
    }

    /// The PTX with what is needed to run it again, as comments.
    pub fn annotated_ptx(&self) -> String {
        let mut text = String::new();
        let (a, b, c) = self.uniform;
        let _ = writeln!(text, "// seed {} grid {:?} block {:?} uniform {a} {b} {c}", self.seed, self.grid, self.block);
        self.objects.iter().for_each(|o| text += &(texture_objects::object_to_line(o) + "\n"));
        text + &self.ptx_text()
    }

    /// Reads what [`TestProgram::annotated_ptx`] printed.
    pub fn from_annotated_ptx(text: &str) -> Option<TestProgram> {
        let (head, rest) = text.split_once('\n')?;
        let mut numbers = head.split(|c: char| !c.is_ascii_digit()).filter(|w| !w.is_empty()).map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        let seed = next()?;
        let mut read_triple = || Some([next()? as u32, next()? as u32, next()? as u32]);
        let (grid, block) = (read_triple()?, read_triple()?);
        let uniform = (next()? as u32, next()? as u32, next()?);
        let described: Option<Vec<TextureObject>> = rest
            .lines()
            .take_while(|l| l.starts_with(texture_objects::OBJECT_LINE_PREFIX))
            .map(texture_objects::object_from_line)
            .collect();
        let objects = described?;
        let nodes = rest.lines().skip(objects.len()).map(|l| ProgramNode::Fixed(l.to_owned())).collect();
        Some(TestProgram { seed, nodes, grid, block, uniform, objects })
    }

    /// Threads of the grid.
    pub fn threads_in_grid(&self) -> usize {
        self.grid.iter().chain(&self.block).product::<u32>() as usize
    }

    /// The buffers before the launch: input, results, slots, counters, and the texels of each object.
    pub fn initial_buffers(&self, at: BufferAddresses) -> Vec<OracleBuffer> {
        let mut random = Random::new(self.seed ^ 0xda7a);
        let mut noise =
            |n: usize| (0..n / 8).flat_map(|_| random.edge_case_bits(64).to_le_bytes()).collect::<Vec<u8>>();
        let n = self.threads_in_grid();
        let (input, slots) = (noise(INPUT_BYTES), noise(n * THREAD_SLOT_BYTES));
        let mut random = Random::new(self.seed ^ 0x7e8e1);
        let texels = |(o, address): (&TextureObject, u64)| OracleBuffer {
            address,
            bytes: texture_objects::initial_texels(o, &mut random),
            writable: o.sampler.is_none(),
        };
        let texels: Vec<OracleBuffer> = self.objects.iter().zip(at.objects).map(texels).collect();
        let mut all = vec![
            OracleBuffer { address: at.input, bytes: input, writable: false },
            OracleBuffer { address: at.out, bytes: vec![0xaa; n * RESULT_BYTES], writable: true },
            OracleBuffer { address: at.slots, bytes: slots, writable: true },
            OracleBuffer { address: at.counters, bytes: vec![0x55; COUNTERS_BYTES], writable: true },
        ];
        all.extend(texels);
        all
    }

    /// The launch.
    pub fn oracle_launch(&self, at: BufferAddresses) -> OracleLaunch {
        let mut params = vec![];
        for address in [at.input, at.out, at.slots, at.counters] {
            params.extend(address.to_le_bytes());
        }
        params.extend(self.uniform.0.to_le_bytes());
        params.extend(self.uniform.1.to_le_bytes());
        params.extend(self.uniform.2.to_le_bytes());
        at.handles[..self.objects.len()].iter().for_each(|h| params.extend(h.to_le_bytes()));
        let placed = self.objects.iter().zip(at.handles.iter().zip(at.objects));
        let objects =
            placed.map(|(&object, (&handle, address))| BoundTextureObject { handle, address, object }).collect();
        OracleLaunch { grid: self.grid, block: self.block, dynamic_shared: 0, params, objects, zero_unwritten: true }
    }

    /// What the oracle says: the buffers afterwards.
    ///
    /// # Errors
    /// The program is not well-formed.
    pub fn expected_buffers(&self) -> Result<Vec<OracleBuffer>, String> {
        self.expected_outcome().map(|(buffers, _)| buffers)
    }

    /// What the oracle says, and what it noticed.
    ///
    /// # Errors
    /// The program is not well-formed.
    pub fn expected_outcome(&self) -> Result<(Vec<OracleBuffer>, OracleReport), String> {
        let parsed = rtcg_ptx::parse(self.ptx_text());
        if parsed.has_errors() {
            return Err(parsed.render_diagnostics("program.ptx"));
        }
        let mut buffers = self.initial_buffers(ORACLE_ADDRESSES);
        let report =
            crate::run_kernel(&parsed.module, KERNEL_NAME, &self.oracle_launch(ORACLE_ADDRESSES), &mut buffers);
        Ok((buffers, report.map_err(|e| e.to_string())?))
    }
}
