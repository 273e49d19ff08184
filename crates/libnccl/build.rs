//! Gives the library the name that programs ask the loader for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnccl.so.2");
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        // Its threads run until the process ends, so its code must stay.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
