//! Kernels of statements, compiled once for what they depend on.

use rtcg_array::GpuArray;
use rtcg_array::generators::{CompileSettings, ElementwiseKernel, ReductionKernel, ScanKernel};
use rtcg_codegen::c_declarations::{Argument, CType};
use rtcg_codegen::pointwise::IndexingMode;
use rtcg_hal::{DType, KernelSpec, Result};
use rtcg_lang::emit::{Emitted, Facts, Input, Kernel, OrderedReduction};
use rtcg_lang::ir::{Atom, Var};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a statement's kernel depends on besides the statement: for each array whether it has the lengths of the space,
/// for each scalar whether it is on the device, and whether indices fit in 32 bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct KernelKey {
    pub(super) stmt: usize,
    pub(super) form: Form,
    pub(super) facts: SmallVec<[u64; 2]>,
}

/// A stage of an ordered reduction, known by its number.
#[derive(Debug, Clone)]
pub(super) struct OrderedStage {
    number: u64,
    source: Arc<str>,
    /// Elements that a warp takes at a time.
    pub(super) step: usize,
}

impl OrderedStage {
    fn new(reduction: &OrderedReduction, is_second: bool) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            source: reduction.source(is_second).into(),
            step: 32 * reduction.items as usize,
        }
    }
}

impl PartialEq for OrderedStage {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for OrderedStage {}

impl std::hash::Hash for OrderedStage {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl KernelSpec for OrderedStage {
    fn kernel_name(&self) -> Cow<'static, str> {
        "rtcg_reduce_ordered".into()
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
    /// Lanes of a warp share reductions.
    Warps,
    /// A reduction of rows, as of arrays.
    Rows,
}

/// What is known when a statement runs.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    pub(super) flat: HashSet<Var>,
    pub(super) on_device: HashSet<Var>,
    pub(super) is_small: bool,
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
}

/// A kernel with what it is given.
#[derive(Debug)]
pub(super) struct ReadyKernel {
    pub(super) kernel: AnyKernel,
    pub(super) inputs: Vec<Input>,
    pub(super) fields: (Vec<(DType, usize)>, usize),
}

#[derive(Debug)]
pub(super) enum AnyKernel {
    Elementwise(ElementwiseKernel),
    Ranged(ElementwiseKernel),
    Reduction(ReductionKernel),
    RowReduction(ReductionKernel),
    /// The stages of an ordered reduction.
    Ordered([OrderedStage; 2]),
    Scan(ScanKernel),
}

/// The name of the array that a reduction has for the number of its elements.
const SPACE_NAME: &str = "rtcg_space";

impl ReadyKernel {
    pub(super) fn new(emitted: Emitted) -> Result<Self> {
        let settings = CompileSettings::default();
        let kernel = match emitted.kernel {
            Kernel::Elementwise(snippet) => AnyKernel::Elementwise(ElementwiseKernel::new(snippet, settings)),
            Kernel::Ranged(snippet) => AnyKernel::Ranged(ElementwiseKernel::new(snippet, settings)),
            Kernel::OrderedReduction(reduction) => {
                AnyKernel::Ordered([false, true].map(|is_second| OrderedStage::new(&reduction, is_second)))
            }
            Kernel::RowReduction(snippet) => AnyKernel::RowReduction(ReductionKernel::new(snippet, settings)?),
            Kernel::Reduction(mut snippet) => {
                snippet.arguments.insert(0, Argument::const_vector_arg(CType::from(DType::U8), SPACE_NAME));
                AnyKernel::Reduction(ReductionKernel::new(snippet, settings)?)
            }
            Kernel::Scan(snippet) => AnyKernel::Scan(ScanKernel::new(snippet, settings)?),
        };
        Ok(Self { kernel, inputs: emitted.inputs, fields: emitted.fields })
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
pub(super) fn source(emitted: &Emitted) -> String {
    match &emitted.kernel {
        Kernel::Elementwise(snippet) => snippet.source(&IndexingMode::Flat { ranged: false }),
        Kernel::Ranged(snippet) => snippet.source(&IndexingMode::Flat { ranged: true }),
        Kernel::Reduction(snippet) | Kernel::RowReduction(snippet) => {
            let threads = rtcg_codegen::reduction::REDUCE_THREADS;
            snippet.full_reduction_source(&IndexingMode::Flat { ranged: false }, true, threads)
        }
        Kernel::OrderedReduction(reduction) => reduction.source(false),
        Kernel::Scan(snippet) => ScanKernel::new(snippet.clone(), CompileSettings::default())
            .map(|kernel| kernel.source())
            .unwrap_or_default(),
    }
}
