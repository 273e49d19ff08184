//! The table of a space's valid configurations.

use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// All valid configurations of a space, as a table with one row per configuration and one column per parameter, in
/// lexicographic order. A cell is the index of the value in its parameter's list of values, so a row takes two bytes
/// per parameter, and a binary search finds a configuration.
#[derive(Debug, Clone)]
pub struct Configurations {
    names: Arc<[String]>,
    values: Vec<Vec<Value>>,
    cells: Vec<u16>,
}

impl Configurations {
    /// Makes a table from `cells`, row after row, and sorts its rows.
    ///
    /// # Panics
    /// When `cells` is not a whole number of rows, or a cell is not the index of a value.
    pub fn new(names: Vec<String>, values: Vec<Vec<Value>>, cells: Vec<u16>) -> Self {
        assert_eq!(names.len(), values.len(), "each parameter has a list of values");
        assert_eq!(cells.len() % names.len().max(1), 0, "cells are whole rows");
        let columns = names.len();
        assert!(
            cells.iter().enumerate().all(|(place, &cell)| usize::from(cell) < values[place % columns].len()),
            "each cell has a value"
        );
        let mut table = Configurations { names: names.into(), values, cells };
        if !table.rows().is_sorted() {
            let mut rows: Vec<&[u16]> = table.rows().collect();
            rows.sort_unstable();
            table.cells = rows.concat();
        }
        table
    }

    /// A table of rows that are valid and sorted already.
    pub(crate) fn of_sorted_rows(names: Vec<String>, values: Vec<Vec<Value>>, cells: Vec<u16>) -> Self {
        Configurations { names: names.into(), values, cells }
    }

    /// The number of configurations.
    pub fn len(&self) -> usize {
        if self.names.is_empty() { 0 } else { self.cells.len() / self.names.len() }
    }

    /// Whether no configuration is valid.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the parameters.
    pub fn names(&self) -> &Arc<[String]> {
        &self.names
    }

    /// The values of a column's parameter.
    pub fn values(&self, column: usize) -> &[Value] {
        &self.values[column]
    }

    /// The cells of a row.
    pub fn row(&self, row: u32) -> &[u16] {
        let columns = self.names.len();
        &self.cells[row as usize * columns..(row as usize + 1) * columns]
    }

    /// The cells of all rows.
    pub fn rows(&self) -> impl Iterator<Item = &[u16]> {
        self.cells.chunks_exact(self.names.len().max(1))
    }

    /// Finds the row with these cells, if that configuration is valid.
    pub fn find(&self, cells: &[u16]) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.row(middle as u32).cmp(cells) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle as u32),
            }
        }
        None
    }

    /// Finds the row of a configuration, if it is valid here. The names may be in any order, but all must be present.
    pub fn find_config(&self, config: &Config) -> Option<u32> {
        let cells: Option<Vec<u16>> = (0..self.names.len())
            .map(|column| {
                let value = config.get(&self.names[column])?;
                self.values[column].iter().position(|known| known == value).map(|cell| cell as u16)
            })
            .collect();
        self.find(&cells?)
    }

    /// Converts a row to names and values.
    pub fn config(&self, row: u32) -> Config {
        let values = self.row(row).iter().zip(&self.values).map(|(&cell, values)| values[usize::from(cell)].clone());
        Config { names: Arc::clone(&self.names), values: values.collect() }
    }
}

/// One configuration: a value for each name, in the order of the space.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    names: Arc<[String]>,
    values: Vec<Value>,
}

impl Config {
    /// Makes a configuration from names and values.
    ///
    /// # Panics
    /// When there is not exactly one value per name.
    pub fn new(names: Arc<[String]>, values: Vec<Value>) -> Self {
        assert_eq!(names.len(), values.len(), "each parameter has a value");
        Config { names, values }
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// Iterates over names and values, in the order of the space.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.names.iter().map(String::as_str).zip(&self.values)
    }
}

/// `bx=32, by=8, stage=True`.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (name, value)) in self.iter().enumerate() {
            write!(f, "{}{name}={value}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
