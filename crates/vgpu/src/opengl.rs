//! OpenGL as the virtual GPU needs it: contents of buffer objects of the current context.
//!
//! Nothing is linked: the functions come from the libraries of OpenGL that the program itself has
//! loaded, through the loader of its context (EGL, GLX) where there is one. With the loaders of
//! today (GLVND) they act on whatever context is current on the calling thread.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use rtcg_vgpu_abi::error::{Res, ResultCode, ensure};

const GL_COPY_READ_BUFFER: c_uint = 0x8F36;
const GL_BUFFER_SIZE: c_uint = 0x8764;
const GL_MAP_READ_BIT: c_uint = 1;
const GL_MAP_WRITE_INVALIDATE_BITS: c_uint = 2 | 8;

type IsBufferFn = unsafe extern "C" fn(c_uint) -> u8;
type GetIntegerFn = unsafe extern "C" fn(c_uint, *mut c_int);
type BindBufferFn = unsafe extern "C" fn(c_uint, c_uint);
type GetBufferParameterFn = unsafe extern "C" fn(c_uint, c_uint, *mut i64);
type MapBufferRangeFn = unsafe extern "C" fn(c_uint, isize, isize, c_uint) -> *mut c_void;
type CurrentContextFn = unsafe extern "C" fn() -> *mut c_void;

struct GlFunctions {
    is_buffer: IsBufferFn,
    get_integer: GetIntegerFn,
    bind_buffer: BindBufferFn,
    get_buffer_parameter: GetBufferParameterFn,
    map_range: MapBufferRangeFn,
    unmap: IsBufferFn,
    current_context: Option<CurrentContextFn>,
}

/// Finds a function by its name.
type SymbolFinder = Box<dyn Fn(&CStr) -> Option<*const c_void>>;
type GetProcAddressFn = unsafe extern "C" fn(*const c_char) -> *const c_void;

fn dlopen(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: only finds a library that is loaded already.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    (!library.is_null()).then_some(library)
}

fn dlsym(library: *mut c_void, name: &CStr) -> Option<*const c_void> {
    // SAFETY: `library` is open and never closed.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found.cast_const())
}

/// How to find functions: by the loader of EGL or GLX, else in the library itself.
fn symbol_finders() -> Vec<SymbolFinder> {
    let mut all: Vec<SymbolFinder> = Vec::new();
    for (library, loader) in [(c"libEGL.so.1", c"eglGetProcAddress"), (c"libGLX.so.0", c"glXGetProcAddressARB")] {
        if let Some(found) = dlopen(library).and_then(|library| dlsym(library, loader)) {
            // SAFETY: both loaders take a name and give an address.
            let loader = unsafe { std::mem::transmute::<*const c_void, GetProcAddressFn>(found) };
            all.push(Box::new(move |name| {
                // SAFETY: the name is a string.
                let found = unsafe { loader(name.as_ptr()) };
                (!found.is_null()).then_some(found)
            }));
        }
    }
    for library in [c"libGL.so.1", c"libOpenGL.so.0", c"libGLESv2.so.2"].into_iter().filter_map(dlopen) {
        all.push(Box::new(move |name| dlsym(library, name)));
    }
    all
}

fn load_gl() -> Option<GlFunctions> {
    let finders = symbol_finders();
    let find = |name: &CStr| finders.iter().find_map(|finder| finder(name));
    let egl = dlopen(c"libEGL.so.1").and_then(|library| dlsym(library, c"eglGetCurrentContext"));
    let glx = || dlopen(c"libGLX.so.0").and_then(|library| dlsym(library, c"glXGetCurrentContext"));
    // SAFETY: OpenGL declares the functions of these names with the types of the fields.
    unsafe {
        Some(GlFunctions {
            is_buffer: std::mem::transmute::<*const c_void, IsBufferFn>(find(c"glIsBuffer")?),
            get_integer: std::mem::transmute::<*const c_void, GetIntegerFn>(find(c"glGetIntegerv")?),
            bind_buffer: std::mem::transmute::<*const c_void, BindBufferFn>(find(c"glBindBuffer")?),
            get_buffer_parameter: std::mem::transmute::<*const c_void, GetBufferParameterFn>(find(
                c"glGetBufferParameteri64v",
            )?),
            map_range: std::mem::transmute::<*const c_void, MapBufferRangeFn>(find(c"glMapBufferRange")?),
            unmap: std::mem::transmute::<*const c_void, IsBufferFn>(find(c"glUnmapBuffer")?),
            current_context: egl.or_else(glx).map(|f| std::mem::transmute::<*const c_void, CurrentContextFn>(f)),
        })
    }
}

/// The functions, if a context is current. A failure to find them is not remembered: the program
/// may load OpenGL later.
fn gl_functions() -> Res<&'static GlFunctions> {
    static GL_FUNCTIONS: OnceLock<GlFunctions> = OnceLock::new();
    let missing = || ResultCode::INVALID_GRAPHICS_CONTEXT.with_detail("no library of OpenGL is loaded in this process");
    let gl = match GL_FUNCTIONS.get() {
        Some(gl) => gl,
        None => {
            let found = load_gl().ok_or_else(missing)?;
            GL_FUNCTIONS.get_or_init(|| found)
        }
    };
    // SAFETY: takes nothing, gives a handle.
    let is_current = gl.current_context.is_none_or(|ask| unsafe { !ask().is_null() });
    let none = || ResultCode::INVALID_GRAPHICS_CONTEXT.with_detail("no OpenGL context is current on this thread");
    if is_current { Ok(gl) } else { Err(none()) }
}

/// Whether a context is current on the calling thread.
pub(crate) fn check_gl_context_is_current() -> Res {
    gl_functions().map(drop)
}

/// A buffer object, bound to a target that no drawing uses; what was bound there returns with the drop.
struct BoundBuffer {
    gl: &'static GlFunctions,
    before: c_int,
}

impl BoundBuffer {
    fn new(buffer: c_uint) -> Res<BoundBuffer> {
        let gl = gl_functions()?;
        // SAFETY: a number goes in, a truth value comes out.
        let known = unsafe { (gl.is_buffer)(buffer) } != 0;
        let unknown =
            || ResultCode::INVALID_HANDLE.with_detail(format!("{buffer} is no buffer object of the OpenGL context"));
        if !known {
            return Err(unknown());
        }
        let mut before = 0;
        // SAFETY: one number is written, then names are bound.
        unsafe {
            (gl.get_integer)(GL_COPY_READ_BUFFER, &raw mut before);
            (gl.bind_buffer)(GL_COPY_READ_BUFFER, buffer);
        }
        Ok(BoundBuffer { gl, before })
    }

    fn buffer_bytes(&self) -> usize {
        let mut size = 0;
        // SAFETY: one number is written.
        unsafe { (self.gl.get_buffer_parameter)(GL_COPY_READ_BUFFER, GL_BUFFER_SIZE, &raw mut size) };
        size.max(0) as usize
    }

    /// Calls `body` with the bytes of the buffer, in the memory of OpenGL.
    fn with_mapped_bytes(&self, len: usize, access: c_uint, body: impl FnOnce(*mut u8)) -> Res {
        ensure(len <= self.buffer_bytes(), ResultCode::INVALID_VALUE)?;
        // SAFETY: the range lies within the buffer.
        let bytes = unsafe { (self.gl.map_range)(GL_COPY_READ_BUFFER, 0, len as isize, access) };
        if bytes.is_null() {
            return Err(ResultCode::OPERATING_SYSTEM.with_detail("OpenGL could not map the buffer object"));
        }
        body(bytes.cast());
        // SAFETY: mapped above.
        unsafe { (self.gl.unmap)(GL_COPY_READ_BUFFER) };
        Ok(())
    }
}

impl Drop for BoundBuffer {
    fn drop(&mut self) {
        // SAFETY: binds what was bound.
        unsafe { (self.gl.bind_buffer)(GL_COPY_READ_BUFFER, self.before as c_uint) };
    }
}

/// Bytes of a buffer object.
pub(crate) fn buffer_size(buffer: c_uint) -> Res<usize> {
    Ok(BoundBuffer::new(buffer)?.buffer_bytes())
}

/// Copies a buffer object to memory.
///
/// # Safety
/// `target` has room for `len` bytes.
pub(crate) unsafe fn read_buffer(buffer: c_uint, target: *mut u8, len: usize) -> Res {
    // SAFETY: OpenGL has mapped `len` bytes, and the caller promises as many.
    BoundBuffer::new(buffer)?
        .with_mapped_bytes(len, GL_MAP_READ_BIT, |bytes| unsafe { target.copy_from_nonoverlapping(bytes, len) })
}

/// Replaces the contents of a buffer object.
///
/// # Safety
/// `source` has `len` bytes.
pub(crate) unsafe fn write_buffer(buffer: c_uint, source: *const u8, len: usize) -> Res {
    // SAFETY: OpenGL has mapped `len` bytes, and the caller promises as many.
    BoundBuffer::new(buffer)?.with_mapped_bytes(len, GL_MAP_WRITE_INVALIDATE_BITS, |bytes| unsafe {
        bytes.copy_from_nonoverlapping(source, len)
    })
}
