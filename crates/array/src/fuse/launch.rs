//! Evaluates an expression graph with one kernel for each result shape.

use super::graph::{FusionGraph, FusionNode, max_arrays};
use super::scope::DeferredBuffer;
use crate::array::GpuArray;
use crate::layout::Shape;
use crate::walk_plan::{WalkRules, WalkedArray, plan_walk};
use rtcg_codegen::array::{
    FUSED_ZERO_ARG_COUNT, FusedOutput, FusedSpec, FusedStep, FusedSteps, NO_INPUT_STEP, OperandKind, PointwiseOperand,
};
use rtcg_hal::{ArrayBuffer, ArrayContext, LaunchArgs, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// A value and where it goes.
struct StoreTarget {
    array: GpuArray,
    node: u16,
    /// Whose memory it is.
    owner: Option<(Arc<DeferredBuffer>, Arc<dyn ArrayBuffer>)>,
}

/// Computes what is referred to. If something fails, results that are missing will say so.
pub(super) fn evaluate_graph(graph: &FusionGraph) -> Result<()> {
    let Some(ctx) = graph.ctx.clone() else { return Ok(()) };
    let live: Vec<Arc<DeferredBuffer>> = graph.results.iter().filter_map(std::sync::Weak::upgrade).collect();
    let result = compute_live_results(graph, &ctx, &live);
    if let Err(error) = &result {
        let message: Arc<str> = error.to_string().into();
        for deferred in &live {
            let _ = deferred.memory.set(Err(message.clone()));
        }
    }
    result
}

fn compute_live_results(graph: &FusionGraph, ctx: &Arc<ArrayContext>, live: &[Arc<DeferredBuffer>]) -> Result<()> {
    let stored_shape: Option<Shape> = graph.stores.first().map(|store| store.target.layout().shape.clone());
    let mut shapes: Vec<Shape> = Vec::new();
    for deferred in live {
        if !shapes.contains(&deferred.layout.shape) && stored_shape.as_ref() != Some(&deferred.layout.shape) {
            shapes.push(deferred.layout.shape.clone());
        }
    }
    // What is stored in memory that exists comes last: other shapes read the elements as they were.
    shapes.extend(stored_shape.clone());
    for shape in &shapes {
        let mut targets = Vec::new();
        for deferred in live.iter().filter(|deferred| deferred.layout.shape == *shape) {
            targets.push(allocate_store_target(ctx, deferred)?);
        }
        let n_new = targets.len();
        if stored_shape.as_ref() == Some(shape) {
            targets.extend(graph.stores.iter().map(|store| StoreTarget {
                array: store.target.clone(),
                node: store.node,
                owner: None,
            }));
        }
        // Several kernels read what one of them stores unless all that stores is in the last one.
        let (_, at_once) = max_arrays(shape.len());
        let (new, stored) = targets.split_at(n_new);
        if stored.len() + new.len() <= at_once.max(stored.len()) {
            launch_fused_targets(graph, ctx, shape, &targets)?;
        } else {
            for chunk in new.chunks(at_once) {
                launch_fused_targets(graph, ctx, shape, chunk)?;
            }
            launch_fused_targets(graph, ctx, shape, stored)?;
        }
        for target in targets {
            if let Some((deferred, memory)) = target.owner {
                let _ = deferred.memory.set(Ok(memory));
            }
        }
    }
    Ok(())
}

fn allocate_store_target(ctx: &Arc<ArrayContext>, deferred: &Arc<DeferredBuffer>) -> Result<StoreTarget> {
    let nbytes = deferred.layout.size() * deferred.dtype.itemsize();
    let memory = ctx.device().alloc_from(deferred.allocator.as_ref(), nbytes)?;
    let array = GpuArray::from_buffer(ctx, Some(memory.clone()), deferred.layout.clone(), deferred.dtype);
    let node = *rtcg_hal::lock_ignoring_poison(&deferred.node);
    Ok(StoreTarget { array, node, owner: Some((deferred.clone(), memory)) })
}

/// The part of a graph that some values need: steps, the arrays and the numbers they read.
pub(super) struct FusedSubgraph<'a> {
    pub(super) steps: FusedSteps,
    pub(super) arrays: Vec<&'a GpuArray>,
    values: Vec<u16>,
    graph: &'a FusionGraph,
    order: Vec<u16>,
}

impl<'a> FusedSubgraph<'a> {
    pub(super) fn new(graph: &'a FusionGraph, outputs: impl Iterator<Item = u16>) -> Self {
        let order = graph.reachable_nodes(outputs);
        let place = |node: u16| order.binary_search(&node).map_or(NO_INPUT_STEP, |at| at as u16);
        let (mut steps, mut arrays, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for &node in &order {
            steps.push(match graph.nodes[usize::from(node)] {
                FusionNode::Leaf(leaf) => {
                    let array = &graph.leaves[usize::from(leaf)];
                    arrays.push(array);
                    let access = if array.is_aligned() { OperandKind::Element } else { OperandKind::Unaligned };
                    FusedStep::Array(PointwiseOperand { dtype: array.dtype(), access })
                }
                FusionNode::Value(value) => {
                    values.push(value);
                    FusedStep::Value(graph.values[usize::from(value)].1)
                }
                FusionNode::Op { op, compute, out, inputs } => {
                    FusedStep::Op { op, compute, out, inputs: inputs.map(place) }
                }
            });
        }
        FusedSubgraph { steps: FusedSteps(steps), arrays, values, graph, order }
    }

    /// The step of a node.
    pub(super) fn step_index(&self, node: u16) -> u16 {
        self.order.binary_search(&node).map_or(NO_INPUT_STEP, |at| at as u16)
    }

    /// Sets how each array is passed.
    fn set_operand_kinds(&mut self, accesses: &[OperandKind]) {
        let arrays = self.steps.0.iter_mut().filter_map(|step| match step {
            FusedStep::Array(operand) => Some(operand),
            _ => None,
        });
        arrays.zip(accesses).for_each(|(operand, access)| operand.access = *access);
    }

    /// The zeros and the numbers, which end the arguments.
    pub(super) fn push_scalar_args(&self, args: &mut LaunchArgs) {
        (0..FUSED_ZERO_ARG_COUNT).for_each(|_| args.push_u64(0));
        for &value in &self.values {
            let element = &self.graph.values[usize::from(value)].0;
            args.push(element.bytes(), element.alignment());
        }
    }
}

fn launch_fused_targets(
    graph: &FusionGraph,
    ctx: &Arc<ArrayContext>,
    shape: &Shape,
    targets: &[StoreTarget],
) -> Result<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let part = FusedSubgraph::new(graph, targets.iter().map(|target| target.node));
    FusedLaunch { ctx, shape, targets, part }.plan_and_launch()
}

/// Values of one shape.
struct FusedLaunch<'a> {
    ctx: &'a Arc<ArrayContext>,
    shape: &'a Shape,
    targets: &'a [StoreTarget],
    part: FusedSubgraph<'a>,
}

impl FusedLaunch<'_> {
    /// Plans over outputs and arrays, and launches the kernel that fits the plan.
    fn plan_and_launch(mut self) -> Result<()> {
        let outputs = self.targets.iter().map(|target| WalkedArray::broadcast(&target.array, self.shape, true));
        let read = self.part.arrays.iter().map(|array| WalkedArray::broadcast(array, self.shape, false));
        let walked: SmallVec<[WalkedArray; 8]> = outputs.chain(read).collect::<Result<_>>()?;
        let walk = plan_walk(self.ctx.device_info(), &walked, WalkRules::FREE);
        let (of_outputs, of_arrays) = walk.kinds.split_at(self.targets.len());
        self.part.set_operand_kinds(of_arrays);
        let output = |(target, kind): (&StoreTarget, &OperandKind)| FusedOutput {
            step: self.part.step_index(target.node),
            unaligned: *kind == OperandKind::Unaligned,
        };
        let outputs = self.targets.iter().zip(of_outputs).map(output).collect();
        let kernel = FusedSpec { steps: self.part.steps.clone(), outputs, pattern: walk.pattern };
        let mut args = LaunchArgs::new();
        walked.iter().zip(&walk.offsets).for_each(|(array, offset)| args.push_address(array.address, *offset));
        walk.push_size_and_dims(&mut args);
        self.part.push_scalar_args(&mut args);
        let [blocks, threads] = walk.geometry;
        self.ctx.launch(&kernel, blocks, threads, &args)
    }
}
