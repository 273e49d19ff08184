//! Driver calls whose last argument is a stream.

/// [`call_in_current_context!`] of a function whose last argument is a stream.
macro_rules! call_on_stream {
    ($stream:expr, $name:ident($($arg:expr),* $(,)?)) => {
        match $crate::stream::current_table_and_stream_handle(stringify!($name), $stream) {
            Ok((table, stream)) => retry_if_context_displaced!(table, $name($($arg,)* stream)),
            Err(error) => Err(error),
        }
    };
}
