//! The size limit of the disk cache, from the environment.

use std::sync::OnceLock;

const DEFAULT_LIMIT: u64 = 1 << 30;

/// `RTCG_CACHE_SIZE` in bytes, with an optional suffix K, M or G; 1 GiB when not set.
pub(super) fn cache_limit_bytes() -> u64 {
    static CACHE_LIMIT: OnceLock<u64> = OnceLock::new();
    *CACHE_LIMIT.get_or_init(|| {
        let Some(text) = std::env::var("RTCG_CACHE_SIZE").ok().filter(|text| !text.is_empty()) else {
            return DEFAULT_LIMIT;
        };
        parse_size(&text).unwrap_or_else(|| {
            eprintln!("rtcg: RTCG_CACHE_SIZE is {text:?}; expected a number of bytes such as 512M; 1 GiB is used");
            DEFAULT_LIMIT
        })
    })
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches(['i', 'I']);
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_suffixes_are_parsed() {
        assert_eq!(parse_size("100"), Some(100));
        assert_eq!(parse_size(" 2k "), Some(2048));
        assert_eq!(parse_size("3MiB"), Some(3 << 20));
        assert_eq!(parse_size("1G"), Some(1 << 30));
        assert_eq!(parse_size("much"), None);
        assert_eq!(parse_size(""), None);
        assert_eq!(parse_size("99999999999999G"), None);
    }
}
