//! File formats of other tuners.

pub mod kernel_tuner;
pub mod t1;
pub mod t4;

use crate::space::SpaceError;
use serde_json::{Map, Value as Json};

/// Parses a JSON object.
///
/// # Errors
/// When the text is not one.
pub fn json_object(text: &str) -> Result<Map<String, Json>, SpaceError> {
    serde_json::from_str(text).map_err(|error| SpaceError(format!("expected a JSON object: {error}")))
}

/// Writes a JSON object as text.
pub fn json_text(object: &Map<String, Json>) -> String {
    Json::Object(object.clone()).to_string()
}

/// Parses any JSON value.
///
/// # Errors
/// When the text is not one.
pub fn json_from_text(text: &str) -> Result<Json, SpaceError> {
    serde_json::from_str(text).map_err(|error| SpaceError(format!("expected JSON: {error}")))
}
