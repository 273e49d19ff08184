//! Executable graphs.
//!
//! A launch submits what the graph does to the launch's stream, in an order that respects all
//! edges: device work that is next to each other as one operation, calls into the program and
//! events as operations of their own. Branches do not run at the same time; each kernel has all
//! cores anyway. A short graph of brief kernels runs inside the launch call.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::update::{self, GraphDifference, NodePairing, UpdateProblem};
use super::{ConditionalNode, Graph, GraphConditional, GraphMemory, NodeAction, UserObject, memory};
use crate::memory::{box_copy, fill};
use crate::module::Kernel;
use crate::resource::function::error_from_fault;
use crate::resource::function::run_kernel;
use crate::stream::context::Context;
use crate::stream::event::EVENTS;
use crate::stream::event::Event;
use crate::stream::external_work::{self, StartFunction};
use crate::stream::{OperationWork, Stream, StreamPoint, StreamPoints};
use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::{CHANGED_CHILD_GRAPH_CODE, DEVICE_LAUNCH_NODES};
use rtcg_vgpu_abi::{IgnorePoison, handle_table::HandleTable};

/// Executable graphs by handle.
pub(crate) static GRAPH_EXECS: HandleTable<GraphExec> = HandleTable::new(0x1d);

/// A graph with so many threads in all may run inside the launch call...
const MAX_INLINE_THREADS: u64 = 1 << 20;
/// ...if its last launch took no longer than this.
const MAX_INLINE_DURATION: Duration = Duration::from_micros(400);

/// `CU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`
const AUTO_FREE_ON_LAUNCH_FLAG: u64 = 1;

/// `CUgraphExec`
#[derive(Debug)]
pub(crate) struct GraphExec {
    /// Identifier of the context that it was made in.
    pub(crate) ctx_id: u64,
    /// As given.
    pub(crate) flags: u64,
    state: Mutex<ExecState>,
    /// Where the last launch ends.
    last: Mutex<Option<StreamPoint>>,
    /// Keeps graphs whose memory it gives out from being instantiated again meanwhile.
    claims: Mutex<Vec<Arc<()>>>,
}

#[derive(Debug)]
struct ExecState {
    body: Vec<ExecNode>,
    objects: UserObjects,
    plan: Option<Arc<LaunchPlan>>,
}

/// A node with what it was when the graph was instantiated, or what it was set to since.
#[derive(Debug)]
pub(super) struct ExecNode {
    pub(super) node: u64,
    pub(super) action: NodeAction,
    /// How many nodes of its graph were added before it.
    pub(super) added: usize,
    enabled: bool,
    /// Positions of the nodes that come right before.
    pub(super) after: Vec<usize>,
    /// The nodes of a child graph, or of each graph of a conditional node.
    pub(super) inside: Vec<Vec<ExecNode>>,
}

/// Objects of the program, which live as long as the executable graph and its launches.
type UserObjects = Arc<[Arc<UserObject>]>;

/// What a launch does to one piece of memory of a graph.
#[derive(Debug)]
struct MemoryUse {
    memory: Arc<GraphMemory>,
    /// It must be in use before: the graph frees what another has allocated.
    is_freed_first: bool,
    is_in_use_after: bool,
}

type DeviceStep = Box<dyn Fn(&Context, u64) -> Res + Send + Sync>;

enum LaunchStep {
    Device(Arc<[DeviceStep]>),
    Host(unsafe extern "C" fn(*mut std::ffi::c_void), super::AssertSend<*mut std::ffi::c_void>),
    External(StartFunction, super::AssertSend<*mut std::ffi::c_void>),
    Record(Arc<Event>),
    Wait(Arc<Event>),
}

/// What a launch does.
struct LaunchPlan {
    steps: Vec<LaunchStep>,
    objects: UserObjects,
    /// Kernels that may change the limits of the context.
    limit_kernels: Vec<Arc<Kernel>>,
    /// What it allocates or frees.
    memory: Arc<[MemoryUse]>,
    /// The whole may run inside the launch call.
    can_run_inline: bool,
    /// Its last launch was brief.
    short_running: Arc<AtomicBool>,
}

impl std::fmt::Debug for LaunchPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("n_steps", &self.steps.len()).finish_non_exhaustive()
    }
}

/// The nodes of a graph in order; fails when they form a cycle.
fn ordered_exec_nodes(graph: &Graph) -> Res<Vec<ExecNode>> {
    let (order, edges, places) = {
        let parts = graph.lock_contents();
        let places: HashMap<u64, usize> = parts.nodes.iter().enumerate().map(|(i, n)| (n.handle, i)).collect();
        (parts.topological_order().ok_or(ResultCode::INVALID_VALUE)?, parts.edges.clone(), places)
    };
    let at: HashMap<u64, usize> = order.iter().enumerate().map(|(i, n)| (n.handle, i)).collect();
    let mut body: Vec<ExecNode> = Vec::with_capacity(order.len());
    for node in order {
        let action = node.current_action();
        let inside = match &action {
            NodeAction::Child(graph) => vec![ordered_exec_nodes(graph)?],
            NodeAction::Conditional(choice) => {
                choice.bodies.iter().map(|body| ordered_exec_nodes(body)).collect::<Res<_>>()?
            }
            _ => Vec::new(),
        };
        let added = places.get(&node.handle).copied().unwrap_or(usize::MAX);
        body.push(ExecNode { node: node.handle, action, added, enabled: true, after: Vec::new(), inside });
    }
    for edge in edges {
        if let (Some(&from), Some(&to)) = (at.get(&edge.from), at.get(&edge.to)) {
            body[to].after.push(from);
        }
    }
    body.iter_mut().for_each(|n| n.after.sort_unstable());
    Ok(body)
}

/// The first node that keeps a graph from being launched by kernels, if there is one.
pub(crate) fn node_against_device_launch(graph: &Graph) -> Option<u64> {
    let nodes = graph.lock_contents().nodes.clone();
    nodes.into_iter().find_map(|node| match node.current_action() {
        NodeAction::Child(child) => node_against_device_launch(&child).map(|_| node.handle),
        action if DEVICE_LAUNCH_NODES.contains(&action.node_type().0) => None,
        _ => Some(node.handle),
    })
}

/// The objects of the program that a graph and the graphs inside it hold.
fn collect_user_objects(graph: &Graph) -> Vec<Arc<UserObject>> {
    let mut objects = graph.objects.lock().ignore_poison().clone();
    let nodes = graph.lock_contents().nodes.clone();
    for node in nodes {
        match node.current_action() {
            NodeAction::Child(child) => objects.append(&mut collect_user_objects(&child)),
            NodeAction::Conditional(choice) => {
                choice.bodies.iter().for_each(|body| objects.append(&mut collect_user_objects(body)))
            }
            _ => {}
        }
    }
    objects
}

fn find_node_mut(body: &mut [ExecNode], node: u64) -> Option<&mut ExecNode> {
    body.iter_mut().find_map(|n| {
        if n.node == node { Some(n) } else { n.inside.iter_mut().find_map(|body| find_node_mut(body, node)) }
    })
}

/// Puts the steps of a plan together.
#[derive(Default)]
struct LaunchPlanner {
    steps: Vec<LaunchStep>,
    device: Vec<DeviceStep>,
    limit_kernels: Vec<Arc<Kernel>>,
    memory: Vec<MemoryUse>,
    /// State that is reset by every launch.
    conditions: Vec<Arc<GraphConditional>>,
    threads: u64,
    can_run_inline: bool,
}

impl LaunchPlanner {
    fn add_nodes(&mut self, body: &[ExecNode]) -> Res {
        body.iter().filter(|n| n.enabled).try_for_each(|n| self.add_node(n))
    }

    fn add_node(&mut self, node: &ExecNode) -> Res {
        match &node.action {
            NodeAction::Kernel(kernel) => {
                let (launch, function) = (&kernel.launch, &kernel.function);
                function.kernel.compiled_program(launch.block).map_err(error_from_fault)?;
                let n: u64 = launch.grid.iter().chain(&launch.block).map(|&n| u64::from(n)).product();
                self.threads = self.threads.saturating_add(n);
                self.can_run_inline &=
                    !function.may_wait && !launch.cooperative && function.short_running.load(Ordering::Relaxed);
                if function.kernel.touches_limits() {
                    self.limit_kernels.push(function.kernel.clone());
                }
                let kernel = kernel.clone();
                self.device.push(Box::new(move |ctx, generation| {
                    run_kernel(&kernel.launch, &kernel.function, &ctx.cancel, generation)
                }));
            }
            NodeAction::Copy(copy) => {
                if let Some(work) = box_copy::prepare_memcpy_3d(&copy.get())? {
                    self.device.push(Box::new(move |_, _| work()));
                }
            }
            NodeAction::Memset(set) => {
                let work = fill::prepare_memset_node(&set.get())?;
                self.device.push(Box::new(move |_, _| work()));
            }
            NodeAction::MemOps(operations, _) => {
                self.can_run_inline = false;
                let operations = operations.clone();
                self.device.push(Box::new(move |ctx, generation| {
                    operations.iter().try_for_each(|op| op.execute_mem_op(ctx, generation))
                }));
            }
            NodeAction::Host(function, data) => self.add_step(LaunchStep::Host(*function, *data)),
            NodeAction::External(start, data) => self.add_step(LaunchStep::External(*start, *data)),
            NodeAction::Record(event) => self.add_step(LaunchStep::Record(EVENTS.get_object(*event)?)),
            NodeAction::Wait(event) => self.add_step(LaunchStep::Wait(EVENTS.get_object(*event)?)),
            NodeAction::Child(_) => node.inside.iter().try_for_each(|body| self.add_nodes(body))?,
            NodeAction::Conditional(choice) => self.add_conditional(choice, &node.inside)?,
            NodeAction::Empty => {}
            NodeAction::Alloc(memory) => self.add_memory(memory.clone(), true),
            NodeAction::Free(start) => {
                // Memory whose graph is gone is an ordinary allocation, which the program frees.
                if let Some(memory) = memory::find_allocation(*start) {
                    self.add_memory(memory, false);
                }
            }
        }
        Ok(())
    }

    fn add_memory(&mut self, memory: Arc<GraphMemory>, is_allocated: bool) {
        match self.memory.iter_mut().find(|m| m.memory.start == memory.start) {
            Some(known) => known.is_in_use_after = is_allocated,
            None => {
                let (is_freed_first, is_in_use_after) = (!is_allocated, is_allocated);
                self.memory.push(MemoryUse { memory, is_freed_first, is_in_use_after });
            }
        }
    }

    /// A conditional node is one step: what its graphs do must be work of the device.
    fn add_conditional(&mut self, choice: &Arc<ConditionalNode>, inside: &[Vec<ExecNode>]) -> Res {
        let mut bodies: Vec<Vec<Arc<[DeviceStep]>>> = Vec::with_capacity(inside.len());
        for nodes in inside {
            let mut planner = LaunchPlanner::default();
            planner.add_nodes(nodes)?;
            planner.flush_device_steps();
            ensure(planner.memory.is_empty(), ResultCode::NOT_SUPPORTED)?;
            self.conditions.append(&mut planner.conditions);
            self.limit_kernels.append(&mut planner.limit_kernels);
            let steps = planner.steps.into_iter().map(|step| match step {
                LaunchStep::Device(work) => Ok(work),
                _ => ResultCode::NOT_SUPPORTED.err(),
            });
            bodies.push(steps.collect::<Res<_>>()?);
        }
        self.can_run_inline = false;
        self.conditions.push(choice.condition.clone());
        let choice = choice.clone();
        self.device.push(Box::new(move |ctx, generation| {
            while let Some(chosen) = choice.selected_body() {
                bodies[chosen].iter().flat_map(|work| work.iter()).try_for_each(|step| step(ctx, generation))?;
                // A graph without kernels never hears that somebody wants it to end.
                let is_over = ctx.cancel.is_cancelled() || ctx.cancel.interrupt_generation() != generation;
                if !choice.is_while_node() || is_over {
                    break;
                }
            }
            Ok(())
        }));
        Ok(())
    }

    fn add_step(&mut self, step: LaunchStep) {
        self.flush_device_steps();
        self.can_run_inline = false;
        self.steps.push(step);
    }

    fn flush_device_steps(&mut self) {
        if !self.device.is_empty() {
            self.steps.push(LaunchStep::Device(std::mem::take(&mut self.device).into()));
        }
    }

    fn into_plan(mut self, objects: UserObjects) -> LaunchPlan {
        self.flush_device_steps();
        if !self.conditions.is_empty() {
            let conditions = self.conditions;
            let reset: DeviceStep = Box::new(move |_, _| {
                conditions.iter().for_each(|condition| condition.reset_to_default());
                Ok(())
            });
            self.steps.insert(0, LaunchStep::Device(Arc::new([reset])));
        }
        let can_run_inline = self.can_run_inline && self.threads <= MAX_INLINE_THREADS;
        LaunchPlan {
            steps: self.steps,
            objects,
            limit_kernels: self.limit_kernels,
            memory: self.memory.into(),
            can_run_inline,
            short_running: Arc::new(AtomicBool::new(true)),
        }
    }
}

impl LaunchPlan {
    fn from_nodes(body: &[ExecNode], objects: UserObjects) -> Res<LaunchPlan> {
        let mut planner = LaunchPlanner { can_run_inline: true, ..LaunchPlanner::default() };
        planner.add_nodes(body)?;
        Ok(planner.into_plan(objects))
    }

    /// Allocates and frees what a launch does. As calls come in the order in which streams run them, that is done at
    /// the call; what runs keeps the memory.
    fn allocate_and_free(&self, flags: u64) -> Res {
        let frees_itself = flags & AUTO_FREE_ON_LAUNCH_FLAG != 0;
        let is_allowed = |m: &MemoryUse| match m.memory.is_in_use() {
            true => m.is_freed_first || !m.is_in_use_after || frees_itself,
            false => !m.is_freed_first,
        };
        ensure(self.memory.iter().all(is_allowed), ResultCode::INVALID_VALUE)?;
        self.map_memory();
        self.memory.iter().for_each(|m| m.memory.set_in_use(m.is_in_use_after));
        Ok(())
    }

    fn map_memory(&self) {
        memory::map_memory(self.memory.iter().map(|m| &m.memory));
    }

    fn run_inline(&self, ctx: &Context, generation: u64) -> Res {
        let begun = Instant::now();
        for step in &self.steps {
            if let LaunchStep::Device(work) = step {
                work.iter().try_for_each(|step| step(ctx, generation))?;
            }
        }
        self.short_running.store(begun.elapsed() < MAX_INLINE_DURATION, Ordering::Relaxed);
        Ok(())
    }

    fn submit_steps(&self, ctx: &Arc<Context>, stream: &Arc<Stream>) {
        let generation = ctx.cancel.interrupt_generation();
        for step in &self.steps {
            let objects = (self.objects.clone(), self.memory.clone());
            match step {
                LaunchStep::Device(work) => {
                    let (work, context, short_running) = (work.clone(), ctx.clone(), self.short_running.clone());
                    let run = move || {
                        let begun = Instant::now();
                        let outcome = work.iter().try_for_each(|step| step(&context, generation));
                        short_running.store(begun.elapsed() < MAX_INLINE_DURATION, Ordering::Relaxed);
                        drop(objects);
                        outcome
                    };
                    stream.submit_operation(ctx, StreamPoints::new(), OperationWork::Device(Box::new(run)));
                }
                LaunchStep::Host(function, data) => {
                    let (function, data) = (*function, *data);
                    let call = move |before: Res| {
                        if before.is_ok() {
                            // SAFETY: the program gave this function to be called with this pointer.
                            unsafe { function(data.get()) };
                        }
                        drop(objects);
                    };
                    stream.submit_operation(ctx, StreamPoints::new(), OperationWork::Host(Box::new(call)));
                }
                LaunchStep::External(start, data) => external_work::submit_external(ctx, stream, *start, data.get()),
                LaunchStep::Record(event) => event.record_at_stream_end(ctx, stream),
                LaunchStep::Wait(event) => {
                    if let Some(fence) = event.pending_stream_point() {
                        stream.submit_operation(ctx, StreamPoints::from_elem(fence, 1), OperationWork::Wait);
                    }
                }
            }
        }
    }
}

impl GraphExec {
    /// Makes a graph executable.
    pub(crate) fn instantiate(ctx: &Context, graph: &Graph, flags: u64) -> Res<GraphExec> {
        ensure(
            graph.conditions.lock().ignore_poison().iter().all(|condition| condition.is_claimed_by_node()),
            ResultCode::INVALID_VALUE,
        )?;
        let (body, objects) = (ordered_exec_nodes(graph)?, UserObjects::from(collect_user_objects(graph)));
        let plan = Some(Arc::new(LaunchPlan::from_nodes(&body, objects.clone())?));
        let claim = graph.has_memory_nodes().then(|| graph.claim_memory()).transpose()?;
        Ok(GraphExec {
            ctx_id: ctx.id,
            flags,
            state: Mutex::new(ExecState { body, objects, plan }),
            last: Mutex::new(None),
            claims: Mutex::new(Vec::from_iter(claim)),
        })
    }

    /// Takes the memory of another graph than that which was instantiated, unless it has it already.
    fn claim_memory_of(&self, graph: &Graph) -> Res {
        let mut claims = self.claims.lock().ignore_poison();
        if !claims.iter().any(|claim| graph.is_memory_claimed_as(claim)) {
            claims.push(graph.claim_memory()?);
        }
        Ok(())
    }

    fn current_plan(&self) -> Res<Arc<LaunchPlan>> {
        let mut state = self.state.lock().ignore_poison();
        if let Some(plan) = &state.plan {
            return Ok(plan.clone());
        }
        let plan = Arc::new(LaunchPlan::from_nodes(&state.body, state.objects.clone())?);
        state.plan = Some(plan.clone());
        Ok(plan)
    }

    /// `cuGraphUpload`
    pub(crate) fn upload_graph(&self) -> Res {
        self.current_plan()?.map_memory();
        Ok(())
    }

    /// Runs the graph in the stream's order, and after its last launch.
    pub(crate) fn launch_graph(&self, ctx: &Arc<Context>, stream: &Arc<Stream>) -> Res {
        let plan = self.current_plan()?;
        plan.allocate_and_free(self.flags)?;
        plan.limit_kernels.iter().for_each(|kernel| ctx.note_launch(kernel));
        let mut last = self.last.lock().ignore_poison();
        let before = last.take().filter(|f| f.stream().id != stream.id && !f.is_point_reached());
        let here = before.is_none() && plan.can_run_inline && plan.short_running.load(Ordering::Relaxed);
        if here && let Some(_turn) = stream.try_run_inline(ctx) {
            drop(last);
            let generation = ctx.cancel.interrupt_generation();
            // As with kernels, a fault is told by the next call that looks.
            return plan.run_inline(ctx, generation).or_else(|e| if ctx.poison(&e) { Ok(()) } else { Err(e) });
        }
        if let Some(fence) = before {
            stream.submit_operation(ctx, StreamPoints::from_elem(fence, 1), OperationWork::Wait);
        }
        plan.submit_steps(ctx, stream);
        *last = Some(stream.last_submitted_point());
        Ok(())
    }

    /// Replaces what a node does.
    pub(crate) fn set_node_action(&self, node: u64, action: NodeAction) -> Res {
        let child = if let NodeAction::Child(graph) = &action { Some(vec![ordered_exec_nodes(graph)?]) } else { None };
        self.modify_exec_node(node, |n| {
            ensure(n.action.node_type() == action.node_type(), ResultCode::INVALID_VALUE)?;
            if let Some(child) = child {
                let outcome = update::check_update_of_bodies(&n.inside, &child, NodePairing::Order);
                ensure(outcome.is_ok(), CHANGED_CHILD_GRAPH_CODE)?;
                replace_parameters_of_bodies(&mut n.inside, child);
            } else {
                ensure(update::can_replace(&n.action, &action), ResultCode::INVALID_VALUE)?;
                n.action = action;
            }
            Ok(())
        })
    }

    /// Switches a node on or off.
    pub(crate) fn set_node_enabled(&self, node: u64, enabled: bool) -> Res {
        self.modify_exec_node(node, |n| {
            ensure(can_be_disabled(&n.action), ResultCode::INVALID_VALUE)?;
            n.enabled = enabled;
            Ok(())
        })
    }

    /// Whether a node is switched on.
    pub(crate) fn is_node_enabled(&self, node: u64) -> Res<bool> {
        let mut state = self.state.lock().ignore_poison();
        let node = find_node_mut(&mut state.body, node).filter(|n| can_be_disabled(&n.action));
        node.map(|n| n.enabled).ok_or(ResultCode::INVALID_VALUE.into())
    }

    fn modify_exec_node(&self, node: u64, change: impl FnOnce(&mut ExecNode) -> Res) -> Res {
        let mut state = self.state.lock().ignore_poison();
        change(find_node_mut(&mut state.body, node).ok_or(ResultCode::INVALID_VALUE)?)?;
        state.plan = None;
        Ok(())
    }

    /// `cuGraphExecUpdate`: takes over what the nodes of a graph of the same shape do. Else says
    /// what differs.
    pub(crate) fn update_from_graph(&self, graph: &Graph, pairing: NodePairing) -> Result<(), UpdateProblem> {
        let problem = |difference| UpdateProblem { difference, node: 0, from: 0 };
        let body = ordered_exec_nodes(graph).map_err(|_| problem(GraphDifference::Topology))?;
        let mut state = self.state.lock().ignore_poison();
        update::check_update(&state.body, &body, pairing)?;
        if graph.has_memory_nodes() {
            self.claim_memory_of(graph).map_err(|_| problem(GraphDifference::Parameters))?;
        }
        replace_parameters(&mut state.body, body);
        state.plan = None;
        let former = std::mem::replace(&mut state.objects, collect_user_objects(graph).into());
        // Dropped without the lock: this may call the program.
        drop(state);
        drop(former);
        Ok(())
    }
}

/// Takes over actions; the nodes keep their names.
fn replace_parameters(old: &mut [ExecNode], new: Vec<ExecNode>) {
    for (o, n) in old.iter_mut().zip(new) {
        if !matches!(n.action, NodeAction::Child(_)) {
            o.action = n.action;
        }
        replace_parameters_of_bodies(&mut o.inside, n.inside);
    }
}

fn replace_parameters_of_bodies(old: &mut [Vec<ExecNode>], new: Vec<Vec<ExecNode>>) {
    old.iter_mut().zip(new).for_each(|(old, new)| replace_parameters(old, new));
}

/// Whether a node can be switched off, and be asked whether it is.
fn can_be_disabled(action: &NodeAction) -> bool {
    matches!(action, NodeAction::Kernel(_) | NodeAction::Copy(_) | NodeAction::Memset(_))
}
