//! Memory of the virtual GPU: the device window and what is allocated in it.

pub mod window;
