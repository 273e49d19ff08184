//! Whether the arguments of a call fit the declarations of a generated kernel, and the device that runs it.

use crate::context::Context;
use crate::error::Result;
use crate::generators::error::GeneratorError;
use crate::generators::operand::{ArrayView, Value, argument_error, convert_scalar, wrong_type};
use crate::signatures::{number_of_ctype, types_are_checked};
use rtcg_codegen::c_declarations::Argument;
use rtcg_codegen::snippet::ElementUse;
use rtcg_driver::memory::inaccessible_owner_device;

/// Number and kinds of the arguments, and the types and sizes of their elements.
pub(crate) fn check_arguments(
    kernel: &str,
    declared: &[Argument],
    uses: &[ElementUse],
    args: &[Value<'_>],
) -> Result<()> {
    if args.len() != declared.len() {
        let (plural, were) = (if declared.len() == 1 { "" } else { "s" }, if args.len() == 1 { "was" } else { "were" });
        return Err(GeneratorError::of_type(format!(
            "kernel '{kernel}' takes {} argument{plural} ({}), {} {were} given",
            declared.len(),
            declared.iter().map(Argument::declarator).collect::<Vec<_>>().join(", "),
            args.len()
        )));
    }
    for ((value, a), used) in args.iter().zip(declared).zip(uses) {
        let size = a.ctype.itemsize;
        match value {
            Value::Array(_) if !a.is_vector => {
                return wrong_type(&a.name, format_args!("is an array; expected a value of type {}", a.ctype.name));
            }
            Value::Array(view) => check_elements(a, *used, view)?,
            Value::Bytes(_) | Value::Number(..) if a.is_vector => {
                return wrong_type(&a.name, format_args!("is a value; expected an array for '{}'", a.declarator()));
            }
            Value::Bytes(bytes) if bytes.len() != size => {
                return wrong_type(&a.name, format_args!("has {} bytes; '{}' has {size}", bytes.len(), a.declarator()));
            }
            Value::Bytes(_) => {}
            Value::Number(bytes, number) => convert_scalar(bytes, *number, a).map(drop)?,
        }
    }
    Ok(())
}

/// Elements may be what a kernel of a module may be given, and must be as large as those declared, unless the snippet
/// does more with the array than name its elements.
fn check_elements(declared: &Argument, used: ElementUse, view: &ArrayView<'_>) -> Result<()> {
    let size = declared.ctype.itemsize;
    let is_wrong_size = view.itemsize != size && used != ElementUse::Other;
    match (number_of_ctype(&declared.ctype), view.number) {
        (Some(number), Some(given)) if types_are_checked() && (is_wrong_size || !number.accepts_elements(given)) => {
            let (given, number) = (given.dtype_name(), number.dtype_name());
            wrong_type(
                &declared.name,
                format_args!("has dtype {given}; expected {number} for '{}'", declared.declarator()),
            )
        }
        _ if is_wrong_size => wrong_type(
            &declared.name,
            format_args!("has elements of {} bytes; '{}' has {size}", view.itemsize, declared.declarator()),
        ),
        _ => Ok(()),
    }
}

/// Arrays must be in memory that kernels of `ctx` can access. The driver is queried only for memory of another context.
pub(crate) fn check_accessible(ctx: &Context, declared: &[Argument], args: &[Value<'_>]) -> Result<()> {
    let arrays = args.iter().zip(declared).filter_map(|(value, a)| Some((value.as_array()?, a)));
    for (view, a) in arrays {
        check_array(ctx, &a.name, view)?;
    }
    Ok(())
}

/// [`check_accessible`] of one array.
#[inline]
pub(crate) fn check_array(ctx: &Context, name: &str, view: &ArrayView<'_>) -> Result<()> {
    if view.context == 0 || view.context == ctx.number() { Ok(()) } else { check_foreign(ctx, name, view) }
}

#[cold]
fn check_foreign(ctx: &Context, name: &str, view: &ArrayView<'_>) -> Result<()> {
    if view.n_elements() == 0 {
        return Ok(());
    }
    match inaccessible_owner_device(ctx.driver(), view.ptr) {
        None => Ok(()),
        Some(owner) => Err(argument_error(
            name,
            format_args!(
                "lies in memory of {}, which kernels of {} cannot reach; expected an array of the current context, \
                 or peer access to the other one (Context.enable_peer_access)",
                owner.describe(),
                ctx.device().describe()
            ),
        )),
    }
}
