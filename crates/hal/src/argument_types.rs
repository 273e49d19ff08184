//! How strictly the types of kernels' arguments are checked: the environment decides, once.

use std::sync::OnceLock;

/// Whether arguments of kernels are checked by type. `RTCG_ARGUMENT_TYPES=0` in the environment checks sizes only,
/// for programs that pass arrays of one type where another is declared; it is read once.
pub fn argument_types_are_checked() -> bool {
    static ARE_ARGUMENT_TYPES_CHECKED: OnceLock<bool> = OnceLock::new();
    *ARE_ARGUMENT_TYPES_CHECKED.get_or_init(|| std::env::var_os("RTCG_ARGUMENT_TYPES").is_none_or(|value| value != "0"))
}

/// Whether `RTCG_ARGUMENT_TYPES=strict` asks for an error when an argument has the right size but not the type that the
/// kernel's source declares. Read once.
pub fn argument_types_are_strict() -> bool {
    static ARE_ARGUMENT_TYPES_STRICT: OnceLock<bool> = OnceLock::new();
    *ARE_ARGUMENT_TYPES_STRICT
        .get_or_init(|| std::env::var_os("RTCG_ARGUMENT_TYPES").is_some_and(|value| value == "strict"))
}
