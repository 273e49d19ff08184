//! Libraries and their kernels, on the first device: loading without a context, functions of each, closing.

use rtcg_driver::sys::*;
use rtcg_driver::{Context, Device, ErrorKind, Kernel, Library};

/// Adds to a variable and tells its value.
const PTX: &[u8] = b"
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .entry count(.param .u64 out)
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [counter];
    add.u32 %r1, %r1, 1;
    st.global.u32 [counter], %r1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

fn launch_counter_kernel(kernel: &Kernel) -> u32 {
    let out = rtcg_driver::DeviceAllocation::new(4).unwrap();
    let function = kernel.function().unwrap();
    let arguments = out.ptr().to_ne_bytes();
    // SAFETY: the kernel writes four bytes to memory that lives.
    unsafe { function.launch_with_options([1; 3], [1; 3], 0, None, &arguments, Default::default()) }.unwrap();
    let mut value = [0_u8; 4];
    out.read(0, &mut value).unwrap();
    u32::from_ne_bytes(value)
}

#[test]
fn a_library_serves_contexts_that_come_and_go() {
    rtcg_driver::init(0).unwrap();
    let device = Device::new(0).unwrap();
    assert!(Context::current().is_none());
    let library = Library::from_image(PTX).unwrap();
    let kernel = library.kernel("count").unwrap();
    assert_eq!(library.kernels().unwrap().len(), 1);
    assert!(kernel.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, &device).unwrap() > 0);
    // A real driver asks for a context before it says what a kernel's parameters are.
    let ctx = device.make_context(0).unwrap();
    assert_eq!(kernel.params().unwrap().len(), 1);
    ctx.close().unwrap();
    let error = kernel.function().unwrap_err();
    assert_eq!((error.kind, error.code), (ErrorKind::Logic, CUresult::CUDA_ERROR_INVALID_CONTEXT), "{error}");
    for _ in 0..3 {
        let context = device.make_context(0).unwrap();
        assert_eq!(launch_counter_kernel(&kernel), 6);
        assert_eq!(launch_counter_kernel(&kernel), 7);
        Context::pop().unwrap();
        context.close().unwrap();
    }
    let context = device.make_context(0).unwrap();
    let module = library.module().unwrap();
    assert_eq!(module.global("counter").unwrap(), library.global("counter").unwrap());
    let function = kernel.function().unwrap();
    library.close().unwrap();
    assert!(module.is_closed());
    // SAFETY: refused before anything runs.
    let launched = unsafe { function.launch_with_options([1; 3], [1; 3], 0, None, &[0; 8], Default::default()) };
    assert!(launched.unwrap_err().to_string().contains("closed"));
    assert!(library.kernel("count").unwrap_err().to_string().contains("closed"));
    context.close().unwrap();
}
