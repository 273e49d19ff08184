//! A launch that is made ready once and enqueued any number of times.

use crate::device::{ArrayBuffer, Queue};
use crate::error::Result;
use crate::kernel_spec::KernelSpec;
use crate::launch::{Kernel, LaunchArgs};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A kernel with its grid and arguments, to be enqueued any number of times. Arrays whose addresses are among the
/// arguments must outlive it, or be kept by it.
pub struct Launch {
    /// The compiled kernel.
    pub kernel: Arc<dyn Kernel>,
    /// Blocks along each axis.
    pub grid: [u32; 3],
    /// Threads of a block along each axis.
    pub block: [u32; 3],
    /// Bytes of shared memory beside what the kernel declares.
    pub shared_bytes: u32,
    /// What the kernel gets.
    pub args: LaunchArgs,
    /// Memory of its own.
    pub keeps: Vec<Arc<dyn ArrayBuffer>>,
    text: Option<LaunchText>,
}

/// Generates the name and the source of a kernel.
type LaunchText = Box<dyn Fn() -> (Cow<'static, str>, String) + Send + Sync>;

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch").field("grid", &self.grid).field("block", &self.block).finish_non_exhaustive()
    }
}

impl Launch {
    /// Of a compiled form of `spec`.
    pub(crate) fn new<K: KernelSpec>(
        kernel: Arc<dyn Kernel>,
        spec: &K,
        [grid, block]: [[u32; 3]; 2],
        args: LaunchArgs,
    ) -> Self {
        let spec = spec.clone();
        let text: LaunchText = Box::new(move || (spec.kernel_name(), spec.source()));
        Self { kernel, grid, block, shared_bytes: 0, args, keeps: Vec::new(), text: Some(text) }
    }

    /// The name of the kernel, and its source; `None` for what was recorded.
    pub fn text(&self) -> Option<(Cow<'static, str>, String)> {
        self.text.as_ref().map(|text| text())
    }

    /// The same as was enqueued.
    pub(crate) fn recorded(
        kernel: &Arc<dyn Kernel>,
        [grid, block]: [[u32; 3]; 2],
        shared_bytes: u32,
        args: LaunchArgs,
    ) -> Self {
        Self { kernel: kernel.clone(), grid, block, shared_bytes, args, keeps: Vec::new(), text: None }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// When the device fails.
    pub fn enqueue(&self, queue: &dyn Queue) -> Result<()> {
        self.enqueue_packed(queue, self.args.packed_bytes())
    }

    /// Enqueues one after the other.
    ///
    /// # Errors
    /// As [`Launch::enqueue`].
    pub fn enqueue_all(launches: &[Self], queue: &dyn Queue) -> Result<()> {
        launches.iter().try_for_each(|launch| launch.enqueue(queue))
    }

    /// Enqueues it with a changed copy of the packed arguments.
    ///
    /// # Errors
    /// As [`Launch::enqueue`].
    #[inline]
    pub fn enqueue_packed(&self, queue: &dyn Queue, packed: &[u8]) -> Result<()> {
        queue.launch(&self.kernel, self.grid, self.block, self.shared_bytes, self.args.view_of(packed))
    }
}
