//! Compiled kernels and what their launch geometry is computed from, cached per context.

use crate::context::Context;
use rtcg_compile::CompileRequest;
use rtcg_cuda::{Result, device_compile_target};
use rtcg_driver::sys::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use rtcg_driver::{Function, PackedArgs, Stream};
use rtcg_hal::{blocking_region, lock_ignoring_poison};
use std::sync::{Arc, Mutex};

/// How generated source is compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileSettings {
    /// Options in nvcc's spelling; `None` means the environment's default options.
    pub options: Option<Vec<String>>,
    /// Whether to keep the compiler's input and output in a directory, whose path is printed.
    pub keep: bool,
}

impl CompileSettings {
    /// The kernel `name` of `source`, whose parts called `snippets` (name and text) came from the user.
    ///
    /// # Errors
    /// A compile error shows the lines of the snippets that it speaks of.
    pub(crate) fn compile_and_load(
        &self,
        ctx: &Context,
        source: &str,
        snippets: &[(&str, &str)],
    ) -> Result<crate::Module> {
        let mut request = CompileRequest::new(source, device_compile_target(&ctx.device())?);
        if let Some(options) = &self.options {
            request.options.clone_from(options);
        }
        request.no_extern_c = true;
        request.keep = self.keep;
        request.parts = snippets.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        ctx.compile_with(&request)
    }
}

/// A kernel ready to run.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    pub(crate) function: Function,
    /// Blocks of the kernel's size that the device runs at once.
    pub(crate) resident: usize,
    pub(crate) block: u32,
}

impl CompiledKernel {
    pub(crate) fn new(ctx: &Context, module: &crate::Module, name: &str, block: u32) -> Result<Self> {
        let function = module.driver_module().function(name)?;
        let per_processor = function.max_active_blocks(block, 0)?.max(1) as usize;
        let multiprocessors = ctx.device().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as usize;
        Ok(Self { function, resident: per_processor * multiprocessors, block })
    }

    /// Blocks for `items` threads' worth of work, at most `waves` times what the device holds.
    pub(crate) fn blocks_for_items(&self, items: usize, waves: usize) -> u32 {
        items.div_ceil(self.block as usize).clamp(1, self.resident * waves).min(i32::MAX as usize) as u32
    }

    /// Enqueues the kernel.
    ///
    /// # Safety
    /// As [`Function::launch`].
    #[expect(unsafe_code, reason = "launching runs the user's snippets")]
    pub(crate) unsafe fn launch(
        &self,
        ctx: &Context,
        blocks: u32,
        args: &PackedArgs,
        stream: Option<&Stream>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_grid(ctx, [blocks, 1, 1], 0, args, stream) }
    }

    /// [`CompiledKernel::launch`] with a grid of several dimensions, and bytes of dynamic shared memory.
    ///
    /// # Safety
    /// As [`Function::launch`].
    #[expect(unsafe_code, reason = "launching runs the user's snippets")]
    pub(crate) unsafe fn launch_grid(
        &self,
        ctx: &Context,
        grid: [u32; 3],
        shared_bytes: u32,
        args: &PackedArgs,
        stream: Option<&Stream>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let launch =
            || ctx.enter(|| unsafe { self.function.launch(grid, [self.block, 1, 1], shared_bytes, stream, args) });
        // Others go on where the launch may wait, perhaps for them.
        if self.function.launch_may_wait() { blocking_region(launch) } else { launch() }
    }
}

/// Compiled forms by context and key; each is compiled once. There are few of them, so that looking at
/// each is quicker than a hash of key and context.
pub(crate) struct PerContextCache<K, V>(Mutex<Vec<PerContextEntry<K, V>>>);

struct PerContextEntry<K, V> {
    ctx: Context,
    key: K,
    made: Arc<V>,
}

impl<K, V> Default for PerContextCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K, V> std::fmt::Debug for PerContextCache<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PerContextCache")
    }
}

impl<K: Eq + Clone, V> PerContextCache<K, V> {
    /// What `make` made for this context and key, now or before. Entries of contexts that were destroyed are
    /// dropped when a new one comes.
    pub(crate) fn get_or_create(&self, ctx: &Context, key: &K, make: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
        let find = |forms: &[PerContextEntry<K, V>]| {
            forms.iter().find(|form| form.key == *key && form.ctx == *ctx).map(|form| form.made.clone())
        };
        if let Some(found) = find(&self.lock_entries()) {
            return Ok(found);
        }
        // Compiled without the lock: threads that race compile twice, and one result stays.
        let made = Arc::new(make()?);
        let mut forms = self.lock_entries();
        let gone = forms.extract_if(.., |form| !form.ctx.driver_context().is_alive()).collect::<Vec<_>>();
        let made = find(&forms).unwrap_or_else(|| {
            forms.push(PerContextEntry { ctx: ctx.clone(), key: key.clone(), made: made.clone() });
            made
        });
        drop(forms);
        drop(gone);
        Ok(made)
    }

    fn lock_entries(&self) -> std::sync::MutexGuard<'_, Vec<PerContextEntry<K, V>>> {
        lock_ignoring_poison(&self.0)
    }
}
