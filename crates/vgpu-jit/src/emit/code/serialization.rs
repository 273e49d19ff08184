//! Serialization of cached machine code. Reading assumes nothing: any length may be wrong, and everything
//! wrong reads as `None`.

/// A value that can be stored.
pub(crate) trait Serialize: Sized {
    /// Appends it.
    fn serialize(&self, out: &mut Vec<u8>);
    /// Takes it from the front of what is left.
    fn deserialize(input: &mut &[u8]) -> Option<Self>;
}

/// Reads a value that fills the bytes.
pub(crate) fn decode_exactly<T: Serialize>(mut bytes: &[u8]) -> Option<T> {
    let value = T::deserialize(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

/// Appends bytes with their number.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.len().serialize(out);
    out.extend_from_slice(bytes);
}

/// Takes bytes that [`write_bytes`] appended.
pub(crate) fn read_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::deserialize(input)?;
    let (bytes, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(bytes)
}

macro_rules! serialize_number {
    ($($ty:ty),*) => {$(
        impl Serialize for $ty {
            fn serialize(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn deserialize(input: &mut &[u8]) -> Option<Self> {
                let (number, rest) = input.split_first_chunk()?;
                *input = rest;
                Some(<$ty>::from_le_bytes(*number))
            }
        }
    )*};
}
serialize_number!(u8, u32, u64, i32, i64);

impl Serialize for usize {
    fn serialize(&self, out: &mut Vec<u8>) {
        (*self as u64).serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        u64::deserialize(input)?.try_into().ok()
    }
}

impl Serialize for bool {
    fn serialize(&self, out: &mut Vec<u8>) {
        u8::from(*self).serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        match u8::deserialize(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Serialize for String {
    fn serialize(&self, out: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        std::str::from_utf8(read_bytes(input)?).ok().map(str::to_owned)
    }
}

impl<T: Serialize> Serialize for Option<T> {
    fn serialize(&self, out: &mut Vec<u8>) {
        self.is_some().serialize(out);
        self.iter().for_each(|value| value.serialize(out));
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::deserialize(input)? { Some(T::deserialize(input)?) } else { None })
    }
}

impl<T: Serialize> Serialize for Vec<T> {
    fn serialize(&self, out: &mut Vec<u8>) {
        self.len().serialize(out);
        self.iter().for_each(|value| value.serialize(out));
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        let len = usize::deserialize(input)?;
        // The number is not trusted with an allocation: each value takes a byte at least.
        let mut list = Vec::with_capacity(len.min(input.len()));
        for _ in 0..len {
            list.push(T::deserialize(input)?);
        }
        Some(list)
    }
}

impl<T: Serialize, const N: usize> Serialize for [T; N] {
    fn serialize(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.serialize(out));
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        let list: Option<Vec<T>> = (0..N).map(|_| T::deserialize(input)).collect();
        list?.try_into().ok()
    }
}

impl<A: Serialize, B: Serialize> Serialize for (A, B) {
    fn serialize(&self, out: &mut Vec<u8>) {
        self.0.serialize(out);
        self.1.serialize(out);
    }
    fn deserialize(input: &mut &[u8]) -> Option<Self> {
        Some((A::deserialize(input)?, B::deserialize(input)?))
    }
}

/// Keeps a structure as its fields, one after the other.
macro_rules! serialize_fields {
    ($ty:ty { $($field:ident),* $(,)? }) => {
        impl $crate::emit::code::serialization::Serialize for $ty {
            fn serialize(&self, out: &mut Vec<u8>) {
                $($crate::emit::code::serialization::Serialize::serialize(&self.$field, out);)*
            }
            fn deserialize(input: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::emit::code::serialization::Serialize::deserialize(input)?;)*
                Some(Self { $($field),* })
            }
        }
    };
}
pub(crate) use serialize_fields;

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_round_trip<T: Serialize + PartialEq + std::fmt::Debug>(value: T) {
        let mut bytes = vec![];
        value.serialize(&mut bytes);
        assert_eq!(decode_exactly::<T>(&bytes).as_ref(), Some(&value));
        for len in 0..bytes.len() {
            assert_eq!(decode_exactly::<T>(&bytes[..len]), None, "cut to {len}");
        }
        bytes.push(0);
        assert_eq!(decode_exactly::<T>(&bytes), None, "a byte more");
    }

    #[test]
    fn values_round_trip_and_truncated_input_is_none() {
        assert_round_trip(-5_i64);
        assert_round_trip("text".to_owned());
        assert_round_trip(vec![(1_u32, Some(true)), (2, None)]);
        assert_round_trip([1_u32, 2, 3]);
        assert_round_trip(vec![Some(vec![7_usize]), None]);
    }

    #[test]
    fn oversized_lengths_decode_to_none() {
        let mut bytes = vec![];
        usize::MAX.serialize(&mut bytes);
        bytes.extend([0; 100]);
        assert_eq!(decode_exactly::<Vec<u32>>(&bytes), None);
        assert_eq!(decode_exactly::<String>(&bytes), None);
        assert_eq!(decode_exactly::<bool>(&[2]), None);
    }
}
