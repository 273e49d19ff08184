//! What launches and events cost on the host beside the driver's own calls. Prints; run it by name:
//! `cargo test --release -p rtcg-driver --test integration -- --ignored --nocapture launch_cost`.

use rtcg_driver::sys::*;
use rtcg_driver::{Context, Device, Event, Function, Module};
use std::time::Instant;

const LAUNCHES_PER_ROUND: u32 = 2_000;
const MEASUREMENT_ROUNDS: usize = 15;

/// Median nanoseconds per call over several rounds of `call`, each ended by a wait.
fn nanoseconds_per_call(mut call: impl FnMut()) -> f64 {
    let mut rounds: Vec<f64> = (0..MEASUREMENT_ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..LAUNCHES_PER_ROUND {
                call();
            }
            let elapsed = start.elapsed().as_nanos() as f64;
            Context::synchronize().expect("the kernel does nothing");
            elapsed / f64::from(LAUNCHES_PER_ROUND)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[MEASUREMENT_ROUNDS / 2]
}

fn raw_launch(table: &DriverTable, f: &Function, args: &[u8]) {
    let mut nbytes = args.len();
    let mut extra = [
        CU_LAUNCH_PARAM_BUFFER_POINTER,
        args.as_ptr().cast_mut().cast(),
        CU_LAUNCH_PARAM_BUFFER_SIZE,
        (&raw mut nbytes).cast(),
        CU_LAUNCH_PARAM_END,
    ];
    let (none, stream) = (std::ptr::null_mut(), CUstream::null());
    // SAFETY: the arguments fit the kernel.
    let code = unsafe { table.cuLaunchKernel(f.handle(), 1, 1, 1, 1, 1, 1, 0, stream, none, extra.as_mut_ptr()) };
    assert!(code.is_success());
}

#[test]
#[ignore = "a measurement, not a check"]
fn print_launch_cost() {
    rtcg_driver::init(0).expect("there is a device");
    let device = Device::new(0).expect("there is a device");
    let ctx = device.make_context(0).expect("a context can be made");
    let module = Module::from_image(include_bytes!("kernels.ptx")).expect("the module loads");
    let scale = module.function("scale").expect("it has this kernel");
    let args = [0u8; 16];
    println!("{}", device.name().unwrap_or_default());
    for _ in 0..2 {
        let raw = nanoseconds_per_call(|| raw_launch(ctx.driver_table(), &scale, &args));
        let ours = nanoseconds_per_call(|| {
            // SAFETY: the arguments fit the kernel, which does nothing for n = 0.
            unsafe { scale.launch([1, 1, 1], [1, 1, 1], 0, None, &args) }.expect("it launches");
        });
        let packed = nanoseconds_per_call(|| {
            let mut packer = scale.arg_packer();
            packer.push(&[0; 8], 8).expect("a pointer");
            packer.push(&[0; 4], 4).expect("a float");
            packer.push(&[0; 4], 4).expect("a count");
            let args = packer.packed_bytes().expect("all arguments");
            // SAFETY: the arguments fit the kernel, which does nothing for n = 0.
            unsafe { scale.launch([1, 1, 1], [1, 1, 1], 0, None, args) }.expect("it launches");
        });
        println!("cuLaunchKernel {raw:.0} ns; prepared +{:.0} ns; packed +{:.0} ns", ours - raw, packed - raw);
        let event = Event::new(0).expect("an event can be made");
        let (table, stream) = (ctx.driver_table(), CUstream::null());
        let raw = nanoseconds_per_call(|| {
            // SAFETY: the event is alive.
            assert!(unsafe { table.cuEventRecord(event.handle(), stream) }.is_success());
        });
        let ours = nanoseconds_per_call(|| event.record(None).expect("it records"));
        println!("cuEventRecord {raw:.0} ns; record +{:.0} ns", ours - raw);
    }
}
