//! Reads `tests/recorded/table.xz`.

use lzma_rust2::XzReader;
use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

/// Operand tuples.
pub struct OperandPool {
    pub n_rows: usize,
    pub n_columns: usize,
    /// Row after row, a word per operand.
    pub rows: Vec<u64>,
}

/// A form with what the GPU gave.
pub struct RecordedForm {
    pub text: String,
    pub approximate: bool,
    /// Registers that take the operands, and those that hold the results, without `%`.
    pub sources: Vec<String>,
    pub results: Vec<String>,
    pub pool: Arc<OperandPool>,
    /// A column per result.
    pub wanted: Vec<Vec<u64>>,
}

/// The folder of the recorded data.
pub fn recorded_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/recorded")
}

/// Bits of a register, from its class.
pub fn register_bits(register: &str) -> u32 {
    match register.as_bytes()[0] {
        b'p' => 1,
        b'h' => 16,
        b'r' => 32,
        _ => 64,
    }
}

/// What is left of the data.
struct ByteReader<'a>(&'a [u8]);

impl ByteReader<'_> {
    fn take_bytes(&mut self, n: usize) -> &[u8] {
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        head
    }

    /// A column: byte planes from the lowest on, or bits.
    fn read_column(&mut self, n_rows: usize, bits: u32) -> Vec<u64> {
        if bits == 1 {
            let bytes = self.take_bytes(n_rows.div_ceil(8));
            return (0..n_rows).map(|i| u64::from(bytes[i / 8] >> (i % 8) & 1)).collect();
        }
        let mut column = vec![0; n_rows];
        for plane in 0..bits / 8 {
            for (word, byte) in column.iter_mut().zip(self.take_bytes(n_rows)) {
                *word |= u64::from(*byte) << (8 * plane);
            }
        }
        column
    }
}

fn read_pool(line: &str, data: &mut ByteReader<'_>) -> OperandPool {
    let (head, _) = line.split_once(" | ").unwrap();
    let mut numbers = head.split(' ').skip(1).map(|n| n.parse::<usize>().unwrap());
    let n_rows = numbers.next().unwrap();
    let widths: Vec<usize> = numbers.collect();
    let n_columns = widths.len();
    let mut rows = vec![0; n_rows * n_columns];
    for (i, width) in widths.iter().enumerate() {
        for (row, word) in data.read_column(n_rows, *width as u32).into_iter().enumerate() {
            rows[row * n_columns + i] = word;
        }
    }
    OperandPool { n_rows, n_columns, rows }
}

/// All forms of the table.
pub fn read_forms() -> Vec<RecordedForm> {
    let packed = std::fs::read(recorded_folder().join("table.xz")).unwrap();
    let mut raw = vec![];
    XzReader::new(&*packed, false).read_to_end(&mut raw).unwrap();
    let length = u32::from_le_bytes(raw[..4].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&raw[4..4 + length]).unwrap();
    let mut data = ByteReader(&raw[4 + length..]);
    let mut pools: HashMap<&str, Arc<OperandPool>> = HashMap::new();
    let mut previous: HashMap<(&str, usize, u32), Vec<u64>> = HashMap::new();
    let mut forms = vec![];
    for line in header.lines() {
        if line.starts_with("pool ") {
            let name = line.split_once(" | ").unwrap().1;
            pools.insert(name, Arc::new(read_pool(line, &mut data)));
        } else if let Some(rest) = line.strip_prefix("form ") {
            let mut parts = rest.splitn(3, " | ");
            let (head, pool_name, text) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
            let (tag, registers) = head.split_once(' ').unwrap();
            let (sources, results) = registers.split_once('>').unwrap();
            let names = |list: &str| list.split_whitespace().map(String::from).collect::<Vec<_>>();
            let (sources, results) = (names(sources), names(results));
            let pool = Arc::clone(&pools[pool_name]);
            let mut wanted = vec![];
            for (i, result) in results.iter().enumerate() {
                let width = register_bits(result);
                let mut column = data.read_column(pool.n_rows, width);
                if let Some(last) = previous.get(&(pool_name, i, width)) {
                    column.iter_mut().zip(last).for_each(|(word, other)| *word ^= other);
                }
                previous.insert((pool_name, i, width), column.clone());
                wanted.push(column);
            }
            let text = text.to_string();
            forms.push(RecordedForm { text, approximate: tag == "approx", sources, results, pool, wanted });
        }
    }
    assert!(data.0.is_empty(), "the table has {} bytes more than its header says", data.0.len());
    forms
}
