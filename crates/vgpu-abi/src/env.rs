//! Settings from the environment. One that cannot be read is reported, not silently ignored.

/// The value of `name` as `parse` reads it. Called once per setting, so the user is told once.
pub fn env_setting<T>(name: &str, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let text = std::env::var_os(name).filter(|value| !value.is_empty())?;
    let text = text.to_string_lossy();
    let value = parse(text.trim());
    if value.is_none() {
        eprintln!("rtcg: {name} is {text:?}; expected {expected}; the default is used");
    }
    value
}
