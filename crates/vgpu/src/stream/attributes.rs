//! Attributes of launches that are advice: values that a stream, or the node of a kernel, keeps and tells.

use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};
use rtcg_vgpu_abi::model::calls::UNSET_SYNCHRONIZATION_POLICY;

/// The least and the greatest priority; smaller numbers are more urgent.
pub(crate) const STREAM_PRIORITY_RANGE: (i32, i32) = (0, -5);
/// Bytes of a `CUlaunchAttributeValue`.
const VALUE_BYTES: usize = 64;
/// A `CUlaunchAttributeValue`.
pub(crate) type AttributeBytes = [u8; VALUE_BYTES];

/// The attributes of streams: window of accesses, synchronisation policy, priority, domains.
pub(crate) const STREAM_ATTRIBUTES: &[u32] = &[1, 3, 8, 9, 10];
/// The attributes of kernel nodes that are advice: window of accesses, clusters, priority, domains, shared memory.
pub(crate) const KERNEL_ATTRIBUTES: &[u32] = &[1, 4, 5, 8, 9, 10, 11, 14];

/// Whether a node can be updated by kernels: told of a node that was captured with it.
pub(crate) const UPDATABLE_NODE_ATTRIBUTE: u32 = 13;
/// The attributes of a launch that the node keeps when the launch is captured.
const KEPT_BY_CAPTURED_LAUNCHES: &[u32] = &[1, 4, 5, 8, 9, 10, 11, UPDATABLE_NODE_ATTRIBUTE, 14];

/// Attributes that were set.
#[derive(Debug, Clone, Default)]
pub(crate) struct AdviceAttributes(Vec<(u32, AttributeBytes)>);

fn word(value: &AttributeBytes, at: usize) -> u32 {
    u32::from_le_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]])
}

fn from_word(word: u32) -> AttributeBytes {
    let mut value = [0; VALUE_BYTES];
    value[..4].copy_from_slice(&word.to_le_bytes());
    value
}

/// The value as it is kept.
fn checked_value(attribute: u32, value: AttributeBytes) -> Res<AttributeBytes> {
    let first = word(&value, 0);
    let is_valid = match attribute {
        // What is outside of the window cannot persist.
        1 => word(&value, 20) <= 2 && word(&value, 24) <= 1,
        3 => (1..=4).contains(&first),
        10 => first <= 1,
        14 => (-1..=100).contains(&(first as i32)),
        _ => true,
    };
    ensure(is_valid, ResultCode::INVALID_VALUE)?;
    Ok(bounded_value(attribute, value))
}

/// A priority that there is; other values stay.
fn bounded_value(attribute: u32, value: AttributeBytes) -> AttributeBytes {
    let (least, greatest) = STREAM_PRIORITY_RANGE;
    let bounded = |priority: i32| from_word(priority.clamp(greatest, least) as u32);
    if attribute == 8 { bounded(word(&value, 0) as i32) } else { value }
}

impl AdviceAttributes {
    /// Keeps the value of one of the `known` attributes.
    pub(crate) fn set(&mut self, known: &[u32], attribute: u32, value: AttributeBytes) -> Res {
        ensure(known.contains(&attribute), ResultCode::INVALID_VALUE)?;
        self.replace(attribute, checked_value(attribute, value)?);
        Ok(())
    }

    /// Keeps the value of an attribute of a launch, whose rules are its own.
    pub(crate) fn keep_of_launch(&mut self, attribute: u32, value: AttributeBytes) {
        if KEPT_BY_CAPTURED_LAUNCHES.contains(&attribute) {
            self.replace(attribute, bounded_value(attribute, value));
        }
    }

    fn replace(&mut self, attribute: u32, value: AttributeBytes) {
        self.0.retain(|(a, _)| *a != attribute);
        self.0.push((attribute, value));
    }

    /// Whether an attribute was set.
    pub(crate) fn is_set(&self, attribute: u32) -> bool {
        self.0.iter().any(|(a, _)| *a == attribute)
    }

    /// The value of one of the `known` attributes, or of one that was set.
    pub(crate) fn get(&self, known: &[u32], attribute: u32, priority: i32) -> Res<AttributeBytes> {
        let set = self.0.iter().find(|(a, _)| *a == attribute).map(|(_, value)| *value);
        ensure(set.is_some() || known.contains(&attribute), ResultCode::INVALID_VALUE)?;
        Ok(set.unwrap_or_else(|| match attribute {
            3 => from_word(UNSET_SYNCHRONIZATION_POLICY),
            8 => from_word(priority as u32),
            // The remote domain is 1.
            9 => from_word(1 << 8),
            _ => [0; VALUE_BYTES],
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_as_they_are_checked() {
        let mut attributes = AdviceAttributes::default();
        let mut set_and_get = |attribute, value: u32| {
            let set = attributes.set(STREAM_ATTRIBUTES, attribute, from_word(value)).map_err(|e| e.code);
            (set, attributes.get(STREAM_ATTRIBUTES, attribute, -2).map(|v| word(&v, 0)).map_err(|e| e.code))
        };
        let refused = Err(ResultCode::INVALID_VALUE);
        assert_eq!(set_and_get(3, 9), (refused, Ok(UNSET_SYNCHRONIZATION_POLICY)));
        assert_eq!(set_and_get(3, 4), (Ok(()), Ok(4)));
        assert_eq!(set_and_get(8, -3_i32 as u32), (Ok(()), Ok(-3_i32 as u32)));
        assert_eq!(set_and_get(8, 50), (Ok(()), Ok(0)));
        assert_eq!(set_and_get(10, 1), (Ok(()), Ok(1)));
        for unknown in [0, 2, 99] {
            assert_eq!(set_and_get(unknown, 1), (refused, Err(ResultCode::INVALID_VALUE)));
        }
        let mut window = [0; VALUE_BYTES];
        window[24] = 2;
        assert!(attributes.set(STREAM_ATTRIBUTES, 1, window).is_err());
    }
}
