//! Sensors of a device, and measuring the energy of a launch with them.

use crate::outcome::Failure;

/// A sensor of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sensor {
    /// The multiprocessor clock, in MHz.
    Clock,
    /// The power draw, in watts.
    Power,
    /// The energy consumed so far, in joules.
    Energy,
    /// The temperature, in degrees Celsius.
    Temperature,
}

impl Sensor {
    /// All sensors, with the names of their columns.
    pub const NAMES: &[(&str, Sensor)] = &[
        ("clock", Sensor::Clock),
        ("power", Sensor::Power),
        ("energy", Sensor::Energy),
        ("temperature", Sensor::Temperature),
    ];

    /// The name of its column.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, sensor)| *sensor == self).map_or("", |(name, _)| name)
    }

    /// The unit of its column.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Clock => "MHz",
            Self::Power => "W",
            Self::Energy => "J",
            Self::Temperature => "C",
        }
    }
}

/// The sensors of one device.
pub trait Sensors: Send + Sync {
    /// The current reading; `None` if the device has no such sensor.
    fn read(&self, sensor: Sensor) -> Option<f64>;
}

/// The energy of a launch, from repeated launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyOfLaunch {
    /// Joules per launch.
    pub joules: f64,
    /// The mean power.
    pub watts: f64,
}

/// Launches are repeated for so many seconds at least.
const LEAST_SECONDS: f64 = 0.2;
/// Between readings.
const WINDOW_SECONDS: f64 = 0.01;
/// An energy counter that stands still for longer is none.
const PATIENCE_SECONDS: f64 = 1.0;
const MAX_LAUNCHES: f64 = 100_000.0;

/// A reading in the course of repeated launches.
#[derive(Clone, Copy)]
struct Mark {
    seconds: f64,
    launches: f64,
    reading: f64,
}

/// Repeats launches of `seconds_of_launch` seconds, which `time(count)` makes, for at least 0.2 s, and reads the
/// sensors every 10 ms. The energy is the difference of the device's counter between two of its steps, so that coarse
/// steps do no harm; if there is no counter or it does not advance, it is the power integrated by the trapezoidal rule.
/// Pauses between windows count too. `None` if the device has neither. `now` is a clock in seconds.
///
/// # Errors
/// The failure of a launch.
pub fn measure_energy(
    sensors: &dyn Sensors,
    seconds_of_launch: f64,
    now: &mut dyn FnMut() -> f64,
    time: &mut dyn FnMut(u32) -> Result<f64, Failure>,
) -> Result<Option<EnergyOfLaunch>, Failure> {
    let count = whole_graphs((WINDOW_SECONDS / seconds_of_launch.max(1e-9)).ceil().clamp(1.0, MAX_LAUNCHES));
    let mut counter = sensors.read(Sensor::Energy);
    let start = now();
    let mut launches = 0.0;
    // The counter's first and last step.
    let mut steps: Option<(Mark, Mark)> = None;
    let mut power: Vec<Mark> = Vec::new();
    if let Some(reading) = sensors.read(Sensor::Power) {
        power.push(Mark { seconds: 0.0, launches, reading });
    }
    if counter.is_none() && power.is_empty() {
        return Ok(None);
    }
    loop {
        time(count as u32)?;
        launches += count;
        let seconds = now() - start;
        let mark = |reading| Mark { seconds, launches, reading };
        power.extend(sensors.read(Sensor::Power).map(mark));
        let reading = sensors.read(Sensor::Energy);
        if let Some(step) = reading.filter(|_| reading != counter).map(mark) {
            steps = Some((steps.map_or(step, |(first, _)| first), step));
        }
        counter = reading.or(counter);
        let covered = steps.map_or(0.0, |(first, last)| last.seconds - first.seconds);
        if covered >= LEAST_SECONDS {
            break;
        }
        let stands_still = counter.is_none() || seconds >= PATIENCE_SECONDS && covered == 0.0;
        if seconds >= LEAST_SECONDS && stands_still || seconds > 4.0 * PATIENCE_SECONDS {
            break;
        }
    }
    let by_counter = steps.and_then(|(first, last)| difference(&first, &last, last.reading - first.reading));
    Ok(by_counter.or_else(|| {
        let joules = power
            .windows(2)
            .map(|pair| (pair[1].seconds - pair[0].seconds) * f64::midpoint(pair[0].reading, pair[1].reading));
        difference(power.first()?, power.last()?, joules.sum())
    }))
}

/// At least so many launches, which windows in graphs make exactly: graphs have up to 256 launches, of callables 32.
fn whole_graphs(count: f64) -> f64 {
    let graph = if count <= 32.0 {
        1.0
    } else if count <= 256.0 {
        32.0
    } else {
        256.0
    };
    (count / graph).ceil() * graph
}

fn difference(first: &Mark, last: &Mark, joules: f64) -> Option<EnergyOfLaunch> {
    let (seconds, launches) = (last.seconds - first.seconds, last.launches - first.launches);
    (seconds > 0.0 && launches > 0.0 && joules > 0.0)
        .then(|| EnergyOfLaunch { joules: joules / launches, watts: joules / seconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::Mutex;

    /// A device of 250 W whose counter moves every 37 ms.
    struct Meter<'a> {
        seconds: &'a Mutex<f64>,
        has_counter: bool,
        has_power: bool,
    }

    impl Sensors for Meter<'_> {
        fn read(&self, sensor: Sensor) -> Option<f64> {
            let seconds = *self.seconds.lock().unwrap();
            match sensor {
                Sensor::Energy if self.has_counter => Some(1e6 + 250.0 * 0.037 * (seconds / 0.037).floor()),
                Sensor::Power if self.has_power => Some(250.0),
                _ => None,
            }
        }
    }

    fn measured(has_counter: bool, has_power: bool, seconds_of_launch: f64) -> (Option<EnergyOfLaunch>, f64) {
        let seconds = Mutex::new(0.0);
        let most = Cell::new(0);
        let found = measure_energy(
            &Meter { seconds: &seconds, has_counter, has_power },
            seconds_of_launch,
            &mut || *seconds.lock().unwrap(),
            &mut |count| {
                most.set(most.get().max(count));
                *seconds.lock().unwrap() += f64::from(count) * seconds_of_launch;
                Ok(seconds_of_launch)
            },
        );
        let spent = *seconds.lock().unwrap();
        (found.unwrap(), spent)
    }

    #[test]
    fn a_coarse_counter_is_read_between_its_steps() {
        let (found, spent) = measured(true, false, 1e-4);
        let found = found.unwrap();
        // The steps are seen within 10 ms, of 222 ms.
        assert!((found.joules / 0.025 - 1.0).abs() < 0.05 && (found.watts / 250.0 - 1.0).abs() < 0.05, "{found:?}");
        assert!((0.2..0.35).contains(&spent), "{spent}");
        assert!(
            (measured(true, true, 0.6).0.unwrap().joules / 150.0 - 1.0).abs() < 0.1,
            "launches longer than a window"
        );
    }

    #[test]
    fn power_is_integrated_where_there_is_no_counter() {
        let (found, spent) = measured(false, true, 1e-4);
        assert!((found.unwrap().joules - 0.025).abs() < 1e-9);
        assert!((0.2..0.25).contains(&spent), "{spent}");
        assert_eq!(measured(false, false, 1e-4), (None, 0.0), "no launch is made for nothing");
    }
}
