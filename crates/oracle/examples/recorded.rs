//! The oracle against what an H200 computed (`tests/recorded/README.md`): exact forms only.
//! `xz -dc tests/recorded/table.xz > table; cargo run --release -p rtcg-oracle --example recorded -- table [TEXT]`
//!
//! With a text, only forms that contain it.

use rtcg_oracle::{OracleBuffer, OracleLaunch, run_kernel};
use std::collections::{BTreeMap, HashMap};

const BLOCK_THREADS: usize = 128;
const INPUT_ADDRESS: u64 = 0x1_0000_0000;
const OUTPUT_ADDRESS: u64 = 0x2_0000_0000;

/// A piece of the table.
struct TableReader<'a> {
    data: &'a [u8],
    at: usize,
}

impl TableReader<'_> {
    /// A column of numbers, as byte planes or bits.
    fn read_column(&mut self, bits: usize, rows: usize) -> Vec<u64> {
        let n = if bits == 1 { rows.div_ceil(8) } else { rows * bits / 8 };
        let data = &self.data[self.at..self.at + n];
        self.at += n;
        match bits {
            1 => (0..rows).map(|i| u64::from(data[i / 8] >> (i % 8) & 1)).collect(),
            _ => {
                (0..rows).map(|i| (0..bits / 8).fold(0, |x, b| x | u64::from(data[b * rows + i]) << (8 * b))).collect()
            }
        }
    }
}

fn register_bits(register: &str) -> usize {
    match register.as_bytes()[0] {
        b'p' => 1,
        b'h' => 16,
        b'r' => 32,
        _ => 64,
    }
}

/// A kernel that applies a form to rows of 64-bit words.
fn kernel_for_form(sources: &[String], results: &[String], text: &str) -> String {
    let mut body = format!("mad.lo.u64 %x4, %x3, {}, %x1;\n", 8 * sources.len());
    for (i, r) in sources.iter().enumerate() {
        let load = match register_bits(r) {
            1 => format!("setp.ne.u64 %{r}, %x5, 0;"),
            16 => format!("cvt.u16.u64 %{r}, %x5;"),
            32 => format!("cvt.u32.u64 %{r}, %x5;"),
            _ => format!("mov.b64 %{r}, %x5;"),
        };
        body += &format!("ld.global.b64 %x5, [%x4+{}];\n{load}\n", 8 * i);
    }
    body += "mov.u32 %y6, scratch; mad.lo.u32 %y5, %y2, 8, %y6;\n";
    body += &format!("{text}\nmad.lo.u64 %x6, %x3, {}, %x2;\n", 8 * results.len());
    for (i, r) in results.iter().enumerate() {
        let keep = match register_bits(r) {
            1 => format!("selp.u64 %x5, 1, 0, %{r};"),
            16 => format!("cvt.u64.u16 %x5, %{r};"),
            32 => format!("cvt.u64.u32 %x5, %{r};"),
            _ => format!("mov.b64 %x5, %{r};"),
        };
        body += &format!("{keep}\nst.global.b64 [%x6+{}], %x5;\n", 8 * i);
    }
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 scratch[{}];\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {{\n\
         .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .b64 %x<8>; .reg .b32 %y<8>; .reg .pred %q;\n\
         mov.u32 %y0, %ctaid.x; mov.u32 %y1, %ntid.x; mov.u32 %y2, %tid.x; mad.lo.u32 %y3, %y0, %y1, %y2;\n\
         ld.param.u32 %y4, [n]; setp.ge.u32 %q, %y3, %y4; @%q ret;\n\
         ld.param.u64 %x1, [a]; ld.param.u64 %x2, [b]; cvt.u64.u32 %x3, %y3;\n{body}ret; }}",
        8 * BLOCK_THREADS
    )
}

/// What is wrong with a form, if anything.
fn check_form(
    pool: &[Vec<u64>],
    sources: &[String],
    results: &[String],
    text: &str,
    wanted: &[Vec<u64>],
) -> Result<(), String> {
    let rows = wanted[0].len().min(2000);
    let step = wanted[0].len() / rows;
    let parsed = rtcg_ptx::parse(kernel_for_form(sources, results, text));
    if parsed.has_errors() {
        let first = parsed.diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.clone());
        return Err(format!("refused: {}", first.unwrap_or_default()));
    }
    let input = (0..rows).flat_map(|r| pool[..sources.len()].iter().flat_map(move |c| c[r * step].to_le_bytes()));
    let mut buffers = vec![
        OracleBuffer { address: INPUT_ADDRESS, bytes: input.collect(), writable: false },
        OracleBuffer { address: OUTPUT_ADDRESS, bytes: vec![0; rows * results.len() * 8], writable: true },
    ];
    let mut params = INPUT_ADDRESS.to_le_bytes().to_vec();
    params.extend(OUTPUT_ADDRESS.to_le_bytes());
    params.extend((rows as u32).to_le_bytes());
    let grid = [rows.div_ceil(BLOCK_THREADS) as u32, 1, 1];
    let launch =
        OracleLaunch { grid, block: [BLOCK_THREADS as u32, 1, 1], dynamic_shared: 0, params, ..Default::default() };
    run_kernel(&parsed.module, "k", &launch, &mut buffers).map_err(|e| format!("refused: {e}"))?;
    let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|b| buffers[1].bytes[i * 8 + b]));
    for r in 0..rows {
        for (k, column) in wanted.iter().enumerate() {
            if word(r * results.len() + k) != column[r * step] {
                let operands: Vec<u64> = pool[..sources.len()].iter().map(|c| c[r * step]).collect();
                let got = word(r * results.len() + k);
                return Err(format!("{operands:x?}: {got:x}, H200 {:x}", column[r * step]));
            }
        }
    }
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let data = std::fs::read(&args[1]).expect("the table");
    let n = u32::from_le_bytes(std::array::from_fn(|i| data[i])) as usize;
    let head = String::from_utf8_lossy(&data[4..4 + n]).into_owned();
    let mut reader = TableReader { data: &data, at: 4 + n };
    let mut pools: HashMap<String, (usize, Vec<Vec<u64>>)> = HashMap::new();
    let mut last: HashMap<(String, usize, usize), Vec<u64>> = HashMap::new();
    let (mut right, mut wrong, mut refused) = (0, 0, BTreeMap::<String, usize>::new());
    for line in head.lines() {
        let mut parts = line.splitn(3, " | ");
        let (first, second, text) =
            (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let words: Vec<&str> = first.split(' ').collect();
        if words[0] == "pool" {
            let numbers: Vec<usize> = words[1..].iter().filter_map(|w| w.parse().ok()).collect();
            let columns = numbers[1..].iter().map(|&b| reader.read_column(b, numbers[0])).collect();
            pools.insert(second.to_owned(), (numbers[0], columns));
        }
        if words[0] != "form" {
            continue;
        }
        let arrow = words.iter().position(|&w| w == ">").unwrap_or(2);
        let names = |list: &[&str]| list.iter().map(|w| w.to_string()).collect::<Vec<_>>();
        let (sources, results) = (names(&words[2..arrow]), names(&words[arrow + 1..]));
        let (rows, pool) = &pools[second];
        let mut wanted = vec![];
        for (k, r) in results.iter().enumerate() {
            let mut column = reader.read_column(register_bits(r), *rows);
            let key = (second.to_owned(), register_bits(r), k);
            if let Some(before) = last.get(&key) {
                column.iter_mut().zip(before).for_each(|(x, y)| *x ^= y);
            }
            last.insert(key, column.clone());
            wanted.push(column);
        }
        if words[1] != "exact" || !args.get(2).is_none_or(|t| text.contains(t.as_str())) {
            continue;
        }
        match check_form(pool, &sources, &results, text, &wanted) {
            Ok(()) => right += 1,
            Err(e) if e.starts_with("refused") => *refused.entry(e).or_default() += 1,
            Err(e) => {
                wrong += 1;
                println!("{text}\n    {e}");
            }
        }
    }
    refused.iter().for_each(|(why, n)| println!("{n:6} {why}"));
    println!("{right} forms right, {wrong} wrong, {} not known", refused.values().sum::<usize>());
}
