"""CUDA and OpenGL without a screen: a kernel makes points, OpenGL draws them, a kernel tones the picture.

Both share two buffer objects, so that on a GPU nothing travels through the host. The picture is saved
as ``gl_picture.png``, or under the name given. Runs on a GPU and, with Mesa, on the virtual GPU.
"""

import ctypes
import struct
import sys
import zlib

import numpy as np

import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from pycuda.gl import RegisteredBuffer, graphics_map_flags
from rtcg import egl

WIDTH, HEIGHT, N_POINTS = 640, 480, 20_000

ARRAY_BUFFER, PIXEL_PACK_BUFFER, FRAMEBUFFER, RENDERBUFFER = 0x8892, 0x88EB, 0x8D40, 0x8D41
COLOR_ATTACHMENT, RGBA8, RGBA, UNSIGNED_BYTE, FLOAT = 0x8CE0, 0x8058, 0x1908, 0x1401, 0x1406
STREAM_DRAW, POINTS, COLOR_BUFFER_BIT, COMPILE_STATUS, LINK_STATUS = 0x88E0, 0, 0x4000, 0x8B81, 0x8B82

KERNELS = """
__global__ void make_points(float4 *points, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float t = 6.2831853f * i / n, r = 0.4f + 0.3f * cosf(7 * t) + 0.2f * cosf(23 * t);
    points[i] = make_float4(r * cosf(t), r * sinf(t), 0.5f + 0.5f * cosf(3 * t), 1);
}

__global__ void tone(uchar4 *pixels, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uchar4 p = pixels[y * width + x];
    int light = (p.x + p.y + p.z) / 3;
    // What nothing was drawn on becomes a gradient.
    if (light == 0) p = make_uchar4(16, 16 + 64 * y / height, 48, 255);
    pixels[y * width + x] = p;
}
"""

VERTEX_SHADER = b"""#version 330
layout(location = 0) in vec4 point;
out float hue;
void main() { gl_Position = vec4(point.xy, 0, 1); hue = point.z; }
"""
FRAGMENT_SHADER = b"""#version 330
in float hue;
out vec4 color;
void main() { color = vec4(1, hue, 1 - hue, 1); }
"""


def new_name(generate):
    name = ctypes.c_uint()
    generate(1, ctypes.byref(name))
    return name.value


def program(gl):
    result = gl.glCreateProgram()
    for kind, text in ((0x8B31, VERTEX_SHADER), (0x8B30, FRAGMENT_SHADER)):
        shader, status = gl.glCreateShader(kind), ctypes.c_int()
        gl.glShaderSource(shader, 1, ctypes.byref(ctypes.c_char_p(text)), None)
        gl.glCompileShader(shader)
        gl.glGetShaderiv(shader, COMPILE_STATUS, ctypes.byref(status))
        assert status.value, "the shader does not compile"
        gl.glAttachShader(result, shader)
    gl.glLinkProgram(result)
    return result


def make_target(gl):
    """A framebuffer in memory, for there is no screen."""
    image, framebuffer = new_name(gl.glGenRenderbuffers), new_name(gl.glGenFramebuffers)
    gl.glBindRenderbuffer(RENDERBUFFER, image)
    gl.glRenderbufferStorage(RENDERBUFFER, RGBA8, WIDTH, HEIGHT)
    gl.glBindFramebuffer(FRAMEBUFFER, framebuffer)
    gl.glFramebufferRenderbuffer(FRAMEBUFFER, COLOR_ATTACHMENT, RENDERBUFFER, image)
    gl.glViewport(0, 0, WIDTH, HEIGHT)


def make_buffer(gl, target, nbytes):
    buffer = new_name(gl.glGenBuffers)
    gl.glBindBuffer(target, buffer)
    gl.glBufferData(target, nbytes, None, STREAM_DRAW)
    return buffer


def draw(gl, points):
    gl.glBindVertexArray(new_name(gl.glGenVertexArrays))
    gl.glBindBuffer(ARRAY_BUFFER, points)
    gl.glVertexAttribPointer(0, 4, FLOAT, 0, 0, None)
    gl.glEnableVertexAttribArray(0)
    gl.glUseProgram(program(gl))
    gl.glClearColor(0, 0, 0, 1)
    gl.glClear(COLOR_BUFFER_BIT)
    gl.glDrawArrays(POINTS, 0, N_POINTS)


def save_png(path, pixels):
    """Rows from the bottom up, as OpenGL has them."""
    rows = b"".join(b"\0" + row.tobytes() for row in pixels[::-1, :, :3])
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def main(path="gl_picture.png"):
    cuda.init()
    device = cuda.Device(0)
    with egl.Context(device) as gl:
        print("CUDA:", device.name())
        print("OpenGL:", gl.glGetString(0x1F01).decode())
        context = cuda.make_gl_context(device)
        try:
            module = SourceModule(KERNELS)
            make_target(gl)
            points = make_buffer(gl, ARRAY_BUFFER, 16 * N_POINTS)
            pixels = make_buffer(gl, PIXEL_PACK_BUFFER, 4 * WIDTH * HEIGHT)

            with RegisteredBuffer(points, graphics_map_flags.WRITE_DISCARD).map() as mapping:
                address, nbytes = mapping.device_ptr_and_size()
                assert nbytes == 16 * N_POINTS
                module.get_function("make_points")(
                    np.uintp(address), np.int32(N_POINTS), block=(256, 1, 1), grid=(-(-N_POINTS // 256), 1)
                )
            draw(gl, points)
            gl.glReadPixels(0, 0, WIDTH, HEIGHT, RGBA, UNSIGNED_BYTE, None)

            picture = np.empty((HEIGHT, WIDTH, 4), np.uint8)
            registered = RegisteredBuffer(pixels)
            with registered.map() as mapping:
                address, nbytes = mapping.device_ptr_and_size()
                size = (np.int32(WIDTH), np.int32(HEIGHT))
                module.get_function("tone")(
                    np.uintp(address), *size, block=(16, 16, 1), grid=(WIDTH // 16, HEIGHT // 16)
                )
                cuda.memcpy_dtoh(picture, address)
            back = np.empty_like(picture)
            gl.glGetBufferSubData(PIXEL_PACK_BUFFER, 0, picture.nbytes, back)
            assert np.array_equal(back, picture), "OpenGL sees what CUDA wrote"
            registered.unregister()
        finally:
            context.pop()
    drawn = (picture[..., 0] == 255).sum()
    assert 2000 < drawn < N_POINTS and tuple(picture[0, 0]) == (16, 16, 48, 255), "the curve is there, and a gradient"
    save_png(path, picture)
    print(f"{drawn} pixels drawn, saved as {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
