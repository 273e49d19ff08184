//! Source at three levels: plain text, templates and syntax trees. Anything that prints itself as text can be compiled.
//!
//! ```
//! use rtcg::prelude::*;
//! use rtcg::source::{Template, context};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let template = Template::new(
//!     "__global__ void fill({{ dtype|ctype }} *x)\n{\n{% for i in range(n) %}\n  x[{{ i }}] = {{ i * i }};\n{% endfor %}\n}\n",
//! )?;
//! let ctx = Context::new()?;
//! let module = ctx.compile_source(&template.render(context! { dtype => "int32", n => 4 })?)?;
//! let x = ctx.zeros::<i32>(4)?;
//! // SAFETY: the kernel writes four elements.
//! unsafe { module.function("fill")?.launch(Grid::new(1, 1), &[&x])? };
//! assert_eq!(x.to_vec()?, [0, 1, 4, 9]);
//! # Ok(())
//! # }
//! ```

use crate::context::Context;
use crate::module::Module;
pub use rtcg_cgen::Source;
pub use rtcg_cgen::template::{Template, TemplateError, context};
use rtcg_compile::{CompileRequest, Target};
use rtcg_cuda::{Result, device_compile_target};

/// Makes a request to compile `source`; compiler errors refer to the template's lines.
pub fn compile_request(source: &Source, target: Target) -> CompileRequest {
    let mut request = CompileRequest::new(source.text_with_line_directives(), target);
    request.parts = source.template().map(|(name, text)| (name.to_owned(), text.to_owned())).into_iter().collect();
    request
}

impl Context {
    /// [`Context::compile`] for source that may come from a template.
    ///
    /// # Errors
    /// As [`Context::compile`], with the template's line numbers.
    pub fn compile_source(&self, source: &Source) -> Result<Module> {
        self.compile_with(&compile_request(source, device_compile_target(&self.device())?))
    }
}
