//! `DeviceVec` and `PinnedVec`: parts, copies that wait and copies that do not.

use rtcg::driver::sys::CU_STREAM_CAPTURE_MODE_RELAXED;
use rtcg::driver::{Device, StreamFlags};
use rtcg::prelude::*;

/// Begins late, so that what does not wait for it comes first.
const FILL_LATE: &str = "__global__ void fill_late(int *a, int value)
{
    long long start = clock64();
    while (clock64() - start < 20000000) {}
    a[threadIdx.x] = value;
}";

fn fill_late(ctx: &Context) -> Function {
    ctx.compile(FILL_LATE).unwrap().function("fill_late").unwrap()
}

#[test]
fn parts_share_memory_and_hold_it() {
    let ctx = Context::new().unwrap();
    let a = ctx.to_device(&[0i32, 1, 2, 3, 4, 5]).unwrap();
    let (middle, rest) = (a.slice(1..=3).unwrap(), a.slice(4..).unwrap());
    let inner = middle.slice(1..).unwrap();
    assert_eq!((middle.len(), inner.to_vec().unwrap(), inner.ptr()), (3, vec![2, 3], a.ptr() + 8));
    assert!(a.slice(6..).unwrap().is_empty() && a.slice(2..2).unwrap().to_vec().unwrap().is_empty());
    inner.write(&[20]).unwrap();
    let copy = a.try_clone().unwrap();
    a.share().write(&[9]).unwrap();
    rest.copy_from(&inner).unwrap();
    drop((a, middle));
    assert_eq!(copy.to_vec().unwrap(), [0, 1, 20, 3, 4, 5]);
    assert_eq!((inner.to_vec().unwrap(), rest.to_vec().unwrap()), (vec![20, 3], vec![20, 3]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let ctx = Context::new().unwrap();
    let a = ctx.zeros::<i32>(4).unwrap();
    #[expect(clippy::reversed_empty_ranges, reason = "a wrong range is what is tried")]
    for range in [3..5, 2..1] {
        let text = a.slice(range).unwrap_err().to_string();
        assert!(text.contains("expected one inside of 0..4"), "{text}");
    }
    let refused = |result: rtcg::Result<()>| result.unwrap_err().to_string();
    assert!(refused(a.read_into(&mut [0; 3])).contains("host has 3 elements; expected 4"));
    assert!(refused(a.write(&[0; 5])).contains("host has 5 elements; the memory has 4"));
    assert!(refused(a.copy_from(&ctx.zeros(3).unwrap())).contains("source has 3 elements; expected 4"));
    let overlap = a.slice(..3).unwrap().copy_from(&a.slice(1..).unwrap());
    assert!(refused(overlap).contains("overlaps"));
    let (stream, host) = (ctx.stream().unwrap(), ctx.pinned::<i32>(5).unwrap());
    assert!(a.read_async(host, &stream).unwrap_err().to_string().contains("host has 5 elements; expected 4"));
    assert!(ctx.pinned::<f64>(usize::MAX / 2).is_err());
}

#[test]
fn copies_in_streams_come_after_all_earlier_work() {
    let ctx = Context::new().unwrap();
    let late = fill_late(&ctx);
    let non_blocking = || ctx.stream_with_flags(StreamFlags::NON_BLOCKING).unwrap();
    let (one, two) = (non_blocking(), non_blocking());
    let (a, b) = (ctx.zeros::<i32>(4).unwrap(), ctx.zeros::<i32>(4).unwrap());
    let fill = |stream, value: i32| {
        let grid = Grid::new(1, 4);
        // SAFETY: the kernel writes four elements.
        unsafe {
            late.launch(if let Some(stream) = stream { grid.stream(stream) } else { grid }, &[&a, &value]).unwrap()
        }
    };
    fill(Some(&one), 1);
    assert_eq!(a.to_vec_in(&two).unwrap(), [1; 4], "to a vector, after another stream");
    fill(None, 2);
    assert_eq!(a.to_vec_in(&two).unwrap(), [2; 4], "to a vector, after the default stream");
    fill(Some(&one), 3);
    let read = a.read_async(ctx.pinned(4).unwrap(), &two).unwrap();
    assert_eq!(*read.wait().unwrap(), [3; 4], "to page-locked memory");
    fill(Some(&one), 4);
    b.copy_from_in(&a, &two).unwrap();
    assert_eq!(b.to_vec().unwrap(), [4; 4], "on the device");
    fill(Some(&one), 5);
    b.copy_from(&a).unwrap();
    assert_eq!(b.to_vec().unwrap(), [5; 4], "on the device, waiting");
    fill(Some(&one), 6);
    let mut host = ctx.pinned::<i32>(4).unwrap();
    host.fill(7);
    let written = a.write_async(host, &two).unwrap();
    assert_eq!(a.to_vec().unwrap(), [7; 4], "from page-locked memory");
    assert!(written.is_done().unwrap());
    // Dropping a copy in flight waits for it.
    fill(Some(&one), 8);
    drop(a.read_async(written.wait().unwrap(), &two).unwrap());
    assert!(one.is_done().unwrap() && two.is_done().unwrap());
}

#[test]
fn a_graph_does_not_take_page_locked_memory() {
    own_process!();
    let ctx = Context::new().unwrap();
    let (stream, a, b) = (ctx.stream().unwrap(), ctx.to_device(&[1i32, 2]).unwrap(), ctx.zeros(2).unwrap());
    let captured = stream.capture(CU_STREAM_CAPTURE_MODE_RELAXED, || {
        b.copy_from_in(&a, &stream)?;
        let error = a.read_async(ctx.pinned(2)?, &stream).unwrap_err();
        assert!(error.to_string().contains("cannot own memory of the host"), "{error}");
        rtcg::Result::Ok(())
    });
    let exec = captured.unwrap().0.instantiate(0).unwrap();
    assert_eq!(b.to_vec().unwrap(), [0, 0]);
    exec.launch(Some(&stream)).unwrap();
    assert_eq!(b.to_vec().unwrap(), [1, 2]);
}

#[test]
fn a_capture_has_the_errors_of_its_body() {
    own_process!();
    let ctx = Context::new().unwrap();
    let stream = ctx.stream().unwrap();
    let failed: anyhow::Result<_> = stream.capture(CU_STREAM_CAPTURE_MODE_RELAXED, || {
        anyhow::ensure!(stream.is_capturing()?, "it is not captured");
        "x".parse::<i32>()?;
        Ok(())
    });
    assert!(failed.unwrap_err().is::<std::num::ParseIntError>());
    assert!(!stream.is_capturing().unwrap());
    let failed: anyhow::Result<()> = ctx.with_current(|| anyhow::bail!("mine"));
    assert_eq!(failed.unwrap_err().to_string(), "mine");
}

#[test]
fn devices_copy_to_each_other_from_threads() {
    own_process!("RTCG_VIRTUAL_DEVICES" = "2");
    // The first question initialises.
    assert!(Device::count().unwrap() >= 2);
    let devices = Device::all().unwrap();
    let virtual_ones: Vec<_> = devices.iter().filter(|device| device.is_virtual()).take(2).collect();
    let contexts: Vec<_> = virtual_ones.iter().map(|device| Context::retain_primary(device).unwrap()).collect();
    let parts: Vec<_> = std::thread::scope(|scope| {
        let run = |ctx: &Context, value: i32| {
            let a = ctx.zeros::<i32>(4).unwrap();
            // SAFETY: the kernel writes four elements.
            unsafe { fill_late(ctx).launch(Grid::new(1, 4), &[&a, &value]).unwrap() };
            a
        };
        let threads: Vec<_> =
            contexts.iter().zip([3, 4]).map(|(ctx, value)| scope.spawn(move || run(ctx, value))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let both = contexts[0].zeros::<i32>(8).unwrap();
    both.slice(..4).unwrap().copy_from(&parts[0]).unwrap();
    both.slice(4..).unwrap().copy_from(&parts[1]).unwrap();
    assert_eq!(both.to_vec().unwrap(), [3, 3, 3, 3, 4, 4, 4, 4]);
}

#[test]
fn page_locked_memory_outlives_its_context() {
    let device = Device::new(0).unwrap();
    let own = device.make_context(0).unwrap();
    let mut host = Context::from(own.clone()).pinned::<u64>(1000).unwrap();
    own.detach().unwrap();
    host[999] = 5;
    assert_eq!(host.iter().sum::<u64>(), 5);
}
