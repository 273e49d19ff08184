//! `rtcg.random`: the generators. What they do is in `rtcg::generators`.

use crate::ctypes::{ArrayArgument, ctype_of_dtype};
use crate::driver::memory::device_pointer::record_pointer_use;
use crate::driver::stream::{PyStream, as_driver_stream};
use crate::errors::generator_error;
use crate::gpuarray::{array_context, run_in_stream};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rtcg::codegen::c_declarations::CType;
use rtcg::codegen::random::{Distribution, RandomEngine, sobol};
use rtcg::generators::{DistributionParameters, Generator, SequentialGenerators, SkipUnit};

fn engine_by_name(name: &str) -> PyResult<RandomEngine> {
    Ok(match name {
        "philox" => RandomEngine::Philox,
        "threefry" => RandomEngine::Threefry,
        "xorwow" => RandomEngine::Xorwow,
        "mrg32k3a" => RandomEngine::Mrg32k3a,
        "sobol32" => RandomEngine::Sobol32,
        "sobol64" => RandomEngine::Sobol64,
        _ => return Err(PyValueError::new_err(format!("unknown generator {name:?}"))),
    })
}

fn distribution_by_name(name: &str) -> PyResult<Distribution> {
    Ok(match name {
        "bits" => Distribution::Bits,
        "uniform" => Distribution::Uniform,
        "half_open" => Distribution::HalfOpen,
        "normal" => Distribution::Normal,
        "log_normal" => Distribution::LogNormal,
        "exponential" => Distribution::Exponential,
        "poisson" => Distribution::Poisson,
        "poisson_in_place" => Distribution::PoissonInPlace,
        "integers" => Distribution::Integers,
        _ => return Err(PyValueError::new_err(format!("unknown distribution {name:?}"))),
    })
}

/// An array with the C type of its elements.
fn array_with_ctype(data: &Bound<'_, PyAny>) -> PyResult<(ArrayArgument, CType)> {
    let holder = ArrayArgument::from_array_like(data)?.ok_or_else(|| {
        let kind = data.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        PyTypeError::new_err(format!("expected a GPUArray, got {kind}"))
    })?;
    let dtype = PyArrayDescr::new(data.py(), data.getattr("dtype")?)?;
    Ok((holder, ctype_of_dtype(&dtype)?))
}

/// A counter-based generator.
#[pyclass(name = "CounterGenerator", module = "rtcg.random", frozen)]
struct PyCounterGenerator(Generator);

#[pymethods]
impl PyCounterGenerator {
    #[new]
    fn new(py: Python<'_>, engine: &str, key: u64, stream: u32) -> PyResult<Self> {
        Generator::new(engine_by_name(engine)?, key, stream).map(Self).map_err(|error| generator_error(py, error))
    }

    #[pyo3(signature = (draw, data, p = 0.0, q = 1.0, stream = None))]
    fn fill(
        &self,
        py: Python<'_>,
        draw: &str,
        data: &Bound<'_, PyAny>,
        p: f64,
        q: f64,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        let (holder, element) = array_with_ctype(data)?;
        let (ctx, draw, parameters) =
            (array_context()?, distribution_by_name(draw)?, DistributionParameters::Real(p, q));
        let fill = || self.0.fill(&ctx, draw, &element, &holder.array_view(), parameters);
        run_in_stream(stream, || fill().map_err(|error| generator_error(py, error)))?;
        record_pointer_use(data, as_driver_stream(stream)?);
        Ok(())
    }

    /// Random integers from `low` to ``low + range - 1``, both modulo 2^64; a `range` of 0 means all integers.
    #[pyo3(signature = (data, low, range, stream = None))]
    fn fill_integers(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        low: u64,
        range: u64,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        let (holder, element) = array_with_ctype(data)?;
        let parameters = DistributionParameters::Integer(low, range);
        let ctx = array_context()?;
        let fill = || self.0.fill(&ctx, Distribution::Integers, &element, &holder.array_view(), parameters);
        run_in_stream(stream, || fill().map_err(|error| generator_error(py, error)))?;
        record_pointer_use(data, as_driver_stream(stream)?);
        Ok(())
    }

    #[pyo3(signature = (data, stream = None))]
    fn fill_permutation(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        let (holder, element) = array_with_ctype(data)?;
        let ctx = array_context()?;
        let fill = || self.0.permutation(&ctx, &element, &holder.array_view());
        run_in_stream(stream, || fill().map_err(|error| generator_error(py, error)))?;
        record_pointer_use(data, as_driver_stream(stream)?);
        Ok(())
    }

    fn host_bits(&self) -> u64 {
        self.0.next_host_u64()
    }

    fn advance(&self, counters: u64) {
        self.0.skip_counters(counters);
    }

    #[getter]
    fn generator_key(&self) -> u64 {
        self.0.rng_key()
    }

    #[getter]
    fn stream_number(&self) -> u32 {
        self.0.stream()
    }

    #[getter]
    fn counter_position(&self) -> u64 {
        self.0.counter_position()
    }

    fn set_counter_position(&self, position: u64) {
        self.0.set_counter_position(position);
    }
}

/// Generators with their states on the device.
#[pyclass(name = "SequentialGenerators", module = "rtcg.random", frozen)]
struct PySequentialGenerators(SequentialGenerators);

#[pymethods]
impl PySequentialGenerators {
    #[staticmethod]
    fn from_seeds(py: Python<'_>, engine: &str, seeds: Vec<u64>, offset: u64) -> PyResult<Self> {
        let (engine, ctx) = (engine_by_name(engine)?, array_context()?);
        let made = py.detach(|| SequentialGenerators::from_seeds(&ctx, engine, &seeds, offset));
        made.map(Self).map_err(|error| generator_error(py, error))
    }

    #[staticmethod]
    fn from_direction_vectors(
        py: Python<'_>,
        engine: &str,
        vectors: Vec<u64>,
        scramble: Vec<u64>,
        offset: u64,
    ) -> PyResult<Self> {
        let (engine, ctx) = (engine_by_name(engine)?, array_context()?);
        let made =
            py.detach(|| SequentialGenerators::from_direction_vectors(&ctx, engine, &vectors, &scramble, offset));
        made.map(Self).map_err(|error| generator_error(py, error))
    }

    #[pyo3(signature = (draw, data, p = 0.0, q = 1.0, stream = None))]
    fn fill(
        &self,
        py: Python<'_>,
        draw: &str,
        data: &Bound<'_, PyAny>,
        p: f64,
        q: f64,
        stream: Option<&Bound<'_, PyStream>>,
    ) -> PyResult<()> {
        let (holder, element) = array_with_ctype(data)?;
        let (draw, parameters) = (distribution_by_name(draw)?, DistributionParameters::Real(p, q));
        let fill = || self.0.fill(draw, &element, &holder.array_view(), parameters);
        run_in_stream(stream, || fill().map_err(|error| generator_error(py, error)))?;
        record_pointer_use(data, as_driver_stream(stream)?);
        Ok(())
    }

    /// `what`: "numbers", "subsequences" or "sequences".
    fn skip_ahead(&self, py: Python<'_>, what: &str, counts: Vec<u64>) -> PyResult<()> {
        let what = match what {
            "numbers" => SkipUnit::Numbers,
            "subsequences" => SkipUnit::Subsequences,
            _ => SkipUnit::Sequences,
        };
        py.detach(|| self.0.skip_ahead(what, &counts)).map_err(|error| generator_error(py, error))
    }

    #[getter]
    fn generator_count(&self) -> usize {
        self.0.generator_count()
    }
}

/// The direction vectors of `count` dimensions, as a flat list.
#[pyfunction]
fn sobol_vectors(bits: u32, count: usize) -> Vec<u64> {
    if bits == 64 {
        sobol::direction_vectors_64(count)
    } else {
        sobol::direction_vectors_32(count).into_iter().map(u64::from).collect()
    }
}

/// Scrambling constants of 64 bits.
#[pyfunction]
fn scramble_constants(count: usize) -> Vec<u64> {
    sobol::scramble_constants(count)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyCounterGenerator>()?;
    m.add_class::<PySequentialGenerators>()?;
    m.add_function(wrap_pyfunction!(sobol_vectors, m)?)?;
    m.add_function(wrap_pyfunction!(scramble_constants, m)?)
}
