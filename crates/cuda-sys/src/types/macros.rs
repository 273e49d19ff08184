//! Macros that declare the types.

/// A transparent newtype over `u32` with its constants, also as free constants of the C name.
macro_rules! cuda_enum {
    ($(#[$doc:meta])* $ty:ident { $($name:ident = $value:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $ty(pub u32);

        impl $ty {
            $(pub const $name: Self = Self($value);)*

            /// All constants with their C names, in the order of the C declaration. Several names may share a value.
            pub const NAMED_CONSTANTS: &'static [(&'static str, Self)] =
                &[$((stringify!($name), Self($value)),)*];

            /// The (first) C name of this value.
            pub fn name(self) -> Option<&'static str> {
                Self::NAMED_CONSTANTS.iter().find(|(_, v)| *v == self).map(|(n, _)| *n)
            }
        }

        $(pub const $name: $ty = $ty($value);)*

        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($ty), "({})"), self.0),
                }
            }
        }
    };
}

/// An opaque handle. `Send` and `Sync` because the driver API may be called from any thread.
macro_rules! cuda_handle {
    ($ty:ident) => {
        #[doc = concat!("The C handle `", stringify!($ty), "`.")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $ty(pub *mut c_void);

        impl $ty {
            /// The null handle.
            pub const fn null() -> Self {
                Self(std::ptr::null_mut())
            }

            /// True for the null handle.
            pub fn is_null(self) -> bool {
                self.0.is_null()
            }

            /// The handle as a number.
            pub fn addr(self) -> usize {
                self.0.addr()
            }
        }

        impl Default for $ty {
            fn default() -> Self {
                Self::null()
            }
        }

        // SAFETY: a handle is a name that only the driver dereferences, and the driver locks.
        unsafe impl Send for $ty {}
        // SAFETY: a handle is a name that only the driver dereferences, and the driver locks.
        unsafe impl Sync for $ty {}
    };
}

/// A C structure, zero by default.
macro_rules! cuda_struct {
    ($(#[$meta:meta])* $ty:ident { $($field:ident: $fty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $ty { $(pub $field: $fty,)* }

        impl Default for $ty {
            fn default() -> Self {
                // SAFETY: integers, floats, raw pointers, handles, optional function pointers
                // and arrays of these are valid when zero.
                unsafe { std::mem::zeroed() }
            }
        }
    };
}

/// A C union, zero by default.
macro_rules! cuda_union {
    ($(#[$meta:meta])* $ty:ident { $($field:ident: $fty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub union $ty { $(pub $field: $fty,)* }

        impl Default for $ty {
            fn default() -> Self {
                // SAFETY: as for structures; each member is valid when zero.
                unsafe { std::mem::zeroed() }
            }
        }

        impl std::fmt::Debug for $ty {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!("union ", stringify!($ty)))
            }
        }
    };
}

pub(crate) use {cuda_enum, cuda_handle, cuda_struct, cuda_union};
