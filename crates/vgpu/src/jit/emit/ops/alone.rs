//! A function of the arithmetic by itself, compiled and put into memory: for tests.

use crate::jit::emit::image::{Builder, Placed};
use crate::jit::emit::links::Link;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;

/// A function in memory, which is freed when dropped.
#[derive(Debug)]
pub struct Alone {
    placed: Placed,
    start: u32,
}

impl Alone {
    /// Compiles the function of `context`, which calls Rust functions at most.
    ///
    /// # Errors
    /// Cranelift refuses it, or the system gives no memory; the text says why.
    pub fn compile(context: &mut Context, isa: &dyn TargetIsa) -> Result<Alone, String> {
        context.compile(isa, &mut ControlPlane::default()).map_err(|e| format!("{:?}", e.inner))?;
        let code = context.compiled_code().ok_or("no code")?;
        let mut builder = Builder::default();
        let start = builder.function(code, &context.func, isa)?;
        Ok(Alone { placed: Placed::new(&builder.finish()?, Link::rust_function)?, start })
    }

    /// Where it begins.
    pub fn address(&self) -> usize {
        self.placed.at(self.start)
    }
}
