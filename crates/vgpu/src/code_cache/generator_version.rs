//! The version of the code generator, which is part of every key: code of another version is never found. It follows
//! from the sources ([`super::fingerprint`]), so that it is the same in every program that was built from them, and
//! nobody has to think of changing it.

use rtcg_vgpu_jit::cache_key::{CodeKey, CodeKeyHasher};

/// The version as a key.
pub(super) fn generator_key() -> CodeKey {
    let parts =
        [env!("RTCG_CODE_GENERATOR"), env!("CARGO_PKG_VERSION"), rtcg_vgpu_jit::CRANELIFT_VERSION, rtcg_ptx::VERSION];
    parts.iter().fold(CodeKeyHasher::default(), |hasher, part| hasher.hash_field(part.as_bytes())).finish_key()
}

#[cfg(test)]
mod tests {
    use super::super::fingerprint;
    use std::path::Path;

    fn copy_folder(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let target = to.join(path.file_name().unwrap());
            if path.is_dir() {
                copy_folder(&path, &target);
            } else {
                std::fs::copy(&path, &target).unwrap();
            }
        }
    }

    /// Changes a file of a copy of the sources, and says whether the version has changed by that.
    fn fingerprint_changes_with(top: &Path, file: &str) -> bool {
        let (package, path) = (top.join("vgpu"), top.join(file));
        let before = fingerprint::source_fingerprint(&package);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}\n// another line\n")).unwrap();
        let changed = fingerprint::source_fingerprint(&package);
        std::fs::write(&path, text).unwrap();
        assert_eq!(fingerprint::source_fingerprint(&package), before);
        changed != before
    }

    #[test]
    fn fingerprint_depends_on_the_sources_but_not_on_their_folder() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let top = std::env::temp_dir().join(format!("rtcg-generator-{}", std::process::id()));
        for folder in [
            "vgpu/src",
            "vgpu-abi/src",
            "vgpu-softmath/src",
            "vgpu-jit/src",
            "vgpu-exec/src",
            "ptx/src",
            "cuda-sys/src",
        ] {
            copy_folder(&here.join("..").join(folder), &top.join(folder));
        }
        let own = fingerprint::source_fingerprint(here);
        assert!(env!("RTCG_CODE_GENERATOR").starts_with(&own), "the build script has not run again");
        assert_eq!(fingerprint::source_fingerprint(&top.join("vgpu")), own);
        for file in [
            "vgpu-jit/src/emit/ops/soft_helpers.rs",
            "vgpu-jit/src/emit/isa/mod.rs",
            "vgpu-softmath/src/int.rs",
            "vgpu-exec/src/engine/arch/mod.rs",
            "vgpu-abi/src/runtime.rs",
            "ptx/src/lib.rs",
            "cuda-sys/src/nvrtc.rs",
        ] {
            assert!(fingerprint_changes_with(&top, file), "{file}");
        }
        for file in ["vgpu/src/api/mod.rs", "vgpu-exec/src/engine/worker.rs", "vgpu/src/code_cache/folder.rs"] {
            assert!(!fingerprint_changes_with(&top, file), "{file}");
        }
        std::fs::write(top.join("vgpu-jit/src/another.rs"), "").unwrap();
        assert_ne!(fingerprint::source_fingerprint(&top.join("vgpu")), own, "a file more");
        std::fs::remove_dir_all(&top).unwrap();
    }
}
