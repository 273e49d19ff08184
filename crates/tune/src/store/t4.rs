//! Conversion between results of the store and T4 files.

use super::device::DeviceKey;
use super::problem::Problem;
use super::record::{Details, Record};
use crate::configurations::Config;
use crate::formats::t4::{T4, T4Measurement, T4Result, T4Times};
use crate::outcome::{FailureKind, Outcome};
use crate::statistics::median;
use serde_json::json;

/// Milliseconds of a second: the unit that other tools expect in T4 files.
const MS: f64 = 1e3;

/// Makes a T4 file from the results for one device and problem. What was not measured is left out.
pub fn t4_from_records(records: &[Record]) -> T4 {
    let is_skipped =
        |record: &&Record| matches!(&record.outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Skipped);
    let mut t4 = T4 {
        results: records.iter().filter(|record| !is_skipped(record)).map(result_from_record).collect(),
        ..T4::default()
    };
    if let Some(first) = records.first() {
        t4.metadata.insert("device".into(), json!(first.device.name));
        t4.metadata.insert("backend".into(), json!(first.device.backend));
        t4.metadata.insert("problem".into(), json!(first.problem.to_string()));
    }
    t4.metadata.insert("autotuner".into(), json!("rtcg"));
    t4
}

fn result_from_record(record: &Record) -> T4Result {
    let objective = record.objective();
    let (failure, value) = match &record.outcome {
        Outcome::Score(score) if objective.is_time() => (None, json!(score * MS)),
        Outcome::Score(_) => (None, json!(median(&record.samples) * MS)),
        Outcome::Failed(failure) => (Some(failure.kind), json!(failure.message)),
    };
    let numbers = [
        ("registers", record.resources.registers.map(f64::from), ""),
        ("spill_bytes", record.resources.spill_bytes.map(|bytes| bytes as f64), "B"),
        ("shared_bytes", record.resources.shared_bytes.map(|bytes| bytes as f64), "B"),
        ("occupancy", record.resources.occupancy, ""),
        ("sm_clock", record.details.sm_clock_mhz, "MHz"),
        ("temperature", record.details.temperature_celsius, "C"),
    ];
    let measurement = |name: &str, value, unit: &str| T4Measurement { name: name.into(), value, unit: unit.into() };
    let mut measurements = vec![measurement("time", value, "ms")];
    measurements
        .extend(numbers.iter().filter_map(|(name, value, unit)| Some(measurement(name, json!((*value)?), unit))));
    if let Some(score) = record.score().filter(|_| !objective.is_time()) {
        measurements.push(measurement(objective.name(), json!(objective.value(score)), objective.unit()));
    }
    T4Result {
        timestamp: Some(utc_text(record.timestamp)),
        configuration: record.config.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect(),
        times: T4Times {
            compilation: record.details.compile_seconds.map(|seconds| seconds * MS),
            runtimes: record.samples.iter().map(|seconds| seconds * MS).collect(),
            ..T4Times::default()
        },
        failure,
        correctness: if failure.is_none() { 1.0 } else { 0.0 },
        measurements,
        objectives: vec![objective.name().into()],
        ..T4Result::default()
    }
}

/// Converts the results of a T4 file, which specifies neither in full, to results for a device and a problem.
pub fn records_from_t4(t4: &T4, device: &DeviceKey, problem: &Problem) -> Vec<Record> {
    let record = |result: &T4Result| {
        let (names, values): (Vec<_>, Vec<_>) = result.configuration.iter().cloned().unzip();
        let compile_seconds = result.times.compilation.map(|time| time * t4.seconds_per_unit());
        let timestamp = result.timestamp.as_deref().and_then(seconds_of_utc_text).unwrap_or(0);
        let config = Config::new(names.into(), values);
        Record {
            samples: t4.samples_seconds(result),
            details: Details { compile_seconds, ..Details::default() },
            timestamp,
            ..Record::new(device.clone(), problem.clone(), config, t4.outcome(result))
        }
    };
    t4.results.iter().map(record).collect()
}

const DAY: u64 = 86_400;

/// `2026-01-31 12:00:00+00:00`
fn utc_text(seconds: u64) -> String {
    let (year, month, day) = date_of_day((seconds / DAY).min(1 << 24));
    let time = seconds % DAY;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}+00:00", time / 3600, time / 60 % 60, time % 60)
}

/// The date so many days after 1 January 1970. In years that begin in March, the leap day is the last.
fn date_of_day(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + next, month, day_of_month)
}

/// Seconds since 1970 of a date and time in UTC; `None` for other time zones and other texts.
fn seconds_of_utc_text(text: &str) -> Option<u64> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let time = time.strip_suffix("+00:00").or_else(|| time.strip_suffix('Z')).unwrap_or(time);
    let time = time.split_once('.').map_or(time, |(whole, _)| whole);
    let numbers = |text: &str, separator: char| -> Option<[u64; 3]> {
        let parts: Option<Vec<u64>> = text.split(separator).map(|part| part.parse().ok()).collect();
        parts?.try_into().ok()
    };
    let ([year, month, day], [hours, minutes, seconds]) = (numbers(date, '-')?, numbers(time, ':')?);
    let is_valid = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_valid || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year / 400, year % 400);
    let days = era * 146_097 + 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * DAY + hours * 3600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00+00:00"),
            (951_782_399, "2000-02-28 23:59:59+00:00"),
            (951_782_400, "2000-02-29 00:00:00+00:00"),
            (951_868_800, "2000-03-01 00:00:00+00:00"),
            (1_703_238_828, "2023-12-22 09:53:48+00:00"),
            (4_107_542_400, "2100-03-01 00:00:00+00:00"),
        ] {
            assert_eq!(utc_text(seconds), text);
            assert_eq!(seconds_of_utc_text(text), Some(seconds));
        }
        assert_eq!(seconds_of_utc_text("2023-12-22T09:53:48.691683Z"), Some(1_703_238_828));
        for text in ["", "now", "2023-12-22", "2023-13-22 00:00:00", "1969-12-31 23:59:59", "2023-12-22 09:53:48+02:00"]
        {
            assert_eq!(seconds_of_utc_text(text), None, "{text}");
        }
        assert!(utc_text(u64::MAX).ends_with("+00:00"));
    }
}
