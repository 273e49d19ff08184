//! A function of the arithmetic by itself, compiled and put into memory: for tests.

use crate::emit::code::image::{CodeImageBuilder, MappedImage};
use crate::emit::code::relocations::RelocTarget;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;

/// A function in memory, which is freed when dropped.
#[derive(Debug)]
pub struct StandaloneFunction {
    placed: MappedImage,
    start: u32,
}

impl StandaloneFunction {
    /// Compiles the function of `context`, which calls Rust functions at most.
    ///
    /// # Errors
    /// Cranelift refuses it, or the system gives no memory; the text says why.
    pub fn compile_function(context: &mut Context, isa: &dyn TargetIsa) -> Result<StandaloneFunction, String> {
        context.compile(isa, &mut ControlPlane::default()).map_err(|e| format!("{:?}", e.inner))?;
        let code = context.compiled_code().ok_or("no code")?;
        let mut builder = CodeImageBuilder::default();
        let start = builder.add_function(code, &context.func, isa)?;
        Ok(StandaloneFunction {
            placed: MappedImage::new(&builder.finish_image()?, RelocTarget::address_in_program)?,
            start,
        })
    }

    /// Where it begins.
    pub fn entry_address(&self) -> usize {
        self.placed.address_of_offset(self.start)
    }
}
