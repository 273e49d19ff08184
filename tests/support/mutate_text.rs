//! Mutates texts, and runs what reads them in a thread with a small stack.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What came of a text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// Whether it was read, not refused.
    pub(crate) is_read: bool,
}

/// A stack as small as that of threads of some systems.
const STACK_BYTES: usize = 1 << 20;

/// Reads `SECONDS SEED [FOLDER]` from the command line and fuzzes; ends the process with 1 if there were finds.
pub(crate) fn fuzz_in_small_stack(corpus: &'static [&'static str], extension: &'static str, read: fn(&str) -> Outcome) {
    let small = std::thread::Builder::new().stack_size(STACK_BYTES);
    let n_finds = small.spawn(move || fuzz(corpus, extension, read)).expect("a thread").join().expect("a count");
    std::process::exit((n_finds > 0).into());
}

fn fuzz(corpus: &[&str], extension: &str, read: fn(&str) -> Outcome) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u64| args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seconds, seed) = (number(1, 10), number(2, 1));
    let folder = args.get(3).map_or(".", String::as_str);
    // The text at work stays in a file, which tells what ended the process.
    let current = format!("{folder}/current-{seed}.{extension}");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut n_inputs, mut n_read, mut n_finds) = (0u64, 0u64, 0u64);
    while Instant::now() < end && n_finds < 20 {
        let text = random.mutated(corpus);
        n_inputs += 1;
        if text.len() > 10_000 {
            std::fs::write(&current, &text).expect("a folder for finds");
        }
        let begun = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&text)));
        let is_slow = begun.elapsed() > Duration::from_secs(1);
        n_read += u64::from(outcome.as_ref().is_ok_and(|outcome| outcome.is_read));
        if outcome.is_err() || is_slow {
            n_finds += 1;
            let path = format!("{folder}/find-{seed}-{n_inputs}.{extension}");
            println!("find: {path}{}", if is_slow { " (slow)" } else { "" });
            std::fs::write(&path, &text).expect("a folder for finds");
        }
    }
    let _ = std::fs::remove_file(&current);
    println!("{n_inputs} inputs, {n_read} of them read, {n_finds} finds");
    n_finds
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    }

    fn piece<'t>(&mut self, text: &'t str, longest: usize) -> &'t str {
        let start = self.place(text);
        let length = 1 + self.below(longest);
        let end = (start + length..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
        &text[start..end]
    }

    /// A text of the corpus with some pieces cut, copied, exchanged, or repeated many times.
    fn mutated(&mut self, corpus: &[&str]) -> String {
        const SIGNS: &str = "()[]{}%#|.,:;+-*/<>=!&~'\"\\ \n\r\t0123456789eE_aNI\u{e9}\u{1f600}\0";
        let mut text = corpus[self.below(corpus.len())].to_owned();
        for _ in 0..1 + self.below(4) {
            let at = self.place(&text);
            let piece = self.piece(&text, 12).to_owned();
            match self.below(8) {
                0 => text.truncate(at),
                1 => text = text.replacen(&piece, "", 1),
                2 => text.insert_str(at, &piece),
                3 => {
                    let sign = SIGNS.chars().nth(self.below(SIGNS.chars().count())).unwrap_or(' ');
                    text.insert(at, sign);
                }
                4 => {
                    let source = corpus[self.below(corpus.len())];
                    let other = self.piece(source, 40).to_owned();
                    text.insert_str(at, &other);
                }
                5 => text = text.replacen(&piece, &self.below(1 << 20).to_string(), 1),
                6 => text.insert_str(at, ["-1", "1e999", "9223372036854775808", "null", "0"][self.below(5)]),
                _ => {
                    let count = [2, 30, 600, 20_000][self.below(4)];
                    text.insert_str(at, &piece.repeat(count));
                }
            }
        }
        text
    }
}
