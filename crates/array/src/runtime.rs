//! What an array needs from a device: memory, copies, compiled kernels.

use crate::error::Result;
use rtcg_codegen::Elementwise;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Device memory that is freed when the last reference goes.
pub trait Buffer: Send + Sync + Any {
    /// Address of the first byte on the device.
    fn device_ptr(&self) -> u64;
    /// For the runtime's own users, who know the concrete type.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// One argument of a kernel launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KernelArg {
    /// A device pointer.
    Ptr(u64),
    /// A `size_t`.
    Size(u64),
    /// The first `len` bytes of `bytes`, by value.
    Value {
        /// Little-endian contents.
        bytes: [u8; 16],
        /// 1, 2, 4, 8 or 16.
        len: u8,
    },
}

/// A compiled kernel.
pub trait Kernel: Send + Sync {
    /// Enqueues the kernel over `n` elements with a geometry that suits the device; does not wait.
    fn launch_over(&self, n: usize, args: &[KernelArg]) -> Result<()>;
}

/// A device as arrays see it. All copies wait until they are done.
pub trait Runtime: Send + Sync {
    /// Allocates at least one byte.
    fn alloc(&self, nbytes: usize) -> Result<Arc<dyn Buffer>>;
    /// Copies host bytes to the device.
    fn write(&self, dst: u64, src: &[u8]) -> Result<()>;
    /// Copies device bytes to the host.
    fn read(&self, dst: &mut [u8], src: u64) -> Result<()>;
    /// Copies within the device; ordered after earlier work, does not wait.
    fn copy(&self, dst: u64, src: u64, nbytes: usize) -> Result<()>;
    /// Sets bytes to zero; ordered after earlier work, does not wait.
    fn clear(&self, dst: u64, nbytes: usize) -> Result<()>;
    /// Compiles (or takes from a cache) the kernel `name` in `source`.
    fn compile(&self, source: &str, name: &str) -> Result<Arc<dyn Kernel>>;
}

/// A runtime with the kernels that arrays have already asked it for.
pub struct ArrayContext {
    runtime: Arc<dyn Runtime>,
    kernels: Mutex<HashMap<Elementwise, Arc<dyn Kernel>>>,
}

impl fmt::Debug for ArrayContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayContext").finish_non_exhaustive()
    }
}

impl ArrayContext {
    /// A context with no kernels yet.
    pub fn new(runtime: Arc<dyn Runtime>) -> Arc<Self> {
        Arc::new(Self { runtime, kernels: Mutex::default() })
    }

    /// The device below.
    pub fn runtime(&self) -> &dyn Runtime {
        &*self.runtime
    }

    /// The compiled form of `kernel`, compiled at most once per context (twice if threads race).
    pub fn kernel(&self, kernel: &Elementwise) -> Result<Arc<dyn Kernel>> {
        if let Some(found) = self.lock().get(kernel) {
            return Ok(found.clone());
        }
        let compiled = self.runtime.compile(&kernel.source(), &kernel.name)?;
        self.lock().insert(kernel.clone(), compiled.clone());
        Ok(compiled)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Elementwise, Arc<dyn Kernel>>> {
        // A panic while the map was locked cannot leave it half changed.
        self.kernels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
