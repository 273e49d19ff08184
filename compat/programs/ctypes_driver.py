"""The driver through ctypes alone: a kernel from PTX, `cuGetProcAddress`, errors."""

import ctypes

PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry square(.param .u64 data, .param .u32 count)
{
  .reg .pred %p;
  .reg .f32 %f<2>;
  .reg .b32 %r<5>;
  .reg .b64 %d<3>;
  ld.param.u64 %d1, [data];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d1, %d1, %d2;
  ld.global.f32 %f1, [%d1];
  mul.rn.f32 %f1, %f1, %f1;
  st.global.f32 [%d1], %f1;
  ret;
}
\0"""


def main():
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        code = getattr(cuda, name)(*arguments)
        assert code == 0, f"{name} returned {code}"

    byref, c_void_p = ctypes.byref, ctypes.c_void_p
    device, count = ctypes.c_int(), ctypes.c_int()
    context, module, kernel, stream = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    call("cuInit", 0)
    call("cuDeviceGetCount", byref(count))
    assert count.value == 1, count
    call("cuDeviceGet", byref(device), 0)
    name = ctypes.create_string_buffer(100)
    call("cuDeviceGetName", name, 100, device)
    assert name.value.startswith(b"rtcg virtual GPU"), name.value
    call("cuCtxCreate_v2", byref(context), 0, device)
    call("cuModuleLoadData", byref(module), PTX)
    call("cuModuleGetFunction", byref(kernel), module, b"square")
    call("cuStreamCreate", byref(stream), 1)

    n = 1000
    data = (ctypes.c_float * n)(*range(n))
    pointer, size, number = ctypes.c_uint64(), ctypes.c_size_t(4 * n), ctypes.c_uint32(n)
    call("cuMemAlloc_v2", byref(pointer), size)
    call("cuMemcpyHtoDAsync_v2", pointer, data, size, stream)
    arguments = (c_void_p * 2)(ctypes.addressof(pointer), ctypes.addressof(number))

    # The launch goes through the address that the driver itself names.
    launch, status = c_void_p(), ctypes.c_int(-1)
    call("cuGetProcAddress_v2", b"cuLaunchKernel", byref(launch), 12000, ctypes.c_uint64(0), byref(status))
    assert status.value == 0
    kinds = [ctypes.c_int, c_void_p, *[ctypes.c_uint] * 7, c_void_p, c_void_p, c_void_p]
    code = ctypes.CFUNCTYPE(*kinds)(launch.value)(kernel, 4, 1, 1, 256, 1, 1, 0, stream, arguments, None)
    assert code == 0, code
    call("cuMemcpyDtoHAsync_v2", data, pointer, size, stream)
    call("cuStreamSynchronize", stream)
    assert list(data) == [float(i * i) for i in range(n)]

    # Errors are the driver's: a wrong handle, a name that no function has, a table that is not there.
    assert cuda.cuModuleGetFunction(byref(kernel), c_void_p(12345), b"square") == 400
    assert cuda.cuModuleGetFunction(byref(kernel), module, b"cube") == 500
    missing = cuda.cuGetProcAddress_v2(b"cuNoSuchThing", byref(launch), 12000, ctypes.c_uint64(0), byref(status))
    assert (missing, launch.value, status.value) == (0, None, 1)
    table, table_id = c_void_p(1), (ctypes.c_char * 16)()
    assert cuda.cuGetExportTable(byref(table), table_id) == 500 and table.value is None
    assert cuda.cuMulticastAddDevice(ctypes.c_uint64(0), 0) == 801
    call("cuMemFree_v2", pointer)
    call("cuCtxDestroy_v2", context)


if __name__ == "__main__":
    main()
