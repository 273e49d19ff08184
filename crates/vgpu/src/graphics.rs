//! OpenGL as the virtual GPU needs it: contents of buffer objects of the current context.
//!
//! Nothing is linked: the functions come from the libraries of OpenGL that the program itself has
//! loaded, through the loader of its context (EGL, GLX) where there is one. With the loaders of
//! today (GLVND) they act on whatever context is current on the calling thread.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use crate::error::{Code, Res, ensure};

const COPY_READ_BUFFER: c_uint = 0x8F36;
const BUFFER_SIZE: c_uint = 0x8764;
const MAP_READ: c_uint = 1;
const MAP_WRITE_ALL: c_uint = 2 | 8;

type Truth = unsafe extern "C" fn(c_uint) -> u8;
type GetInteger = unsafe extern "C" fn(c_uint, *mut c_int);
type Bind = unsafe extern "C" fn(c_uint, c_uint);
type GetParameter = unsafe extern "C" fn(c_uint, c_uint, *mut i64);
type MapRange = unsafe extern "C" fn(c_uint, isize, isize, c_uint) -> *mut c_void;
type CurrentContext = unsafe extern "C" fn() -> *mut c_void;

struct Functions {
    is_buffer: Truth,
    get_integer: GetInteger,
    bind_buffer: Bind,
    get_buffer_parameter: GetParameter,
    map_range: MapRange,
    unmap: Truth,
    current_context: Option<CurrentContext>,
}

/// Finds a function by its name.
type Finder = Box<dyn Fn(&CStr) -> Option<*const c_void>>;
type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *const c_void;

fn open(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: only finds a library that is loaded already.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    (!library.is_null()).then_some(library)
}

fn symbol(library: *mut c_void, name: &CStr) -> Option<*const c_void> {
    // SAFETY: `library` is open and never closed.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    (!found.is_null()).then_some(found.cast_const())
}

/// How to find functions: by the loader of EGL or GLX, else in the library itself.
fn finders() -> Vec<Finder> {
    let mut all: Vec<Finder> = Vec::new();
    for (library, loader) in [(c"libEGL.so.1", c"eglGetProcAddress"), (c"libGLX.so.0", c"glXGetProcAddressARB")] {
        if let Some(found) = open(library).and_then(|library| symbol(library, loader)) {
            // SAFETY: both loaders take a name and give an address.
            let loader = unsafe { std::mem::transmute::<*const c_void, GetProcAddress>(found) };
            all.push(Box::new(move |name| {
                // SAFETY: the name is a string.
                let found = unsafe { loader(name.as_ptr()) };
                (!found.is_null()).then_some(found)
            }));
        }
    }
    for library in [c"libGL.so.1", c"libOpenGL.so.0", c"libGLESv2.so.2"].into_iter().filter_map(open) {
        all.push(Box::new(move |name| symbol(library, name)));
    }
    all
}

fn load() -> Option<Functions> {
    let finders = finders();
    let find = |name: &CStr| finders.iter().find_map(|finder| finder(name));
    let egl = open(c"libEGL.so.1").and_then(|library| symbol(library, c"eglGetCurrentContext"));
    let glx = || open(c"libGLX.so.0").and_then(|library| symbol(library, c"glXGetCurrentContext"));
    // SAFETY: OpenGL declares the functions of these names with the types of the fields.
    unsafe {
        Some(Functions {
            is_buffer: std::mem::transmute::<*const c_void, Truth>(find(c"glIsBuffer")?),
            get_integer: std::mem::transmute::<*const c_void, GetInteger>(find(c"glGetIntegerv")?),
            bind_buffer: std::mem::transmute::<*const c_void, Bind>(find(c"glBindBuffer")?),
            get_buffer_parameter: std::mem::transmute::<*const c_void, GetParameter>(find(
                c"glGetBufferParameteri64v",
            )?),
            map_range: std::mem::transmute::<*const c_void, MapRange>(find(c"glMapBufferRange")?),
            unmap: std::mem::transmute::<*const c_void, Truth>(find(c"glUnmapBuffer")?),
            current_context: egl.or_else(glx).map(|f| std::mem::transmute::<*const c_void, CurrentContext>(f)),
        })
    }
}

/// The functions, if a context is current. A failure to find them is not remembered: the program
/// may load OpenGL later.
fn functions() -> Res<&'static Functions> {
    static LOADED: OnceLock<Functions> = OnceLock::new();
    let missing = || Code::INVALID_GRAPHICS_CONTEXT.because("no library of OpenGL is loaded in this process");
    let gl = match LOADED.get() {
        Some(gl) => gl,
        None => {
            let found = load().ok_or_else(missing)?;
            LOADED.get_or_init(|| found)
        }
    };
    // SAFETY: takes nothing, gives a handle.
    let is_current = gl.current_context.is_none_or(|ask| unsafe { !ask().is_null() });
    let none = || Code::INVALID_GRAPHICS_CONTEXT.because("no OpenGL context is current on this thread");
    if is_current { Ok(gl) } else { Err(none()) }
}

/// Whether a context is current on the calling thread.
pub(crate) fn check_current() -> Res {
    functions().map(drop)
}

/// A buffer object, bound to a target that no drawing uses; what was bound there returns with the drop.
struct Bound {
    gl: &'static Functions,
    before: c_int,
}

impl Bound {
    fn new(buffer: c_uint) -> Res<Bound> {
        let gl = functions()?;
        // SAFETY: a number goes in, a truth value comes out.
        let known = unsafe { (gl.is_buffer)(buffer) } != 0;
        let unknown = || Code::INVALID_HANDLE.because(format!("{buffer} is no buffer object of the OpenGL context"));
        if !known {
            return Err(unknown());
        }
        let mut before = 0;
        // SAFETY: one number is written, then names are bound.
        unsafe {
            (gl.get_integer)(COPY_READ_BUFFER, &raw mut before);
            (gl.bind_buffer)(COPY_READ_BUFFER, buffer);
        }
        Ok(Bound { gl, before })
    }

    fn size(&self) -> usize {
        let mut size = 0;
        // SAFETY: one number is written.
        unsafe { (self.gl.get_buffer_parameter)(COPY_READ_BUFFER, BUFFER_SIZE, &raw mut size) };
        size.max(0) as usize
    }

    /// Calls `body` with the bytes of the buffer, in the memory of OpenGL.
    fn with_bytes(&self, len: usize, access: c_uint, body: impl FnOnce(*mut u8)) -> Res {
        ensure(len <= self.size(), Code::INVALID_VALUE)?;
        // SAFETY: the range lies within the buffer.
        let bytes = unsafe { (self.gl.map_range)(COPY_READ_BUFFER, 0, len as isize, access) };
        if bytes.is_null() {
            return Err(Code::OPERATING_SYSTEM.because("OpenGL could not map the buffer object"));
        }
        body(bytes.cast());
        // SAFETY: mapped above.
        unsafe { (self.gl.unmap)(COPY_READ_BUFFER) };
        Ok(())
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // SAFETY: binds what was bound.
        unsafe { (self.gl.bind_buffer)(COPY_READ_BUFFER, self.before as c_uint) };
    }
}

/// Bytes of a buffer object.
pub(crate) fn buffer_size(buffer: c_uint) -> Res<usize> {
    Ok(Bound::new(buffer)?.size())
}

/// Copies a buffer object to memory.
///
/// # Safety
/// `target` has room for `len` bytes.
pub(crate) unsafe fn read_buffer(buffer: c_uint, target: *mut u8, len: usize) -> Res {
    // SAFETY: OpenGL has mapped `len` bytes, and the caller promises as many.
    Bound::new(buffer)?.with_bytes(len, MAP_READ, |bytes| unsafe { target.copy_from_nonoverlapping(bytes, len) })
}

/// Replaces the contents of a buffer object.
///
/// # Safety
/// `source` has `len` bytes.
pub(crate) unsafe fn write_buffer(buffer: c_uint, source: *const u8, len: usize) -> Res {
    // SAFETY: OpenGL has mapped `len` bytes, and the caller promises as many.
    Bound::new(buffer)?.with_bytes(len, MAP_WRITE_ALL, |bytes| unsafe { bytes.copy_from_nonoverlapping(source, len) })
}
