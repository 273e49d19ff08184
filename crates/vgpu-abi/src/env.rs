//! Settings from the environment. One that cannot be read is reported, not silently ignored.

/// The value of `name` as `parse` reads it; `None` if it is not set or empty. The error names the variable, its value and
/// what was expected.
pub fn read_setting<T>(name: &str, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, String> {
    let Some(text) = std::env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    let text = text.to_string_lossy();
    match parse(text.trim()) {
        Some(value) => Ok(Some(value)),
        None => Err(format!("{name} is {text:?}; expected {expected}")),
    }
}

/// [`read_setting`] for settings without which a program runs as well: an error is printed, and the default holds.
/// Called once per setting, so the user is told once.
pub fn env_setting<T>(name: &str, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    read_setting(name, expected, parse).unwrap_or_else(|text| {
        eprintln!("rtcg: {text}; the default is used");
        None
    })
}
