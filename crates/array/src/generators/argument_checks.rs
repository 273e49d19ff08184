//! Checks that the arguments of a call fit the declarations of a generated kernel and the device that runs it.

use super::operand::{ArrayView, GeneratedKernelArg, argument_error, argument_type_error, convert_scalar};
use rtcg_codegen::c_declarations::Argument;
use rtcg_codegen::snippet::ElementUse;
use rtcg_hal::{ArrayContext, ArrayError, Result, argument_types_are_checked};

/// Number and kinds of the arguments, and the types and sizes of their elements.
pub(super) fn check_arguments(
    kernel: &str,
    declared: &[Argument],
    uses: &[ElementUse],
    args: &[GeneratedKernelArg<'_>],
) -> Result<()> {
    if args.len() != declared.len() {
        let (plural, were) = (if declared.len() == 1 { "" } else { "s" }, if args.len() == 1 { "was" } else { "were" });
        return Err(ArrayError::type_error(format!(
            "kernel '{kernel}' takes {} argument{plural} ({}), {} {were} given",
            declared.len(),
            declared.iter().map(Argument::declarator).collect::<Vec<_>>().join(", "),
            args.len()
        )));
    }
    for ((value, a), used) in args.iter().zip(declared).zip(uses) {
        let size = a.ctype.itemsize;
        match value {
            GeneratedKernelArg::Array(_) if !a.is_vector => {
                return argument_type_error(
                    &a.name,
                    format_args!("is an array; expected a value of type {}", a.ctype.name),
                );
            }
            GeneratedKernelArg::Array(view) => check_element_type(a, *used, view)?,
            GeneratedKernelArg::Bytes(_) | GeneratedKernelArg::Number(..) if a.is_vector => {
                return argument_type_error(
                    &a.name,
                    format_args!("is a value; expected an array for '{}'", a.declarator()),
                );
            }
            GeneratedKernelArg::Bytes(bytes) if bytes.len() != size => {
                return argument_type_error(
                    &a.name,
                    format_args!("has {} bytes; '{}' has {size}", bytes.len(), a.declarator()),
                );
            }
            GeneratedKernelArg::Bytes(_) => {}
            GeneratedKernelArg::Number(bytes, number) => convert_scalar(bytes, *number, a).map(drop)?,
        }
    }
    Ok(())
}

/// Elements may be what a kernel of a module may be given, and must be as large as those declared, unless the snippet
/// does more with the array than name its elements.
fn check_element_type(declared: &Argument, used: ElementUse, view: &ArrayView<'_>) -> Result<()> {
    let size = declared.ctype.itemsize;
    let is_wrong_size = view.itemsize != size && used != ElementUse::Other;
    match (declared.ctype.number(), view.number) {
        (Some(number), Some(given))
            if argument_types_are_checked() && (is_wrong_size || !number.accepts_elements(given)) =>
        {
            let (given, number) = (given.name(), number.name());
            argument_type_error(
                &declared.name,
                format_args!("has dtype {given}; expected {number} for '{}'", declared.declarator()),
            )
        }
        _ if is_wrong_size => argument_type_error(
            &declared.name,
            format_args!("has elements of {} bytes; '{}' has {size}", view.itemsize, declared.declarator()),
        ),
        _ => Ok(()),
    }
}

/// Arrays must be in memory that kernels of `ctx` can access. The driver is queried only for memory of another context.
pub(super) fn check_accessible(
    ctx: &ArrayContext,
    declared: &[Argument],
    args: &[GeneratedKernelArg<'_>],
) -> Result<()> {
    let arrays = args.iter().zip(declared).filter_map(|(value, a)| Some((value.as_array()?, a)));
    for (view, a) in arrays {
        check_array_accessible(ctx, &a.name, view)?;
    }
    Ok(())
}

/// [`check_accessible`] of one array.
#[inline]
pub(super) fn check_array_accessible(ctx: &ArrayContext, name: &str, view: &ArrayView<'_>) -> Result<()> {
    if view.context == 0 || view.context == ctx.context_number() {
        Ok(())
    } else {
        check_other_context_array(ctx, name, view)
    }
}

#[cold]
fn check_other_context_array(ctx: &ArrayContext, name: &str, view: &ArrayView<'_>) -> Result<()> {
    if view.n_elements() == 0 {
        return Ok(());
    }
    match ctx.device().inaccessible_owner(view.ptr) {
        None => Ok(()),
        Some([owner, device]) => Err(argument_error(
            name,
            format_args!(
                "lies in memory of {owner}, which kernels of {device} cannot reach; expected an array of the current \
                 context, or peer access to the other one (Context.enable_peer_access)"
            ),
        )),
    }
}
