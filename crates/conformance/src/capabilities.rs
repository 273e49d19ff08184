//! Capabilities: asynchronous reads, graphs and cooperative launches, and what happens without them.

use crate::host_arrays::{Random, elements, message, vector};
use crate::sparse::upload;
use rtcg_array::Op;
use rtcg_hal::{ArrayContext, ArrayError, Kernel, LaunchArgs, Result};
use rtcg_sparse::{LinearOperator, Method, SolveOptions, SolverMode, StopReason, System, gallery, solve};
use std::sync::Arc;

/// A slot is filled once per start, and can be used again.
pub fn asynchronous_reads_arrive(ctx: &Arc<ArrayContext>) {
    let Some(reads) = ctx.device().pinned_reads() else { return };
    let a = vector(ctx, &[1.5f64, -2.0]);
    let mut slot = reads.read_slot(16).unwrap();
    for round in 0..3 {
        a.binary_in_place(Op::Add, f64::from(round)).unwrap();
        slot.start(a.first_element_address()).unwrap();
        let wanted = elements::<f64>(&a);
        let bytes = match round {
            0 => slot.wait().unwrap(),
            _ => loop {
                if let Some(bytes) = slot.poll().unwrap() {
                    break bytes;
                }
                std::thread::yield_now();
            },
        };
        assert_eq!(bytes, [wanted[0].to_ne_bytes(), wanted[1].to_ne_bytes()].concat(), "round {round}");
    }
}

/// Recording runs nothing, every launch runs all of it, and an error of the body is that of the recording.
pub fn graphs_repeat_what_was_recorded(ctx: &Arc<ArrayContext>) {
    let Some(graphs) = ctx.device().graphs() else { return };
    let [x, sum] = [[1.0f64, 2.0], [0.0, 0.0]].map(|numbers| vector(ctx, &numbers));
    let step = || {
        sum.binary_in_place(Op::Add, &x)?;
        x.binary_in_place(Op::Multiply, 2.0)
    };
    // Kernels are compiled before they are recorded.
    step().unwrap();
    let graph = graphs.record(&mut || step()).unwrap();
    assert_eq!(elements::<f64>(&sum), [1.0, 2.0]);
    (0..3).for_each(|_| graph.launch().unwrap());
    assert_eq!((elements::<f64>(&sum), elements::<f64>(&x)), (vec![15.0, 30.0], vec![16.0, 32.0]));
    let refused = graphs.record(&mut || step().and(Err(ArrayError::value_error("the body failed"))));
    assert!(message(refused).contains("the body failed"));
    step().unwrap();
    assert_eq!(elements::<f64>(&x), [32.0, 64.0]);
}

/// A loop ends when its body says so, or after as many turns as a launch may have.
pub fn loops_in_graphs_end_or_say_what_is_missing(ctx: &Arc<ArrayContext>) {
    let Some(graphs) = ctx.device().graphs() else { return };
    let [count, stop] = [vector(ctx, &[0.0f64]), vector(ctx, &[0.0f64])];
    // Not 0 once there were more than four turns.
    let turn = || {
        count.binary_in_place(Op::Add, 1.0)?;
        stop.assign(&count)?;
        stop.binary_in_place(Op::Subtract, 4.0)?;
        stop.binary_in_place(Op::Maximum, 0.0)
    };
    turn().unwrap();
    count.memset_zero().unwrap();
    let recorded = graphs.record_until(stop.first_element_address(), 3, &mut || turn());
    if let Err(error) = graphs.check_loops() {
        assert!(!error.to_string().is_empty());
        assert!(recorded.is_err());
        return;
    }
    let graph = recorded.unwrap();
    for wanted in [3.0, 5.0] {
        graph.launch().unwrap();
        assert_eq!(elements::<f64>(&count), [wanted]);
    }
}

/// A kernel of another runtime.
struct ForeignKernel;

impl Kernel for ForeignKernel {
    fn resident_blocks(&self, _: u32, _: u32) -> Result<u32> {
        Ok(1)
    }
}

/// Kernels of other devices are refused.
pub fn launches_know_their_own_kernels(ctx: &Arc<ArrayContext>) {
    let (foreign, args): (Arc<dyn Kernel>, _) = (Arc::new(ForeignKernel), LaunchArgs::new());
    assert!(message(ctx.queue().launch(&foreign, [1, 1, 1], [32, 1, 1], 0, args.view())).contains("kernel"));
    let Some(cooperative) = ctx.device().cooperative() else { return };
    assert!(message(cooperative.launch(&*foreign, [1, 1, 1], [32, 1, 1], 0, false, args.view())).contains("kernel"));
}

/// Every mode that a device has gives the same bits. A mode that needs more is refused by the name of what is missing,
/// and the automatic choice gives it as a reason.
pub fn solvers_use_what_a_device_has_and_say_what_it_lacks(ctx: &Arc<ArrayContext>) {
    let device = ctx.device();
    let a = upload(ctx, &gallery::poisson(&[17, 13]));
    let b = vector(ctx, &Random(7).numbers(17 * 13));
    let solved = |mode| {
        let options = SolveOptions { rtol: 1e-10, check_every: 10, mode, ..SolveOptions::default() };
        solve(&Method::CG, &System::from(&a as &dyn LinearOperator), &b, None, &options, None)
    };
    let by_launches = solved(SolverMode::Stream).unwrap();
    let wanted: Vec<f64> = elements(&by_launches.x);
    assert_eq!(by_launches.reason, StopReason::Converged);
    assert_eq!(by_launches.waits_in_loop == 0, device.pinned_reads().is_some(), "waits where it cannot poll");
    for mode in [SolverMode::Graph, SolverMode::Device, SolverMode::Persistent] {
        let is_possible = match mode {
            SolverMode::Graph => device.graphs().is_some(),
            SolverMode::Device => device.graphs().is_some_and(|graphs| graphs.check_loops().is_ok()),
            _ => device.cooperative().is_some(),
        };
        match solved(mode) {
            Ok(report) => {
                assert!(is_possible, "{mode:?} of a device without it");
                assert_eq!((report.reason, report.mode), (StopReason::Converged, mode));
                assert_eq!(elements::<f64>(&report.x), wanted, "{mode:?}");
            }
            Err(error) => {
                assert!(!is_possible, "{mode:?}: {error}");
                let error = error.to_string();
                let lacks = if mode == SolverMode::Persistent { "cooperative launches" } else { "graphs" };
                assert!(error.contains(lacks) && error.contains("expected"), "{mode:?}: {error}");
            }
        }
    }
    let automatic = solved(SolverMode::Auto).unwrap();
    assert_eq!(elements::<f64>(&automatic.x), wanted);
    if device.graphs().is_none() && device.cooperative().is_none() {
        assert_eq!(automatic.mode, SolverMode::Stream);
        let reason = &automatic.mode_reason;
        assert!(reason.contains("needs graphs") && reason.contains("cooperative launches"), "{reason}");
    }
}
