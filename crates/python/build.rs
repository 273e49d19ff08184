//! Refuses free-threaded interpreters, which have no stable ABI, and which the module is not made for.

fn main() {
    let target = pyo3_build_config::get().target_abi();
    if target.kind().is_free_threaded() {
        println!(
            "cargo::error=rtcg has no free-threaded build: found free-threaded CPython {version} (Py_GIL_DISABLED); \
             use the ordinary python{version}, or any CPython from 3.10 on that has the global interpreter lock",
            version = target.version()
        );
    }
}
