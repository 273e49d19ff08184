//! How deep tests go: `make test` takes variants that cover each kind once, `make test-all` (`RTCG_TEST_ALL=1`) all.

/// Whether all variants run.
pub(crate) fn is_deep() -> bool {
    std::env::var_os("RTCG_TEST_ALL").is_some()
}

/// `deep` where all variants run, else `usual`.
pub(crate) fn at_depth<T>(usual: T, deep: T) -> T {
    if is_deep() { deep } else { usual }
}
