//! JSON from untrusted files.
//!
//! Establishes: no object has a repeated key, nothing is nested deeper than the caller allows, all numbers are finite,
//! and messages about refused text are short and have no control characters.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};
use std::fmt;

/// Parses a whole text. `max_depth` counts arrays and objects within each other.
pub(crate) fn parse(text: &[u8], max_depth: usize) -> Result<Json, String> {
    let mut source = serde_json::Deserializer::from_slice(text);
    let value = Strict { depth_left: max_depth, max_depth }.deserialize(&mut source);
    let value = value.and_then(|value| source.end().map(|()| value));
    value.map_err(|error| printable(&error.to_string()))
}

/// Text of others for a message: at most 200 characters, none of which changes what a terminal shows elsewhere.
pub(crate) fn printable(text: &str) -> String {
    let mut shown: String = text.chars().take(200).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(200).is_some() {
        shown.push_str("...");
    }
    shown
}

#[derive(Clone, Copy)]
struct Strict {
    depth_left: usize,
    max_depth: usize,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth_left = self.depth_left.checked_sub(1);
        let too_deep = || E::custom(format!("values within each other more than {} times", self.max_depth));
        Ok(Self { depth_left: depth_left.ok_or_else(too_deep)?, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Json, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Number::from_f64(number).map(Json::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let (inner, mut array) = (self.deeper()?, Vec::new());
        while let Some(item) = items.next_element_seed(inner)? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let (inner, mut object) = (self.deeper()?, Map::new());
        while let Some(key) = fields.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
            let value = fields.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_those_of_the_text() {
        let text = br#" {"a": [1, -2, 2.5, 1e308, 18446744073709551615, true, null, "x\n"], "b": {}} "#;
        let expected = json!({"a": [1, -2, 2.5, 1e308, u64::MAX, true, null, "x\n"], "b": {}});
        assert_eq!(parse(text, 2).unwrap(), expected);
    }

    #[test]
    fn what_cannot_be_trusted_is_refused() {
        let message = |text: &str| parse(text.as_bytes(), 3).unwrap_err();
        assert!(message(r#"{"a": 1, "b": {"c": 1, "c": 1}}"#).contains("\"c\" is there twice"));
        assert!(message("[[[[1]]]]").contains("more than 3 times"));
        assert!(message(&"[".repeat(1_000_000)).contains("more than 3 times"));
        for text in ["NaN", "[1e999]", "Infinity", "", "{", "[1] 2", "\u{feff}1", "'a'", "[1,]"] {
            assert!(parse(text.as_bytes(), 3).is_err(), "{text}");
        }
        assert!(parse(b"\"\xff\"", 3).is_err());
        let shown = message(&format!("{{\"\x1b[2J\": 1, \"{}\": 1, \"{0}\": 2}}", "k".repeat(1000)));
        assert!(shown.len() < 300 && !shown.contains('\x1b'), "{shown}");
        assert_eq!(printable("a\x1b\u{9b}b"), "a\u{fffd}\u{fffd}b");
    }
}
