//! The dispatch table: a C structure of function pointers, which the first word of every object points to.

#[allow(unused_imports)]
use crate::types::*;

macro_rules! define_dispatch_table {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        /// The type of each function, by name: `fn_type::clFinish`.
        #[allow(non_camel_case_types, missing_docs)]
        pub mod fn_type {
            #[allow(unused_imports)]
            use crate::types::*;
            $(pub type $name = unsafe extern "C" fn($($arg: $type),*) -> $result;)*
        }

        /// The functions of one platform. An empty slot is a function that the platform does not have.
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(non_snake_case)]
        pub struct DispatchTable {
            $(
                #[doc = concat!("`", stringify!($name), "`")]
                pub $name: Option<fn_type::$name>,
            )*
        }

        impl DispatchTable {
            /// A table without functions.
            pub const EMPTY: Self = Self { $($name: None,)* };

            /// The names of the functions, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The address of the function `name`, if the table has it.
            pub fn address_of(&self, name: &str) -> Option<*const std::ffi::c_void> {
                match name {
                    $(stringify!($name) => self.$name.map(|function| function as *const std::ffi::c_void),)*
                    _ => None,
                }
            }
        }
    };
}

crate::for_each_opencl_function!(define_dispatch_table);

const _: () = assert!(size_of::<DispatchTable>() == 149 * size_of::<usize>(), "the ICD protocol has 149 functions");
