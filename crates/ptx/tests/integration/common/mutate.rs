//! Deterministic mutations of PTX texts, and what must hold for every input whatever it is.
//! Shared by the test `mutations.rs` and the example `fuzz_parser.rs`.

use rtcg_ptx::ast::Span;
use rtcg_ptx::{ParseResult, parse};
use std::time::{Duration, Instant};

/// SplitMix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, 0 if there is none.
    pub(crate) fn random_below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    fn pick_element<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.random_below(list.len())]
    }
}

/// Parts of real modules, and makes mutated modules of them.
pub(crate) struct Mutator {
    random: Random,
    headers: Vec<String>,
    /// Declarations and functions of module scope.
    items: Vec<String>,
    /// Small modules that parse: an item with what it refers to.
    modules: Vec<String>,
    lines: Vec<String>,
    words: Vec<String>,
}

const ODD_TOKENS: &[&str] = &[
    "0",
    "-1",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "0x",
    "0f",
    "0f3F800000",
    "1e999",
    "1.5",
    "9223372036854775808",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ",",
    ".",
    "::",
    "@",
    "!",
    "|",
    "<",
    ">",
    "=",
    "\"",
    "/*",
    "//",
    "\\",
    "\0",
    "é",
    "%",
    "_",
    "%p<3000000>",
    ".reg .b32 %r<99999>;",
    ".b128",
    "WARP_SZ",
    "generic(",
    "0xff00(",
    "$L:",
    ":",
    "((((((((((",
    "------",
    "?1:2",
    "/0",
    "%0",
    "<<64",
    ".align 3",
    "[]",
    "[1][2]",
    "{{{},{}},{1}}",
    ".param .b8 x[4]",
    ".callprototype",
    ".branchtargets",
    ".calltargets",
    ".loc 1 2 3",
    ".section .x {",
    ".v4",
    ".v8",
];

impl Mutator {
    pub(crate) fn new(corpus: &[(String, String)], seed: u64) -> Self {
        let mut m = Mutator {
            random: Random(seed),
            headers: vec![],
            items: vec![],
            modules: vec![],
            lines: vec![],
            words: vec![],
        };
        for (_, text) in corpus {
            m.add_module_text(text);
        }
        m.lines.sort();
        m.lines.dedup();
        m.words.sort();
        m.words.dedup();
        m
    }

    fn add_module_text(&mut self, text: &str) {
        let first = self.items.len();
        let mut header = String::new();
        let mut item = String::new();
        for line in text.lines() {
            let word = line.split_whitespace().next().unwrap_or("");
            if matches!(word, ".version" | ".target" | ".address_size") {
                header += &format!("{line}\n");
                continue;
            }
            if item.is_empty() && (word.is_empty() || word.starts_with("//")) {
                continue;
            }
            item += &format!("{line}\n");
            let variable = matches!(word, ".global" | ".const" | ".shared" | ".file");
            if line == "}" || line == ";" || line == "\t}" || (item.lines().count() == 1 && variable) {
                self.items.push(std::mem::take(&mut item));
            }
            self.lines.push(line.to_owned());
            self.words.extend(line.split([' ', '\t', ',', ';', '[', ']']).filter(|w| !w.is_empty()).map(str::to_owned));
        }
        self.headers.push(header);
        let of_this_file = self.items[first..].to_vec();
        let header = self.headers[self.headers.len() - 1].clone();
        let functions = of_this_file.iter().filter(|item| item.contains("ret;") || item.len() % 16 == 0);
        self.modules.extend(functions.filter_map(|item| with_required_declarations(&header, item, &of_this_file)));
    }

    /// A module of a few real items, mutated a few times.
    pub(crate) fn next_mutated_module(&mut self) -> String {
        let mut text = self.random.pick_element(&self.headers).clone();
        let whole = self.random.random_below(8) > 0;
        if whole {
            text = self.random.pick_element(&self.modules).clone();
        }
        for _ in 0..if whole { self.random.random_below(8) / 7 } else { 1 + self.random.random_below(3) } {
            text += self.random.pick_element::<String>(&self.items);
        }
        if text.len() > 60_000 {
            let from = self.random.random_below(text.len() - 40_000);
            text = format!("{}{}", self.headers[0], String::from_utf8_lossy(&text.as_bytes()[from..from + 40_000]));
        }
        for _ in 0..[1, 1, 2, 3, 6][self.random.random_below(5)] {
            text = self.mutate(text);
        }
        text
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.random.random_below(n)
    }

    /// Bytes without any structure, as text.
    pub(crate) fn next_random_text(&mut self) -> String {
        let n = self.random.random_below(400);
        let bytes: Vec<u8> = (0..n).map(|_| self.random.next() as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn mutate(&mut self, text: String) -> String {
        match self.random.random_below(10) {
            0 => self.mutate_bytes(text),
            1..=3 => self.mutate_lines(text),
            _ => self.mutate_token(text),
        }
    }

    fn mutate_bytes(&mut self, text: String) -> String {
        let mut bytes = text.into_bytes();
        let at = self.random.random_below(bytes.len());
        match self.random.random_below(4) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << self.random.random_below(8),
            1 => drop(bytes.drain(at..(at + 1 + self.random.random_below(20)).min(bytes.len()).max(at))),
            2 => bytes.truncate(at),
            _ => {
                let from = self.random.random_below(bytes.len());
                let copy = bytes[from..(from + 1 + self.random.random_below(60)).min(bytes.len()).max(from)].to_vec();
                bytes.splice(at..at, copy);
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn mutate_lines(&mut self, text: String) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (at, other) = (self.random.random_below(lines.len()), self.random.random_below(lines.len()));
        match self.random.random_below(4) {
            0 if !lines.is_empty() => drop(lines.remove(at)),
            1 if !lines.is_empty() => lines.swap(at, other),
            2 if !lines.is_empty() => lines.insert(at, lines[other].clone()),
            _ => lines.insert(at, self.random.pick_element(&self.lines).clone()),
        }
        lines.join("\n")
    }

    /// Replaces, removes or inserts one word.
    fn mutate_token(&mut self, text: String) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
        let mut starts: Vec<usize> = Vec::new();
        let mut inside = false;
        for (i, c) in text.char_indices() {
            let word = is_word(c);
            if !word || !inside {
                starts.push(i);
            }
            inside = word;
        }
        starts.push(text.len());
        if starts.len() < 2 {
            return text;
        }
        let n = self.random.random_below(starts.len() - 1);
        let (from, to) = (starts[n], starts[n + 1]);
        let word = match self.random.random_below(8) {
            0 => String::new(),
            1 | 2 => (*self.random.pick_element(ODD_TOKENS)).to_owned(),
            3..=5 => {
                // A word from elsewhere in the same text often makes something that still parses.
                let k = self.random.random_below(starts.len() - 1);
                text[starts[k]..starts[k + 1]].to_owned()
            }
            _ => self.random.pick_element(&self.words).clone(),
        };
        let end = if self.random.random_below(4) == 0 { from } else { to };
        format!("{}{word}{}", &text[..from], &text[end..])
    }
}

/// The item with the declarations it needs before it, if they can be found.
fn with_required_declarations(header: &str, item: &str, items: &[String]) -> Option<String> {
    let mut needed = vec![item.to_owned()];
    for _ in 0..30 {
        let text = format!("{header}{}", needed.concat());
        let result = parse(text.as_str());
        let Some(error) = result.diagnostics.iter().find(|d| d.is_error()) else { return Some(text) };
        let name = error.message.split('`').nth(1)?.to_owned();
        let declares = |item: &&String| {
            let head = item.split(['=', '{', ')']).find(|part| part.contains(&name)).unwrap_or("");
            head.split(|c: char| c.is_whitespace() || "([;".contains(c)).any(|word| word == name)
        };
        let found = items.iter().find(declares)?;
        if !error.message.contains("not declared") || needed.contains(found) {
            return None;
        }
        needed.insert(0, found.clone());
    }
    None
}

fn check_span(span: Span, text: &str) {
    assert!(text.get(span.start as usize..span.end as usize).is_some(), "span {span:?} of {} bytes", text.len());
}

/// Processor time that this thread has used (Linux).
fn cpu_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(stat.split_whitespace().next()?.parse().ok()?))
}

/// Panics unless everything that must hold for any input holds. Says whether it parsed cleanly.
pub(crate) fn check_input(text: &str) -> bool {
    let (start, wall) = (cpu_time(), Instant::now());
    let result = parse(text);
    // Without a clock of the processor's time, time that others took counts too.
    let time = cpu_time().zip(start).map_or(wall.elapsed(), |(end, start)| end.saturating_sub(start));
    assert!(time < Duration::from_secs(1), "parsing takes {time:?}");
    result.diagnostics.iter().for_each(|d| check_span(d.span, text));
    let _ = result.render_diagnostics("fuzz.ptx");
    for function in &result.module.functions {
        check_span(function.span, text);
        function.body.iter().for_each(|s| check_span(s.span, text));
    }
    if result.has_errors() {
        return false;
    }
    let ParseResult { module, .. } = result;
    super::check_round_trip("the input", module);
    true
}
