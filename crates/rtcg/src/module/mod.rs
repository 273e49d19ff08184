//! Compiled and loaded programs, and their kernels and variables.

mod cpp_names;
mod device_global;

use crate::context::Context;
use crate::element::Element;
use crate::launch::Function;
pub use cpp_names::NamedModule;
pub use device_global::DeviceGlobal;
use rtcg_compile::{CompileRequest, Compiler};
use rtcg_cuda::{Result, device_compile_target};

/// A loaded program.
#[derive(Debug, Clone)]
pub struct Module {
    ctx: Context,
    inner: NamedModule,
}

impl Module {
    /// Finds a kernel by name. In a program with C++ linkage (`no_extern_c`) it may be any C++ name, such as `ns::f` or
    /// `f<float>`.
    ///
    /// # Errors
    /// When there is no such kernel.
    pub fn function(&self, name: &str) -> Result<Function> {
        Ok(Function::new(self.ctx.clone(), self.inner.function(name)?))
    }

    /// Finds a variable by name, as elements of one type.
    ///
    /// # Errors
    /// When there is no such variable, or its size is not a multiple of an element's.
    pub fn global_variable<T: Element>(&self, name: &str) -> Result<DeviceGlobal<T>> {
        let (ptr, nbytes) = self.inner.global(name)?;
        DeviceGlobal::new(&self.ctx, self, name, ptr, nbytes)
    }

    /// The underlying driver module.
    pub fn driver_module(&self) -> &rtcg_driver::Module {
        &self.inner
    }
}

/// Programs for a context.
impl Context {
    /// Compiles CUDA C++ with default options and loads it. Kernels get C linkage, so their plain names find them.
    /// Compiled programs are cached on disk.
    ///
    /// # Errors
    /// When the source does not compile; the error carries the compiler's log and the source lines it refers to.
    pub fn compile(&self, source: &str) -> Result<Module> {
        self.compile_with(&CompileRequest::new(source, device_compile_target(&self.device())?))
    }

    /// Compiles as `request` says and loads the result.
    ///
    /// # Errors
    /// As [`Context::compile`].
    pub fn compile_with(&self, request: &CompileRequest) -> Result<Module> {
        let artifact = Compiler.compile(request)?;
        let inner = self.enter(|| NamedModule::load(request.clone(), &artifact))?;
        Ok(Module { ctx: self.clone(), inner })
    }

    /// Loads PTX, a cubin or a fat binary.
    ///
    /// # Errors
    /// When the driver refuses the image; the message contains the driver's log.
    pub fn load(&self, image: &[u8]) -> Result<Module> {
        let module = self.enter(|| rtcg_driver::Module::from_image(image))?;
        Ok(Module { ctx: self.clone(), inner: module.into() })
    }
}
