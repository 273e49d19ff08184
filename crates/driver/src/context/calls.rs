//! Driver calls through the current context, or through one that must be alive.

/// [`call_driver!`] for a function that acts on the current context. If it fails because another library in this
/// process made its own context current in this thread, it is called once more after ours is restored. This costs
/// nothing on success.
macro_rules! retry_if_context_displaced {
    ($table:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match call_driver!($table, $name($($arg),*)) {
            Err(error) if $crate::context::restore_displaced_context(error.code) => call_driver!($table, $name($($arg),*)),
            result => result,
        }
    };
}

/// [`retry_if_context_displaced!`] through the driver table of the calling thread's current context.
macro_rules! call_in_current_context {
    ($name:ident($($arg:expr),* $(,)?)) => {
        match $crate::context::current_driver_table(stringify!($name)) {
            Ok(table) => retry_if_context_displaced!(table, $name($($arg),*)),
            Err(error) => Err(error),
        }
    };
}

/// [`call_driver!`] through the driver table of a context that must still exist.
macro_rules! call_if_alive {
    ($ctx:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match $ctx.driver_table_if_alive(stringify!($name)) {
            Ok(table) => call_driver!(table, $name($($arg),*)),
            Err(error) => Err(error),
        }
    };
}
