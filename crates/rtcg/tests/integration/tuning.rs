//! Searches over kernels on the device of these tests: how launches are timed, and what the device's sensors add.

use rtcg::KernelTarget;
use rtcg::compile::CompileRequest;
use rtcg::prelude::*;
use rtcg::tune::{
    Budget, Config, EnqueueError, LaunchTimer, Report, Sensor, Space, TunerOptions, WindowKind, device_sensors,
    strategies, tune,
};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

fn block(config: &Config) -> u32 {
    config.get("block").and_then(|value| value.as_f64()).unwrap() as u32
}

/// Tunes the block of a small kernel.
fn search(is_cold: bool, options: &TunerOptions) -> Report {
    let ctx = Context::new().unwrap();
    let target = rtcg::device_compile_target(&ctx.device()).unwrap();
    let z = ctx.zeros::<f32>(1000).unwrap();
    let request = move |config: &Config| {
        let source = format!(
            "__global__ void one(float *z) {{
               int i = blockIdx.x * {block} + threadIdx.x; if (i < 1000) z[i] = 1; }}",
            block = block(config)
        );
        CompileRequest::new(source, target)
    };
    let launch = |kernel: &Function, config: &Config| {
        // SAFETY: the kernel stays below 1000.
        unsafe { kernel.launch(Grid::new(1000_u32.div_ceil(block(config)), block(config)), &[&z]) }
    };
    let kernel = KernelTarget::new(&ctx, "one", request, launch);
    let mut kernel = if is_cold { kernel.cold().unwrap() } else { kernel };
    let space = Arc::new(Space::new().parameter("block", [32, 64, 128]).unwrap().enumerate().unwrap());
    let strategy = strategies::by_name("exhaustive", 0).unwrap();
    tune(&mut kernel, &space, strategy, Some(0), &[], options, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn kernels_are_timed_with_cold_and_with_warm_caches() {
    // Launches are captured, while other threads may wait for the context.
    own_process!();
    let options = TunerOptions { budget: Budget::of_evaluations(3), ..TunerOptions::default() };
    for is_cold in [false, true] {
        let report = search(is_cold, &options);
        assert!(report.failures().is_empty() && report.trials.len() == 3, "{report}");
        for trial in &report.trials {
            assert_eq!(trial.window == Some(WindowKind::Cold), is_cold, "{trial:?}");
            assert!(trial.number("score").unwrap() > 0.0);
        }
    }
}

#[test]
fn sensors_that_are_missing_leave_columns_out() {
    // Launches are captured, while other threads may wait for the context.
    own_process!();
    let ctx = Context::new().unwrap();
    let sensors = device_sensors(&ctx.device());
    if let Err(reason) = &sensors {
        assert!(reason.contains("NVML"), "{reason}");
    }
    let has_clock = sensors.as_ref().is_ok_and(|sensors| sensors.read(Sensor::Clock).is_some());
    let observers = vec![Sensor::Clock];
    let report = search(false, &TunerOptions { sensors: sensors.ok(), observers, ..TunerOptions::default() });
    assert!(report.trials.iter().all(|trial| trial.observation("clock").is_some() == has_clock), "{report}");
    assert_eq!(report.clock_change().is_some(), has_clock);
}

#[test]
fn an_error_of_the_launch_is_the_error_of_the_window() {
    // Launches are captured, while other threads may wait for the context.
    own_process!();
    let ctx = Context::new().unwrap();
    ctx.driver_context().push().unwrap();
    let calls = Cell::new(0);
    let outcome = LaunchTimer::new(8).time(20, |_| {
        calls.set(calls.get() + 1);
        Err("refused")
    });
    assert!(matches!(outcome, Err(EnqueueError::Enqueue("refused"))) && calls.get() == 1);
    rtcg::driver::Context::pop().unwrap();
}
