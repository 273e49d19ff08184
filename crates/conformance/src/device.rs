//! The device itself: memory, copies, workspaces, and sources that do not compile.

use rtcg_hal::{ArrayContext, ArrayErrorKind, KernelText, REDUCTION_STATE_BYTES};
use std::sync::Arc;

/// Numbers of bytes around those that copies may be divided by.
const LENGTHS: [usize; 6] = [1, 3, 255, 256, 4097, 1_000_003];

fn pattern(n: usize) -> Vec<u8> {
    (0..n).map(|k| (k * 31 + k / 251) as u8).collect()
}

/// Bytes come back as they were written, from other places of the device too, and from addresses of any alignment.
pub fn memory_is_copied_byte_for_byte(ctx: &Arc<ArrayContext>) {
    let device = ctx.device();
    let nothing = device.alloc(0).unwrap();
    for n in LENGTHS {
        let [first, second] = [0; 2].map(|_| device.alloc(n + 5).unwrap());
        let [from, to] = [&first, &second].map(|buffer| buffer.address_recording_use().unwrap());
        assert!(from.abs_diff(to) >= (n + 5) as u64 && nothing.device_ptr() != from);
        let bytes = pattern(n);
        device.queue().write(from, &bytes).unwrap();
        device.queue().copy(to + 5, from, n).unwrap();
        let mut back = vec![0; n];
        device.queue().read(&mut back, to + 5).unwrap();
        assert!(back == bytes, "{n} bytes");
        let tail = &mut back[..n.div_ceil(2)];
        device.queue().read(tail, to + 5 + (n / 2) as u64).unwrap();
        assert!(tail == &bytes[n / 2..], "the second half of {n} bytes");
    }
}

/// Only the bytes that are asked for become zero.
pub fn memory_is_zeroed_where_it_is_asked_for(ctx: &Arc<ArrayContext>) {
    let device = ctx.device();
    for n in LENGTHS {
        let buffer = device.alloc(n + 2).unwrap();
        let address = buffer.address_recording_use().unwrap();
        device.queue().write(address, &vec![0xa5; n + 2]).unwrap();
        device.queue().fill_zero(address + 1, n).unwrap();
        let mut back = vec![1; n + 2];
        device.queue().read(&mut back, address).unwrap();
        assert_eq!((back[0], back[n + 1]), (0xa5, 0xa5), "{n} bytes");
        assert!(back[1..=n].iter().all(|&byte| byte == 0), "{n} bytes");
    }
}

/// The state of reductions is zero, and the further bytes are others.
pub fn reduction_workspaces_begin_zeroed(ctx: &Arc<ArrayContext>) {
    let device = ctx.device();
    for nbytes in [0, 1, 100_000, 3 << 20] {
        let (state, further) = device.queue().reduction_workspace(nbytes).unwrap();
        device.queue().write(further, &vec![0xff; nbytes]).unwrap();
        let mut bytes = vec![1; REDUCTION_STATE_BYTES];
        device.queue().read(&mut bytes, state).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 0), "with {nbytes} bytes");
    }
    device.synchronize().unwrap();
}

/// Neither a source that is no program nor a name that it lacks becomes a kernel.
pub fn sources_that_do_not_compile_are_errors(ctx: &Arc<ArrayContext>) {
    for source in ["this is no program", ""] {
        let error = ctx.device().compile(&KernelText::new("kernel", source)).err().expect("an error");
        assert_eq!(error.kind(), ArrayErrorKind::Runtime, "{error}");
        assert!(!error.to_string().is_empty());
    }
}
