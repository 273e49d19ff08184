//! `rtcg.random`: the generators. What they do is in `rtcg::generators`.

use crate::ctypes::{ArrayHolder, ctype_of_dtype};
use crate::driver::stream::{PyStream, stream_of};
use crate::elementwise::current_context;
use crate::errors::generator_error;
use crate::pointer::record_pointer_use;
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rtcg::codegen::c_declarations::CType;
use rtcg::codegen::random::{Distribution, RandomEngine, sobol};
use rtcg::generators::{Generator, Parameters, Sequential, Skip};

fn engine_of(name: &str) -> PyResult<RandomEngine> {
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

fn draw_of(name: &str) -> PyResult<Distribution> {
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
fn array_with_ctype(data: &Bound<'_, PyAny>) -> PyResult<(ArrayHolder, CType)> {
    let holder = ArrayHolder::from_object(data)?.ok_or_else(|| {
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
        Generator::new(engine_of(engine)?, key, stream).map(Self).map_err(|error| generator_error(py, error))
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
        let filled = self.0.fill(
            &current_context()?,
            draw_of(draw)?,
            &element,
            &holder.array_view(),
            Parameters::Real(p, q),
            stream_of(stream),
        );
        filled.map_err(|error| generator_error(py, error))?;
        record_pointer_use(data, stream_of(stream));
        Ok(())
    }

    /// Integers from `low` on, `range` of them; both modulo 2^64, range 0 for all.
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
        let parameters = Parameters::Integer(low, range);
        let filled = self.0.fill(
            &current_context()?,
            Distribution::Integers,
            &element,
            &holder.array_view(),
            parameters,
            stream_of(stream),
        );
        filled.map_err(|error| generator_error(py, error))?;
        record_pointer_use(data, stream_of(stream));
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
        let filled = self.0.permutation(&current_context()?, &element, &holder.array_view(), stream_of(stream));
        filled.map_err(|error| generator_error(py, error))?;
        record_pointer_use(data, stream_of(stream));
        Ok(())
    }

    fn host_bits(&self) -> u64 {
        self.0.host_bits()
    }

    fn advance(&self, counters: u64) {
        self.0.advance(counters);
    }

    #[getter]
    fn key(&self) -> u64 {
        self.0.key()
    }

    #[getter]
    fn stream_number(&self) -> u32 {
        self.0.stream()
    }

    #[getter]
    fn position(&self) -> u64 {
        self.0.position()
    }

    fn set_position(&self, position: u64) {
        self.0.set_position(position);
    }
}

/// Generators with states on the device.
#[pyclass(name = "SequentialGenerators", module = "rtcg.random", frozen)]
struct PySequential(Sequential);

#[pymethods]
impl PySequential {
    #[staticmethod]
    fn seeded(py: Python<'_>, engine: &str, seeds: Vec<u64>, offset: u64) -> PyResult<Self> {
        let (engine, ctx) = (engine_of(engine)?, current_context()?);
        let made = py.detach(|| Sequential::seeded(&ctx, engine, &seeds, offset));
        made.map(Self).map_err(|error| generator_error(py, error))
    }

    #[staticmethod]
    fn directed(py: Python<'_>, engine: &str, vectors: Vec<u64>, scramble: Vec<u64>, offset: u64) -> PyResult<Self> {
        let (engine, ctx) = (engine_of(engine)?, current_context()?);
        let made = py.detach(|| Sequential::directed(&ctx, engine, &vectors, &scramble, offset));
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
        let filled =
            self.0.fill(draw_of(draw)?, &element, &holder.array_view(), Parameters::Real(p, q), stream_of(stream));
        filled.map_err(|error| generator_error(py, error))?;
        record_pointer_use(data, stream_of(stream));
        Ok(())
    }

    /// `what`: "numbers", "subsequences" or "sequences".
    fn skip(&self, py: Python<'_>, what: &str, counts: Vec<u64>) -> PyResult<()> {
        let what = match what {
            "numbers" => Skip::Numbers,
            "subsequences" => Skip::Subsequences,
            _ => Skip::Sequences,
        };
        py.detach(|| self.0.skip(what, &counts)).map_err(|error| generator_error(py, error))
    }

    #[getter]
    fn count(&self) -> usize {
        self.0.count()
    }
}

/// Direction vectors of `count` dimensions, as a flat list.
#[pyfunction]
fn sobol_vectors(bits: u32, count: usize) -> Vec<u64> {
    if bits == 64 { sobol::vectors64(count) } else { sobol::vectors32(count).into_iter().map(u64::from).collect() }
}

/// Scrambling constants of 64 bits.
#[pyfunction]
fn scramble_constants(count: usize) -> Vec<u64> {
    sobol::scramble_constants(count)
}

pub(crate) fn add_to_module(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyCounterGenerator>()?;
    m.add_class::<PySequential>()?;
    m.add_function(wrap_pyfunction!(sobol_vectors, m)?)?;
    m.add_function(wrap_pyfunction!(scramble_constants, m)?)
}
