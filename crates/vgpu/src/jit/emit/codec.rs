//! Serialization of cached machine code. Reading assumes nothing: any length may be wrong, and everything
//! wrong reads as `None`.

/// A value that can be stored.
pub(crate) trait Serialize: Sized {
    /// Appends it.
    fn write(&self, out: &mut Vec<u8>);
    /// Takes it from the front of what is left.
    fn read(input: &mut &[u8]) -> Option<Self>;
}

/// Reads a value that fills the bytes.
pub(crate) fn read_all<T: Serialize>(mut bytes: &[u8]) -> Option<T> {
    let value = T::read(&mut bytes)?;
    bytes.is_empty().then_some(value)
}

/// Appends bytes with their number.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    bytes.len().write(out);
    out.extend_from_slice(bytes);
}

/// Takes bytes that [`write_bytes`] appended.
pub(crate) fn read_bytes<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::read(input)?;
    let (bytes, rest) = input.split_at_checked(len)?;
    *input = rest;
    Some(bytes)
}

macro_rules! serialize_number {
    ($($ty:ty),*) => {$(
        impl Serialize for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(input: &mut &[u8]) -> Option<Self> {
                let (number, rest) = input.split_first_chunk()?;
                *input = rest;
                Some(<$ty>::from_le_bytes(*number))
            }
        }
    )*};
}
serialize_number!(u8, u32, u64, i32, i64);

impl Serialize for usize {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u64).write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        u64::read(input)?.try_into().ok()
    }
}

impl Serialize for bool {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(*self).write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        match u8::read(input)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Serialize for String {
    fn write(&self, out: &mut Vec<u8>) {
        write_bytes(self.as_bytes(), out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        std::str::from_utf8(read_bytes(input)?).ok().map(str::to_owned)
    }
}

impl<T: Serialize> Serialize for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.iter().for_each(|value| value.write(out));
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::read(input)? { Some(T::read(input)?) } else { None })
    }
}

impl<T: Serialize> Serialize for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|value| value.write(out));
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let len = usize::read(input)?;
        // The number is not trusted with an allocation: each value takes a byte at least.
        let mut list = Vec::with_capacity(len.min(input.len()));
        for _ in 0..len {
            list.push(T::read(input)?);
        }
        Some(list)
    }
}

impl<const N: usize> Serialize for [u32; N] {
    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(out));
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        let mut all = [0; N];
        for value in &mut all {
            *value = u32::read(input)?;
        }
        Some(all)
    }
}

impl<A: Serialize, B: Serialize> Serialize for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(input: &mut &[u8]) -> Option<Self> {
        Some((A::read(input)?, B::read(input)?))
    }
}

/// Keeps a structure as its fields, one after the other.
macro_rules! serialize_fields {
    ($ty:ty { $($field:ident),* $(,)? }) => {
        impl $crate::jit::emit::codec::Serialize for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                $($crate::jit::emit::codec::Serialize::write(&self.$field, out);)*
            }
            fn read(input: &mut &[u8]) -> Option<Self> {
                $(let $field = $crate::jit::emit::codec::Serialize::read(input)?;)*
                Some(Self { $($field),* })
            }
        }
    };
}
pub(crate) use serialize_fields;

#[cfg(test)]
mod tests {
    use super::*;

    fn survives<T: Serialize + PartialEq + std::fmt::Debug>(value: T) {
        let mut bytes = vec![];
        value.write(&mut bytes);
        assert_eq!(read_all::<T>(&bytes).as_ref(), Some(&value));
        for len in 0..bytes.len() {
            assert_eq!(read_all::<T>(&bytes[..len]), None, "cut to {len}");
        }
        bytes.push(0);
        assert_eq!(read_all::<T>(&bytes), None, "a byte more");
    }

    #[test]
    fn values_round_trip_and_truncated_input_is_none() {
        survives(-5_i64);
        survives("text".to_owned());
        survives(vec![(1_u32, Some(true)), (2, None)]);
        survives([1_u32, 2, 3]);
        survives(vec![Some(vec![7_usize]), None]);
    }

    #[test]
    fn absurd_lengths_are_none() {
        let mut bytes = vec![];
        usize::MAX.write(&mut bytes);
        bytes.extend([0; 100]);
        assert_eq!(read_all::<Vec<u32>>(&bytes), None);
        assert_eq!(read_all::<String>(&bytes), None);
        assert_eq!(read_all::<bool>(&[2]), None);
    }
}
