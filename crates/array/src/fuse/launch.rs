//! Evaluates an expression graph with one kernel for each result shape.

use super::graph::{FusionGraph, FusionNode, NO_INPUT, max_arrays};
use super::kernel::{FusedExpression, FusedSpec};
use super::scope::DeferredBuffer;
use crate::array::GpuArray;
use crate::layout::Shape;
use crate::walk_plan::{WalkRules, WalkedArray, plan_walk};
use rtcg_codegen::array::{OperandKind, PointwiseOperand};
use rtcg_hal::{ArrayBuffer, ArrayContext, LaunchArgs, Result};
use rtcg_lang::emit::ZERO_COUNT;
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

/// The part of a graph that some values need, the arrays and the numbers that it reads.
pub(super) struct FusedSubgraph<'a> {
    pub(super) expression: FusedExpression,
    pub(super) arrays: Vec<&'a GpuArray>,
    values: Vec<u16>,
    graph: &'a FusionGraph,
    order: Vec<u16>,
}

impl<'a> FusedSubgraph<'a> {
    pub(super) fn new(graph: &'a FusionGraph, outputs: impl Iterator<Item = u16>) -> Self {
        let order = graph.reachable_nodes(outputs);
        let expression = FusedExpression { nodes: Vec::with_capacity(order.len()), ..FusedExpression::default() };
        let mut part = FusedSubgraph { expression, arrays: Vec::new(), values: Vec::new(), graph, order };
        for at in 0..part.order.len() {
            let node = match graph.nodes[usize::from(part.order[at])] {
                FusionNode::Leaf(leaf) => {
                    let array = &graph.leaves[usize::from(leaf)];
                    let access = if array.is_aligned() { OperandKind::Element } else { OperandKind::Unaligned };
                    part.arrays.push(array);
                    part.expression.arrays.push(PointwiseOperand { dtype: array.dtype(), access });
                    FusionNode::Leaf(part.arrays.len() as u16 - 1)
                }
                FusionNode::Value(value) => {
                    part.values.push(value);
                    part.expression.numbers.push(graph.values[usize::from(value)].1);
                    FusionNode::Value(part.values.len() as u16 - 1)
                }
                FusionNode::Op { op, compute, out, inputs } => {
                    FusionNode::Op { op, compute, out, inputs: inputs.map(|input| part.place(input)) }
                }
            };
            part.expression.nodes.push(node);
        }
        part
    }

    /// Where a node is in the expression.
    pub(super) fn place(&self, node: u16) -> u16 {
        self.order.binary_search(&node).map_or(NO_INPUT, |at| at as u16)
    }

    /// The zeros and the numbers, which end the arguments.
    pub(super) fn push_scalar_args(&self, args: &mut LaunchArgs) {
        (0..ZERO_COUNT).for_each(|_| args.push_u64(0));
        for &value in &self.values {
            let element = &self.graph.values[usize::from(value)].0;
            args.push(element.bytes(), element.alignment());
        }
    }
}

/// Plans over the values of one shape and the arrays they need, and launches the kernel that fits the plan.
fn launch_fused_targets(
    graph: &FusionGraph,
    ctx: &Arc<ArrayContext>,
    shape: &Shape,
    targets: &[StoreTarget],
) -> Result<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let mut part = FusedSubgraph::new(graph, targets.iter().map(|target| target.node));
    let outputs = targets.iter().map(|target| WalkedArray::broadcast(&target.array, shape, true));
    let read = part.arrays.iter().map(|array| WalkedArray::broadcast(array, shape, false));
    let walked: SmallVec<[WalkedArray; 8]> = outputs.chain(read).collect::<Result<_>>()?;
    let walk = plan_walk(ctx.device_info(), &walked, WalkRules::FREE);
    let (of_outputs, of_arrays) = walk.kinds.split_at(targets.len());
    part.expression.arrays.iter_mut().zip(of_arrays).for_each(|(array, kind)| array.access = *kind);
    let output = |(target, access): (&StoreTarget, &OperandKind)| {
        (part.place(target.node), PointwiseOperand { dtype: target.array.dtype(), access: *access })
    };
    let outputs = targets.iter().zip(of_outputs).map(output).collect();
    let mut args = LaunchArgs::new();
    walked.iter().zip(&walk.offsets).for_each(|(array, offset)| args.push_address(array.address, *offset));
    walk.push_size_and_dims(&mut args);
    part.push_scalar_args(&mut args);
    let [blocks, threads] = walk.geometry;
    let kernel = FusedSpec { expression: part.expression, outputs, pattern: walk.pattern };
    ctx.launch(&kernel, blocks, threads, &args)
}
