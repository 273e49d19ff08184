//! Messages of the loader and the linker, written to where a program wants them.

use std::ffi::c_uint;

/// Where the caller wants messages. Addresses, because a linker keeps them between calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JitLogs {
    pub(crate) info: LogBuffer,
    pub(crate) error: LogBuffer,
    /// Where the wall time goes.
    pub(crate) wall_time: usize,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LogBuffer {
    pub(crate) start: usize,
    pub(crate) size: usize,
    /// Where the number of bytes written goes.
    pub(crate) size_place: usize,
}

impl JitLogs {
    /// Writes messages to where the caller wants them.
    ///
    /// # Safety
    /// The buffers are still valid.
    pub(crate) unsafe fn write_logs(&self, info: &str, error: &str) {
        // SAFETY: this function's contract.
        unsafe {
            self.info.write_text(info);
            self.error.write_text(error);
        }
    }
}

impl LogBuffer {
    /// # Safety
    /// The buffer and the place of its size are still valid.
    unsafe fn write_text(&self, text: &str) {
        let mut written = 0;
        if self.start != 0 && self.size > 0 {
            written = text.len().min(self.size - 1);
            // SAFETY: `written + 1 <= size`, and the buffer is valid for `size` bytes.
            unsafe {
                std::ptr::copy_nonoverlapping(text.as_ptr(), self.start as *mut u8, written);
                (self.start as *mut u8).add(written).write(0);
            }
        }
        // Of a text that is cut off, the terminating zero is counted, too.
        let is_cut = written > 0 && written < text.len();
        let told = written + usize::from(is_cut);
        if self.size_place != 0 {
            // SAFETY: an element of the caller's array, which is as wide as a pointer.
            unsafe { (self.size_place as *mut c_uint).write_unaligned(told as c_uint) };
        }
    }
}
