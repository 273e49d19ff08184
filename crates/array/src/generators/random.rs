//! Random numbers on the device.
//!
//! [`Generator`] is counter-based: it holds a key, a stream and a position, and nothing on the device.
//! [`SequentialGenerators`] keeps the states of XORWOW, MRG32k3a or Sobol generators in device memory; the caller
//! chooses their number, so results do not depend on the device.

use super::dense_copies;
use super::loaded_kernel::LoadedKernel;
use super::operand::ArrayView;
use rtcg_codegen::c_declarations::CType;
use rtcg_codegen::random::{
    Distribution, MAX_COUNTERS_PER_LAUNCH, RANDOM_BLOCK_THREADS, RandomEngine, RandomKernel, mrg32k3a, philox, xorwow,
};
use rtcg_hal::{ArrayBuffer, ArrayContext, ArrayError, LaunchArgs, Result, lock_blocking};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

fn random_kernel(ctx: &ArrayContext, form: &RandomKernel) -> Result<LoadedKernel> {
    LoadedKernel::with_threads(ctx, form, RANDOM_BLOCK_THREADS)
}

fn check_element_size(out: &ArrayView<'_>, element: &CType) -> Result<()> {
    if out.itemsize == element.itemsize {
        return Ok(());
    }
    Err(ArrayError::type_error(format!(
        "the array has elements of {} bytes; {} has {}",
        out.itemsize, element.name, element.itemsize
    )))
}

/// Times that the blocks of a fill of counters fit on the device; more would only begin and end.
const MAX_WAVES: usize = 4;

/// The two parameters of a distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DistributionParameters {
    /// p and q of [`Distribution`].
    Real(f64, f64),
    /// low and range of [`Distribution::Integers`].
    Integer(u64, u64),
}

impl DistributionParameters {
    fn parameter_bytes(self) -> [[u8; 8]; 2] {
        match self {
            DistributionParameters::Real(p, q) => [p.to_ne_bytes(), q.to_ne_bytes()],
            DistributionParameters::Integer(low, range) => [low.to_ne_bytes(), range.to_ne_bytes()],
        }
    }
}

/// A counter-based generator (Philox or Threefry). Its numbers depend only on key, stream and position.
#[derive(Debug)]
pub struct Generator {
    engine: RandomEngine,
    key: u64,
    stream: u32,
    position: AtomicU64,
}

impl Generator {
    /// Makes a generator at position 0.
    ///
    /// # Errors
    /// When the engine is not counter-based.
    pub fn new(engine: RandomEngine, key: u64, stream: u32) -> Result<Self> {
        if !engine.is_counter_based() {
            return Err(ArrayError::value_error(format!("{engine:?} is no counter-based generator")));
        }
        Ok(Self { engine, key, stream, position: AtomicU64::new(0) })
    }

    /// The key.
    pub fn rng_key(&self) -> u64 {
        self.key
    }

    /// The stream.
    pub fn stream(&self) -> u32 {
        self.stream
    }

    /// The counter at which the next call begins; each counter gives four words.
    pub fn counter_position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    /// Moves to a counter.
    pub fn set_counter_position(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }

    /// Skips counters, wrapping around.
    pub fn skip_counters(&self, counters: u64) {
        self.position.fetch_add(counters, Ordering::Relaxed);
    }

    /// Generates 64 bits for use on the host, from one counter.
    pub fn next_host_u64(&self) -> u64 {
        let c = self.position.fetch_add(1, Ordering::Relaxed);
        let counter = [c as u32, (c >> 32) as u32, self.stream, 0];
        let (k0, k1) = (self.key as u32, (self.key >> 32) as u32);
        let w = match self.engine {
            RandomEngine::Threefry => philox::threefry4x32(counter, [k0, k1, 0, 0]),
            _ => philox::philox4x32(counter, [k0, k1]),
        };
        u64::from(w[1]) << 32 | u64::from(w[0])
    }

    /// Fills an array in memory order, or in C order if it has gaps; enqueues and does not wait.
    ///
    /// # Errors
    /// When the array has another element size.
    pub fn fill(
        &self,
        ctx: &Arc<ArrayContext>,
        draw: Distribution,
        element: &CType,
        out: &ArrayView<'_>,
        parameters: DistributionParameters,
    ) -> Result<()> {
        check_element_size(out, element)?;
        if !dense_copies::is_dense(out) {
            return dense_copies::run_with_dense_output(ctx, out, |dense| {
                self.fill(ctx, draw, element, dense, parameters)
            });
        }
        let n = out.n_elements();
        let counters = n.div_ceil(draw.elements_per_counter(element.itemsize));
        let first = self.position.fetch_add(counters as u64, Ordering::Relaxed);
        if n == 0 {
            return Ok(());
        }
        // Numbers of the plain distributions need no stretching.
        let draw = match (draw, parameters) {
            (Distribution::HalfOpen, DistributionParameters::Real(0.0, 1.0)) => Distribution::Unit,
            (Distribution::Normal, DistributionParameters::Real(0.0, 1.0)) => Distribution::StandardNormal,
            _ => draw,
        };
        let kernel = random_kernel(ctx, &RandomKernel::Fill(self.engine, draw, element.clone()))?;
        let per = draw.elements_per_counter(element.itemsize);
        let mut done = 0;
        while done < counters {
            // One launch has counters that differ in their lower 32 bits only.
            let start = first.wrapping_add(done as u64);
            let until_carry = (1u64 << 32) - (start & 0xffff_ffff);
            let now = (until_carry.min(MAX_COUNTERS_PER_LAUNCH) as usize).min(counters - done);
            let mut packed = LaunchArgs::new();
            packed.push_address(out.ptr, done * per * element.itemsize);
            packed.push_u64((n - done * per).min(now * per) as u64);
            parameters.parameter_bytes().iter().for_each(|bytes| packed.push(bytes, 8));
            [start, self.key].iter().for_each(|&number| packed.push_u64(number));
            packed.push_u32(self.stream);
            kernel.launch(ctx, [kernel.blocks_for_items(now, MAX_WAVES)?, 1, 1], 0, &packed)?;
            done += now;
        }
        out.record_use();
        Ok(())
    }

    /// Fills an array with a random permutation of `0..n`, using one counter.
    ///
    /// # Errors
    /// As [`Generator::fill`].
    pub fn permutation(&self, ctx: &Arc<ArrayContext>, element: &CType, out: &ArrayView<'_>) -> Result<()> {
        check_element_size(out, element)?;
        if !dense_copies::is_dense(out) {
            return dense_copies::run_with_dense_output(ctx, out, |dense| self.permutation(ctx, element, dense));
        }
        let key = self.next_host_u64();
        let n = out.n_elements();
        if n == 0 {
            return Ok(());
        }
        let half = ((usize::BITS - (n - 1).leading_zeros()).div_ceil(2)).max(1);
        let kernel = random_kernel(ctx, &RandomKernel::Permute(element.clone()))?;
        let mut packed = LaunchArgs::new();
        packed.push_address(out.ptr, 0);
        [n as u64, key].iter().for_each(|&number| packed.push_u64(number));
        [self.stream, half].iter().for_each(|&number| packed.push_u32(number));
        kernel.launch(ctx, [kernel.blocks_for_items(n, 1024)?, 1, 1], 0, &packed)?;
        out.record_use();
        Ok(())
    }
}

/// The unit of a skip of [`SequentialGenerators`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipUnit {
    /// Numbers.
    Numbers,
    /// Subsequences: 2^67 numbers of XORWOW, 2^76 of MRG32k3a.
    Subsequences,
    /// Sequences: 2^127 numbers of MRG32k3a; the same as subsequences for XORWOW.
    Sequences,
}

/// Generators whose states are on the device.
pub struct SequentialGenerators {
    engine: RandomEngine,
    count: usize,
    ctx: Arc<ArrayContext>,
    states: Arc<dyn ArrayBuffer>,
    /// Filling reads and writes the states; skipping does so on the host.
    access: Mutex<()>,
}

impl fmt::Debug for SequentialGenerators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialGenerators").field("engine", &self.engine).field("count", &self.count).finish()
    }
}

impl SequentialGenerators {
    /// Makes XORWOW or MRG32k3a generators: state `k` starts `offset` numbers into subsequence `k` of its seed.
    ///
    /// # Errors
    /// For other engines, without seeds, or when the device is out of memory.
    pub fn from_seeds(ctx: &Arc<ArrayContext>, engine: RandomEngine, seeds: &[u64], offset: u64) -> Result<Self> {
        let states = match engine {
            RandomEngine::Xorwow => xorwow::subsequence_states(seeds, offset),
            RandomEngine::Mrg32k3a => mrg32k3a::subsequence_states(seeds, offset),
            _ => return Err(ArrayError::value_error(format!("{engine:?} takes no seeds"))),
        };
        Self::from_state_bytes(
            ctx,
            engine,
            seeds.len(),
            states.iter().flatten().flat_map(|w| w.to_ne_bytes()).collect(),
        )
    }

    /// Makes Sobol generators of one dimension each, from their concatenated direction vectors and scramble constants
    /// (0 for none).
    ///
    /// # Errors
    /// For other engines, when the numbers of vectors do not fit, or when the device is out of memory.
    pub fn from_direction_vectors(
        ctx: &Arc<ArrayContext>,
        engine: RandomEngine,
        vectors: &[u64],
        scramble: &[u64],
        offset: u64,
    ) -> Result<Self> {
        let per = engine.output_bits() as usize;
        if !engine.is_quasi() || vectors.len() != per * scramble.len() {
            return Err(ArrayError::value_error(format!(
                "{} direction vectors and {} scrambling constants; expected {per} vectors for each of them",
                vectors.len(),
                scramble.len()
            )));
        }
        let mut bytes = Vec::with_capacity(scramble.len() * engine.state_bytes());
        for (v, &s) in vectors.chunks(per).zip(scramble) {
            if engine == RandomEngine::Sobol32 {
                let head = [0, 0, s as u32, 0];
                bytes.extend(head.into_iter().chain(v.iter().map(|&v| v as u32)).flat_map(u32::to_ne_bytes));
            } else {
                bytes.extend([0, s].iter().chain(v).flat_map(|v| v.to_ne_bytes()));
            }
        }
        let new = Self::from_state_bytes(ctx, engine, scramble.len(), bytes)?;
        if offset != 0 {
            new.skip_ahead(SkipUnit::Numbers, &[offset])?;
        }
        Ok(new)
    }

    fn from_state_bytes(ctx: &Arc<ArrayContext>, engine: RandomEngine, count: usize, bytes: Vec<u8>) -> Result<Self> {
        if count == 0 {
            return Err(ArrayError::value_error("there must be one generator at least"));
        }
        let states = ctx.device().alloc_from(None, bytes.len())?;
        ctx.queue().write(states.address_recording_use()?, &bytes)?;
        Ok(Self { engine, count, ctx: ctx.clone(), states, access: Mutex::default() })
    }

    /// How many generators there are.
    pub fn generator_count(&self) -> usize {
        self.count
    }

    /// Fills an array in memory order, or in C order if it has gaps; enqueues and does not wait. Element `k` comes
    /// from generator `k mod count`. The caller must order calls in several streams.
    ///
    /// # Errors
    /// When the array has another element size.
    pub fn fill(
        &self,
        draw: Distribution,
        element: &CType,
        out: &ArrayView<'_>,
        parameters: DistributionParameters,
    ) -> Result<()> {
        check_element_size(out, element)?;
        if !dense_copies::is_dense(out) {
            return dense_copies::run_with_dense_output(&self.ctx, out, |dense| {
                self.fill(draw, element, dense, parameters)
            });
        }
        let n = out.n_elements();
        if n == 0 {
            return Ok(());
        }
        let kernel = random_kernel(&self.ctx, &RandomKernel::Fill(self.engine, draw, element.clone()))?;
        let mut packed = LaunchArgs::new();
        packed.push_address(out.ptr, 0);
        packed.push_u64(n as u64);
        parameters.parameter_bytes().iter().for_each(|bytes| packed.push(bytes, 8));
        packed.push_address(self.states.device_ptr(), 0);
        packed.push_u64(self.count as u64);
        let blocks = n.min(self.count).div_ceil(RANDOM_BLOCK_THREADS as usize) as u32;
        let _alone = lock_blocking(&self.access);
        self.states.record_use();
        kernel.launch(&self.ctx, [blocks, 1, 1], 0, &packed)?;
        out.record_use();
        Ok(())
    }

    /// Skips all generators ahead by the same count, or each by its own. Waits for earlier work of the context.
    ///
    /// # Errors
    /// When there is neither one count nor one for each generator, or a kernel failed before.
    pub fn skip_ahead(&self, what: SkipUnit, counts: &[u64]) -> Result<()> {
        if counts.len() != 1 && counts.len() != self.count {
            return Err(ArrayError::value_error(format!(
                "{} counts were given for {} generators",
                counts.len(),
                self.count
            )));
        }
        let _alone = lock_blocking(&self.access);
        self.ctx.device().synchronize()?;
        let mut bytes = vec![0; self.count * self.engine.state_bytes()];
        let states = self.states.address_recording_use()?;
        self.ctx.queue().read(&mut bytes, states)?;
        let count_of = |k: usize| counts[if counts.len() == 1 { 0 } else { k }];
        for (k, state) in bytes.chunks_mut(self.engine.state_bytes()).enumerate() {
            skip_generator_state(self.engine, what, state, count_of(k))?;
        }
        self.ctx.queue().write(states, &bytes)
    }
}

fn read_u32(bytes: &[u8], k: usize) -> u32 {
    u32::from_ne_bytes(std::array::from_fn(|b| bytes[4 * k + b]))
}

fn read_u64(bytes: &[u8], k: usize) -> u64 {
    u64::from_ne_bytes(std::array::from_fn(|b| bytes[8 * k + b]))
}

fn skip_generator_state(engine: RandomEngine, what: SkipUnit, bytes: &mut [u8], count: u64) -> Result<()> {
    match (engine, what) {
        (RandomEngine::Xorwow | RandomEngine::Mrg32k3a, _) => {
            let mut state: [u32; 6] = std::array::from_fn(|k| read_u32(bytes, k));
            match (engine, what) {
                (RandomEngine::Xorwow, SkipUnit::Numbers) => xorwow::skip_outputs(&mut state, count),
                (RandomEngine::Xorwow, _) => xorwow::skip_subsequences(&mut state, count),
                (_, SkipUnit::Numbers) => mrg32k3a::skip_ahead_states(std::iter::once(&mut state), count, 0),
                (_, SkipUnit::Subsequences) => mrg32k3a::skip_ahead_states(std::iter::once(&mut state), count, 76),
                (_, SkipUnit::Sequences) => mrg32k3a::skip_ahead_states(std::iter::once(&mut state), count, 127),
            }
            state.iter().enumerate().for_each(|(k, w)| bytes[4 * k..4 * k + 4].copy_from_slice(&w.to_ne_bytes()));
        }
        (RandomEngine::Sobol32, SkipUnit::Numbers) => {
            let i = read_u32(bytes, 0).wrapping_add(count as u32);
            let gray = i ^ (i >> 1);
            let x = (0..32).filter(|k| gray >> k & 1 == 1).fold(0, |x, k| x ^ read_u32(bytes, 4 + k));
            bytes[..4].copy_from_slice(&i.to_ne_bytes());
            bytes[4..8].copy_from_slice(&x.to_ne_bytes());
        }
        (RandomEngine::Sobol64, SkipUnit::Numbers) => {
            let i = read_u64(bytes, 0).wrapping_add(count);
            bytes[..8].copy_from_slice(&i.to_ne_bytes());
        }
        _ => return Err(ArrayError::value_error(format!("{engine:?} has no {what:?} to skip"))),
    }
    Ok(())
}
