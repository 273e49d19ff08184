//! The default context, for threads that have none: the one that the program declared, or else the primary context of the
//! default device, as in the CUDA runtime. A program that has made a context or retained a primary one, and has declared
//! none, must make one current in each thread. What libraries beside the program retain and push does not count.

use super::{Context, Device, loaded_drivers};
use crate::error::Result;
use crate::process_state;
use rtcg_hal::lock_ignoring_poison;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

/// Whether the program has chosen a context.
static HAS_CHOSEN_CONTEXT: AtomicBool = AtomicBool::new(false);

/// Kept until another one is declared.
static DEFAULT_CONTEXT: Mutex<Option<DefaultContext>> = Mutex::new(None);

/// What threads without a context take.
#[derive(Clone)]
struct DefaultContext {
    ctx: Context,
    /// The thread that declared it, for all threads though the program has chosen contexts.
    declared_by: Option<ThreadId>,
}

/// The program has made a context, or retained a primary one.
pub(crate) fn mark_context_chosen() {
    HAS_CHOSEN_CONTEXT.store(true, Ordering::Relaxed);
}

impl Context {
    /// Declares the context that threads take which have none. It is held until another one, or none, is declared. The
    /// calling thread does not take it after it has popped a context, as one that makes contexts current itself.
    ///
    /// # Errors
    /// When the context was detached.
    pub fn set_default(ctx: Option<&Self>) -> Result<()> {
        if let Some(ctx) = ctx {
            ctx.driver_table_if_alive("set_default")?;
        }
        let old = {
            let mut default = lock_ignoring_poison(&DEFAULT_CONTEXT);
            std::mem::replace(
                &mut *default,
                ctx.cloned().map(|ctx| DefaultContext { ctx, declared_by: Some(thread::current().id()) }),
            )
        };
        drop(old);
        Ok(())
    }

    /// The context that threads take which have none, if there is one already.
    pub fn default_context() -> Option<Self> {
        let default = lock_ignoring_poison(&DEFAULT_CONTEXT).clone()?;
        let holds = default.declared_by.is_some() || !HAS_CHOSEN_CONTEXT.load(Ordering::Relaxed);
        Some(default.ctx).filter(|ctx| holds && ctx.is_alive())
    }

    /// The current context of this thread; in a thread without one the default context, which becomes current. Where
    /// there is none either, the primary context of the default device is declared the default one.
    ///
    /// # Errors
    /// When there is no device, or in a forked process.
    pub fn current_or_declared() -> Result<Self> {
        if Self::current_or_foreign().is_none() && Self::default_context().is_none() {
            declare_primary_context(Some(thread::current().id()))?;
        }
        Self::current_or_error()
    }
}

/// Makes the primary context of the default device the one that threads take.
fn declare_primary_context(declared_by: Option<ThreadId>) -> Result<Context> {
    loaded_drivers::init(0)?;
    let mut default = lock_ignoring_poison(&DEFAULT_CONTEXT);
    if let Some(known) = default.as_mut().filter(|known| known.ctx.is_alive()) {
        // Another thread was faster, or it was not declared.
        known.declared_by = known.declared_by.or(declared_by);
        return Ok(known.ctx.clone());
    }
    let ctx = Context::retain_primary_handle(Device::from_env_or_first()?)?;
    Ok(default.insert(DefaultContext { ctx, declared_by }).ctx.clone())
}

/// The default context, pushed onto the calling thread's stack; `None` where the program has chosen contexts and declared
/// none, where this thread declared it and `has_popped` a context since, and in a forked process.
pub(crate) fn push_default_context(has_popped: bool) -> Result<Option<Context>> {
    if process_state::is_forked() {
        return Ok(None);
    }
    let is_declarer = || {
        let default = lock_ignoring_poison(&DEFAULT_CONTEXT);
        default.as_ref().is_some_and(|default| default.declared_by == Some(thread::current().id()))
    };
    let ctx = match Context::default_context() {
        Some(_) if has_popped && is_declarer() => return Ok(None),
        Some(ctx) => ctx,
        None if HAS_CHOSEN_CONTEXT.load(Ordering::Relaxed) => return Ok(None),
        None => declare_primary_context(None)?,
    };
    ctx.push()?;
    Ok(Some(ctx))
}
