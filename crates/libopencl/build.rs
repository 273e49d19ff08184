//! Gives the library a name. The environment may ask for `libOpenCL.so.1`, which programs are linked with: that is a
//! loader, too (`cfg(loader)`). As a vendor's library it has another name, so that it is not taken for the loader that
//! opened it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(loader)");
    println!("cargo:rerun-if-env-changed=RTCG_OPENCL_SONAME");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let name = std::env::var("RTCG_OPENCL_SONAME").unwrap_or_else(|_| "librtcg_opencl.so".to_owned());
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{name}");
        if name.starts_with("libOpenCL.so") {
            println!("cargo:rustc-cfg=loader");
        }
        // Calls among the library's own functions stay in it, whatever loader is there.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
        // Its threads run until the process ends, so its code must stay.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
