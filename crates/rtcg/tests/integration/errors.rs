//! What errors say, also through `anyhow`.

use rtcg::driver::ErrorKind;
use rtcg::prelude::*;

/// What `main` prints, without a backtrace.
fn printed(error: anyhow::Error) -> String {
    format!("{error:?}").split("\n\nStack backtrace").next().unwrap_or_default().to_owned()
}

#[test]
fn anyhow_prints_each_message_once() {
    let ctx = Context::new().unwrap();
    let error = ctx.compile("__global__ void f() { undeclared(); }").unwrap_err();
    assert!(format!("{error:#}").contains("\n[command: NVRTC"), "{error:#}");
    let text = printed(error.into());
    let count = |part: &str| text.matches(part).count();
    assert!(!text.contains("Caused by"), "{text}");
    assert!(count("undeclared\" is undefined") == 1 && count("[command:") == 0, "{text}");

    let arrays = ArrayFactory::new(&ctx).unwrap();
    let error = arrays.from_shape_and_values(&[2], &[1.0f32]).unwrap_err();
    let text = printed(anyhow::Error::from(error).context("reading the input"));
    assert_eq!(text.matches("do not fill an array of shape (2,)").count(), 1, "{text}");
    let error = ctx.zeros::<u8>(1 << 60).unwrap_err();
    assert_eq!(format!("{:#}", anyhow::Error::from(error)).matches("cuMemAlloc failed").count(), 1);
}

#[test]
fn a_program_goes_on_after_a_fault_of_the_virtual_gpu() {
    own_process!();
    let run = |index: u64| -> rtcg::Result<Vec<i32>> {
        let ctx = Context::new()?;
        let set = ctx.compile("__global__ void set(int *a, unsigned long long i) { a[i] = 7; }")?.function("set")?;
        let a = ctx.zeros::<i32>(2)?;
        // SAFETY: the device reports the address that is not its own.
        unsafe { set.launch(Grid::new(1, 1), &[&a, &index])? };
        a.to_vec()
    };
    let is_virtual = Context::new().unwrap().device().is_virtual();
    let is_fault = |error: &rtcg::Error| matches!(error, rtcg::Error::Driver(error) if error.kind == ErrorKind::Fault);
    for _ in 0..2 {
        let error = run(1 << 40).unwrap_err();
        assert!(is_fault(&error), "{error}");
        // A real driver makes no context any more in a process whose kernel faulted.
        match run(1) {
            Ok(result) => assert_eq!(result, [0, 7]),
            Err(error) => assert!(!is_virtual && is_fault(&error), "{error}"),
        }
    }
}
