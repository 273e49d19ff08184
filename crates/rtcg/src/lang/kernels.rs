//! Kernels of statements, compiled once for what they depend on.

use rtcg_array::GpuArray;
use rtcg_array::generators::{CompileSettings, ElementwiseKernel, ReductionKernel, ScanKernel};
use rtcg_codegen::c_declarations::{Argument, CType};
use rtcg_codegen::pointwise::IndexingMode;
use rtcg_hal::{DType, KernelSpec, Result};
use rtcg_lang::emit::{Emitted, Facts, Input, Kernel, ORDERED_PACKS};
use rtcg_lang::ir::{Atom, Var};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a statement's kernel depends on besides the statement: for each array whether it has the lengths of the space,
/// for each scalar whether it is on the device, and which integers fit in 32 bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct KernelKey {
    pub(super) stmt: usize,
    pub(super) form: Form,
    pub(super) facts: SmallVec<[u64; 2]>,
    /// A set of [`NarrowSets`].
    pub(super) narrow: usize,
}

/// The sets of variables that have been narrow in launches.
#[derive(Debug, Default)]
pub(super) struct NarrowSets {
    /// For a statement the sizes of the numbers in its last launch, and what was found then.
    last: HashMap<usize, (SmallVec<[u8; 16]>, Narrow)>,
    sets: Vec<Arc<BTreeSet<Var>>>,
}

/// What the numbers of a launch say.
#[derive(Debug, Clone, Default)]
pub(super) struct Narrow {
    /// The set, by its number; 0 where none was sought.
    pub(super) number: usize,
    pub(super) variables: Arc<BTreeSet<Var>>,
    /// The largest length of the first reduction inside of the statement.
    pub(super) longest: Option<i128>,
}

impl NarrowSets {
    /// What is known of a statement; `find` finds it for numbers of these sizes.
    pub(super) fn get(
        &mut self,
        stmt: usize,
        sizes: SmallVec<[u8; 16]>,
        find: impl FnOnce() -> (BTreeSet<Var>, Option<i128>),
    ) -> Narrow {
        if let Some((known, narrow)) = self.last.get(&stmt)
            && *known == sizes
        {
            return narrow.clone();
        }
        let (found, longest) = find();
        let at = self.sets.iter().position(|set| **set == found).unwrap_or_else(|| {
            self.sets.push(Arc::new(found));
            self.sets.len() - 1
        });
        let narrow = Narrow { number: at + 1, variables: self.sets[at].clone(), longest };
        self.last.insert(stmt, (sizes, narrow.clone()));
        narrow
    }
}

/// Bits of a number, and whether it is negative.
pub(super) fn size_of_number(value: i128) -> u8 {
    let bits = (128 - value.unsigned_abs().leading_zeros()) as u8;
    if value < 0 { bits | 0x80 } else { bits }
}

/// The numbers of a size.
pub(super) fn numbers_of_size(size: u8) -> (i128, i128) {
    let most = (1_i128 << (size & 0x7f)) - 1;
    if size & 0x80 == 0 { (0, most) } else { (-most, 0) }
}

/// A kernel that is a text, known by its number.
#[derive(Debug, Clone)]
pub(super) struct WrittenKernel {
    number: u64,
    name: &'static str,
    source: Arc<str>,
}

impl WrittenKernel {
    fn new(name: &'static str, source: String) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { number: NEXT.fetch_add(1, Ordering::Relaxed), name, source: source.into() }
    }
}

impl PartialEq for WrittenKernel {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for WrittenKernel {}

impl std::hash::Hash for WrittenKernel {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl KernelSpec for WrittenKernel {
    fn kernel_name(&self) -> Cow<'static, str> {
        self.name.into()
    }

    fn source(&self) -> String {
        self.source.to_string()
    }
}

/// How a statement is a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// As the emitter has it.
    Plain,
    /// Reductions have so many elements.
    Unrolled(u8),
    /// As many lanes share reductions.
    Shared(u8),
    /// As many share short ones.
    SharedShort(u8),
    /// A block has each of the others.
    Long,
    /// A reduction that stores what a map computes.
    Storing,
    /// Elements are those of rows of this width.
    RowsOf(Var),
    /// A reduction of rows, as of arrays.
    Rows,
}

/// What is known when a statement runs.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    pub(super) flat: HashSet<Var>,
    pub(super) on_device: HashSet<Var>,
    pub(super) is_small: bool,
    pub(super) narrow: Arc<BTreeSet<Var>>,
    /// The exact value of a length.
    pub(super) exact: Option<(Atom, usize)>,
    /// The arrays whose rows have exactly that length, and begin at multiples of 16 bytes.
    pub(super) exact_rows: HashSet<Var>,
}

impl Facts for RunFacts {
    fn has_lengths(&self, array: Var, _lengths: &[Atom]) -> bool {
        self.flat.contains(&array)
    }
    fn is_on_device(&self, scalar: Var) -> bool {
        self.on_device.contains(&scalar)
    }
    fn is_small(&self, _lengths: &[Atom]) -> bool {
        self.is_small
    }
    fn is_narrow(&self, var: Var) -> bool {
        self.narrow.contains(&var)
    }
    fn exact_row(&self, array: Var) -> Option<usize> {
        self.exact.filter(|_| self.exact_rows.contains(&array)).map(|(_, exact)| exact)
    }
    fn exact_length(&self, length: Atom) -> Option<usize> {
        self.exact.filter(|(of, _)| *of == length).map(|(_, exact)| exact)
    }
}

/// A kernel with what it is given.
#[derive(Debug)]
pub(super) struct ReadyKernel {
    pub(super) kernel: AnyKernel,
    /// What it was made of.
    pub(super) made_of: Kernel,
    pub(super) inputs: Vec<Input>,
    pub(super) fields: (Vec<(DType, usize)>, usize),
}

#[derive(Debug)]
pub(super) enum AnyKernel {
    Elementwise(ElementwiseKernel),
    Ranged(ElementwiseKernel),
    Reduction(ReductionKernel),
    RowReduction(ReductionKernel),
    /// An ordered reduction whose lanes read once, and several times, before they combine; and how many elements a warp
    /// reads at a time.
    Ordered([WrittenKernel; 2], usize),
    Written(WrittenKernel),
    Scan(ScanKernel),
}

/// The name of the array that a reduction has for the number of its elements.
const SPACE_NAME: &str = "rtcg_space";

impl ReadyKernel {
    pub(super) fn new(emitted: Emitted) -> Result<Self> {
        let settings = CompileSettings::default();
        let made_of = emitted.kernel.clone();
        let kernel = match emitted.kernel {
            Kernel::Elementwise(snippet) => AnyKernel::Elementwise(ElementwiseKernel::new(snippet, settings)),
            Kernel::Ranged(snippet) => AnyKernel::Ranged(ElementwiseKernel::new(snippet, settings)),
            Kernel::OrderedReduction(reduction) => {
                let kernel = |packs| WrittenKernel::new("rtcg_reduce_ordered", reduction.source(packs));
                AnyKernel::Ordered([kernel(1), kernel(ORDERED_PACKS)], 32 * reduction.items as usize)
            }
            Kernel::RowReduction(snippet) => AnyKernel::RowReduction(ReductionKernel::new(snippet, settings)?),
            Kernel::Reduction(mut snippet) => {
                snippet.arguments.insert(0, Argument::const_vector_arg(CType::from(DType::U8), SPACE_NAME));
                AnyKernel::Reduction(ReductionKernel::new(snippet, settings)?)
            }
            Kernel::Scan(snippet) => AnyKernel::Scan(ScanKernel::new(snippet, settings)?),
            Kernel::Written { name, source } => AnyKernel::Written(WrittenKernel::new(name, source)),
        };
        Ok(Self { kernel, made_of, inputs: emitted.inputs, fields: emitted.fields })
    }
}

impl ReadyKernel {
    /// The dtype of an element that holds all values.
    pub(super) fn out_dtype(&self) -> DType {
        match self.fields.0.as_slice() {
            [(dtype, _)] => *dtype,
            _ => DType::Void(self.fields.1 as u32),
        }
    }

    /// The values of such elements, each as an array.
    pub(super) fn parts_of(&self, out: GpuArray) -> Result<Vec<GpuArray>> {
        match self.fields.0.as_slice() {
            [_] => Ok(vec![out]),
            // Kernels read arrays without gaps; a single value has none.
            fields if out.ndim() == 0 => fields.iter().map(|(dtype, at)| out.field_view(*dtype, *at)).collect(),
            fields => fields.iter().map(|(dtype, at)| out.field_view(*dtype, *at)?.to_contiguous()).collect(),
        }
    }
}

/// The kernel's source in its plainest form.
pub(super) fn source(kernel: &Kernel) -> String {
    match kernel {
        Kernel::Elementwise(snippet) => snippet.source(&IndexingMode::Flat { ranged: false }),
        Kernel::Ranged(snippet) => snippet.source(&IndexingMode::Flat { ranged: true }),
        Kernel::Reduction(snippet) | Kernel::RowReduction(snippet) => {
            let threads = rtcg_codegen::reduction::REDUCE_THREADS;
            snippet.full_reduction_source(&IndexingMode::Flat { ranged: false }, true, threads)
        }
        Kernel::OrderedReduction(reduction) => reduction.source(1),
        Kernel::Written { source, .. } => source.clone(),
        Kernel::Scan(snippet) => ScanKernel::new(snippet.clone(), CompileSettings::default())
            .map(|kernel| kernel.source())
            .unwrap_or_default(),
    }
}
