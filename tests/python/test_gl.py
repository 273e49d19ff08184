"""`pycuda.gl` with an OpenGL context of EGL, on a GPU or on the processor (Mesa)."""

import runpy
import sys

import numpy as np
import pytest

import pycuda.driver as cuda
import pycuda.gl
import rtcg.gl
from pycuda.compiler import SourceModule
from pycuda.gl import graphics_map_flags
from rtcg import egl
from tests.python.subprocesses import ROOT, run_python

ARRAY_BUFFER, STATIC_DRAW = 0x8892, 0x88E4


@pytest.fixture(scope="module")
def gl(context):
    try:
        made = egl.Context(cuda.Context.get_device())
    except egl.EGLError as error:
        pytest.skip(f"no OpenGL here: {error}")
    with made:
        yield made


@pytest.fixture
def buffer(gl):
    """A buffer object with the numbers 0 to 99."""
    name = np.zeros(1, np.uint32)
    gl.glGenBuffers(1, name)
    gl.glBindBuffer(ARRAY_BUFFER, int(name[0]))
    gl.glBufferData(ARRAY_BUFFER, 400, np.arange(100, dtype=np.int32), STATIC_DRAW)
    yield int(name[0])
    gl.glDeleteBuffers(1, name)


def contents(gl):
    result = np.empty(100, np.int32)
    gl.glGetBufferSubData(ARRAY_BUFFER, 0, 400, result)
    return result


@pytest.fixture(scope="module")
def add(context):
    source = "__global__ void add(int *a, int x) { a[threadIdx.x] += x; }"
    function = SourceModule(source).get_function("add")
    return lambda address, x, stream=None: function(np.uintp(address), np.int32(x), block=(100, 1, 1), stream=stream)


def test_kernels_read_and_write_a_buffer(gl, buffer, add):
    registered = pycuda.gl.RegisteredBuffer(buffer)
    assert registered.gl_handle() == buffer and isinstance(registered, pycuda.gl.RegisteredObject)
    for stream in (None, cuda.Stream()):
        mapping = registered.map(stream)
        address, nbytes = mapping.device_ptr_and_size()
        assert nbytes == 400
        add(address, 5, stream)
        mapping.unmap() if stream is None else mapping.unmap(stream)
    assert np.array_equal(contents(gl), np.arange(100) + 10)
    registered.unregister()


def test_what_gl_changes_is_seen(gl, buffer):
    registered = pycuda.gl.RegisteredBuffer(buffer)
    for value in (3, 4):
        gl.glBufferSubData(ARRAY_BUFFER, 0, 400, np.full(100, value, np.int32))
        with registered.map() as mapping:
            seen = cuda.from_device(mapping.device_ptr_and_size()[0], (100,), np.int32)
        assert (seen == value).all()


def test_map_flags(gl, buffer, add, on_virtual_device):
    registered = pycuda.gl.RegisteredBuffer(buffer)
    registered.set_map_flags(graphics_map_flags.WRITE_DISCARD)
    with registered.map() as mapping:
        address, _ = mapping.device_ptr_and_size()
        cuda.memset_d32(address, 9, 100)
    assert (contents(gl) == 9).all()
    if on_virtual_device:
        # What a program writes in spite of READ_ONLY is undefined on a GPU; here it is dropped.
        registered.set_map_flags(graphics_map_flags.READ_ONLY)
        with registered.map() as mapping:
            add(mapping.device_ptr_and_size()[0], 1)
        assert (contents(gl) == 9).all()


def test_the_older_names(gl, buffer, add):
    old = pycuda.gl.BufferObject(buffer)
    mapping = old.map()
    assert old.handle() == buffer and mapping.size() == 400
    add(mapping.device_ptr(), 1)
    mapping.unmap()
    assert np.array_equal(contents(gl), np.arange(100) + 1)
    with old.map() as mapping:
        add(mapping.device_ptr(), 1)
    assert np.array_equal(contents(gl), np.arange(100) + 2)
    old.unregister()
    with pytest.warns(DeprecationWarning):
        pycuda.gl.init()
    assert cuda.BufferObject is pycuda.gl.BufferObject and cuda.make_gl_context is pycuda.gl.make_context
    with pytest.raises(AttributeError):
        cuda.no_such_name


def test_misuse(gl, buffer):
    registered = pycuda.gl.RegisteredBuffer(buffer)
    mapping = registered.map()
    with pytest.raises(cuda.LogicError, match="cuGraphicsMapResources failed: resource already mapped"):
        registered.map()
    with pytest.raises(cuda.LogicError):
        mapping.array(0, 0)
    mapping.unmap()
    for use in (mapping.unmap, mapping.device_ptr_and_size):
        with pytest.raises(cuda.LogicError, match="not mapped"):
            use()
    registered.unregister()
    for use in (registered.map, registered.unregister):
        with pytest.raises(cuda.LogicError, match="unregistered"):
            use()
    with pytest.raises(cuda.Error):
        pycuda.gl.RegisteredBuffer(987654)


def test_a_dropped_mapping_goes_back(gl, buffer, add):
    registered = pycuda.gl.RegisteredBuffer(buffer)
    mapping = registered.map()
    add(mapping.device_ptr_and_size()[0], 2)
    del mapping
    assert np.array_equal(contents(gl), np.arange(100) + 2)


def test_images(gl, on_virtual_device):
    TEXTURE_2D, RGBA, FLOAT, RGBA32F = 0x0DE1, 0x1908, 0x1406, 0x8814
    name = np.zeros(1, np.uint32)
    gl.glGenTextures(1, name)
    gl.glBindTexture(TEXTURE_2D, int(name[0]))
    texels = np.arange(4 * 8 * 4, dtype=np.float32).reshape(4, 8, 4)
    gl.glTexParameteri(TEXTURE_2D, 0x2801, 0x2600)
    gl.glTexParameteri(TEXTURE_2D, 0x2800, 0x2600)
    gl.glTexImage2D(TEXTURE_2D, 0, RGBA32F, 8, 4, 0, RGBA, FLOAT, texels)
    if on_virtual_device:
        with pytest.raises(cuda.LogicError, match="OpenGL images.* not supported on the virtual GPU"):
            pycuda.gl.RegisteredImage(int(name[0]), TEXTURE_2D)
        return
    registered = pycuda.gl.RegisteredImage(int(name[0]), TEXTURE_2D)
    with registered.map() as mapping:
        array = mapping.array(0, 0)
        copy, seen = cuda.Memcpy2D(), np.empty_like(texels)
        copy.set_src_array(array)
        copy.set_dst_host(seen)
        copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 8 * 16
        copy.height = 4
        copy(aligned=True)
    assert np.array_equal(seen, texels)
    registered.unregister()


def test_devices_and_contexts(gl):
    device = cuda.Context.get_device()
    assert device in rtcg.gl.get_devices()
    assert cuda.have_gl_ext() is True
    before = cuda.Context.get_current()
    made = pycuda.gl.make_context(device)
    assert cuda.Context.get_current() == made != before
    made.pop()
    assert cuda.Context.get_current() == before


def test_autoinit(gl):
    run_python(
        """
        import pycuda.driver as cuda
        from rtcg import egl
        cuda.init()
        with egl.Context(cuda.Device(0)):
            import pycuda.gl.autoinit as auto
            assert cuda.Context.get_current() == auto.context and auto.device == cuda.Context.get_device()
        """
    )


def test_without_a_context_of_opengl(context):
    code = """
    import pycuda.driver as cuda, pycuda.gl
    cuda.init()
    try:
        pycuda.gl.make_context(cuda.Device(0))
    except cuda.Error as error:
        print(error)
    """
    result = run_python(code)
    assert "cuGLGetDevices failed: " in result.stdout


def test_the_example(gl, tmp_path, monkeypatch):
    path = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", ["gl_picture.py", str(path)])
    runpy.run_path(str(ROOT / "examples" / "gl_picture.py"), run_name="__main__")
    gl.make_current()
    assert path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000
