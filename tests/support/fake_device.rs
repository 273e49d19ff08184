//! A device that runs on another one and claims to be a third: with other properties, without capabilities, and with a
//! record of what it was asked for. So tests run the kernels of large GPUs, and what devices do that have less, on the
//! device that is there.
#![allow(dead_code, unreachable_pub, reason = "each crate's tests use a part")]

use rtcg_hal::{
    Allocator, ArgsView, ArrayBuffer, ArrayContext, Cooperative, Device, DeviceInfo, ExecutionModel, Graphs, Kernel,
    KernelText, PinnedReads, Queue, Result,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A large GPU of compute capability 8.0.
pub const LARGE_GPU: DeviceInfo = DeviceInfo {
    multiprocessors: 132,
    max_blocks: 4 * 132 * 8,
    execution: ExecutionModel::Simt,
    vector_bytes: 16,
    bulk_copy_smem_bytes: 0,
    shared_bytes: 160 << 10,
    compute_capability: 80,
};

/// What a fake device was asked for.
#[derive(Debug, Default)]
pub struct DeviceRecord {
    /// The sources that were compiled.
    pub sources: Mutex<Vec<String>>,
    /// The number of launches.
    pub launches: AtomicUsize,
    /// The number of allocations.
    pub allocations: AtomicUsize,
}

/// Compiles a kernel.
type CompileHook = Box<dyn Fn(&KernelText<'_>) -> Result<Arc<dyn Kernel>> + Send + Sync>;

/// The device; by default as the one that it runs on.
pub struct FakeDevice {
    device: Arc<dyn Device>,
    info: DeviceInfo,
    has_capabilities: bool,
    compile: Option<CompileHook>,
    record: Arc<DeviceRecord>,
}

impl FakeDevice {
    /// A device that runs on `device`.
    pub fn on(device: Arc<dyn Device>) -> Self {
        let info = device.device_info();
        let record = Arc::default();
        Self { device, info, has_capabilities: true, compile: None, record }
    }

    /// Claims other properties.
    #[must_use]
    pub fn claiming(self, info: DeviceInfo) -> Self {
        Self { info, ..self }
    }

    /// Has no asynchronous reads, no graphs and no cooperative launches.
    #[must_use]
    pub fn without_capabilities(self) -> Self {
        Self { has_capabilities: false, ..self }
    }

    /// Compiles by `compile` instead.
    #[must_use]
    pub fn compiling_with(
        self,
        compile: impl Fn(&KernelText<'_>) -> Result<Arc<dyn Kernel>> + Send + Sync + 'static,
    ) -> Self {
        Self { compile: Some(Box::new(compile)), ..self }
    }

    /// Arrays on the device, and its record.
    pub fn context(self) -> (Arc<ArrayContext>, Arc<DeviceRecord>) {
        let record = Arc::clone(&self.record);
        (ArrayContext::new(Arc::new(self)), record)
    }
}

impl Device for FakeDevice {
    fn device_info(&self) -> DeviceInfo {
        self.info
    }
    fn context_number(&self) -> u64 {
        self.device.context_number()
    }
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn ArrayBuffer>> {
        self.record.allocations.fetch_add(1, Ordering::Relaxed);
        self.device.alloc(nbytes)
    }
    fn allocator(&self) -> Option<Allocator> {
        self.device.allocator()
    }
    fn compile(&self, text: &KernelText<'_>) -> Result<Arc<dyn Kernel>> {
        self.record.sources.lock().unwrap().push(text.source.to_owned());
        match &self.compile {
            Some(compile) => compile(text),
            None => self.device.compile(text),
        }
    }
    fn queue(&self) -> &dyn Queue {
        self
    }
    fn is_current(&self) -> bool {
        self.device.is_current()
    }
    fn inaccessible_owner(&self, address: u64) -> Option<[String; 2]> {
        self.device.inaccessible_owner(address)
    }
    fn synchronize(&self) -> Result<()> {
        self.device.synchronize()
    }
    fn pinned_reads(&self) -> Option<&dyn PinnedReads> {
        self.device.pinned_reads().filter(|_| self.has_capabilities)
    }
    fn graphs(&self) -> Option<&dyn Graphs> {
        self.device.graphs().filter(|_| self.has_capabilities)
    }
    fn cooperative(&self) -> Option<&dyn Cooperative> {
        self.device.cooperative().filter(|_| self.has_capabilities)
    }
    fn release_cached_memory(&self) -> bool {
        self.device.release_cached_memory()
    }
    fn cached_bytes(&self) -> usize {
        self.device.cached_bytes()
    }
}

impl Queue for FakeDevice {
    fn write(&self, dst: u64, src: &[u8]) -> Result<()> {
        self.device.queue().write(dst, src)
    }
    fn read(&self, dst: &mut [u8], src: u64) -> Result<()> {
        self.device.queue().read(dst, src)
    }
    fn copy(&self, dst: u64, src: u64, nbytes: usize) -> Result<()> {
        self.device.queue().copy(dst, src, nbytes)
    }
    fn fill_zero(&self, dst: u64, nbytes: usize) -> Result<()> {
        self.device.queue().fill_zero(dst, nbytes)
    }
    fn launch(
        &self,
        kernel: &Arc<dyn Kernel>,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        args: ArgsView<'_>,
    ) -> Result<()> {
        self.record.launches.fetch_add(1, Ordering::Relaxed);
        self.device.queue().launch(kernel, grid, block, shared_bytes, args)
    }
    fn reduction_workspace(&self, nbytes: usize) -> Result<(u64, u64)> {
        self.device.queue().reduction_workspace(nbytes)
    }
    fn number(&self) -> Result<Option<u64>> {
        self.device.queue().number()
    }
}
