"""cuda.bindings.driver: every device attribute it knows up to CUDA 13.0, contexts, pools, pointers."""

from cuda.bindings import driver


def ok(result):
    """The values of a call, which must have succeeded."""
    code, *values = result
    assert code == type(code)(0), code
    return values[0] if len(values) == 1 else values


def main():
    ok(driver.cuInit(0))
    device = ok(driver.cuDeviceGet(0))
    answered = 0
    for attribute in driver.CUdevice_attribute:
        code, _value = driver.cuDeviceGetAttribute(attribute, device)
        answered += code == driver.CUresult.CUDA_SUCCESS
    assert answered >= 140, answered
    context = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxSetCurrent(context))
    assert int(ok(driver.cuCtxGetCurrent())) == int(context)
    free, total = ok(driver.cuMemGetInfo())
    assert 0 < free <= total
    stream = ok(driver.cuStreamCreate(1))
    pointer = ok(driver.cuMemAllocAsync(1 << 20, stream))
    ok(driver.cuMemsetD32Async(pointer, 7, 1 << 18, stream))
    ok(driver.cuStreamSynchronize(stream))
    kind = ok(driver.cuPointerGetAttribute(driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer))
    assert int(kind) == int(driver.CUmemorytype.CU_MEMORYTYPE_DEVICE)
    ok(driver.cuMemFreeAsync(pointer, stream))
    ok(driver.cuStreamDestroy(stream))
    ok(driver.cuDevicePrimaryCtxRelease(device))


if __name__ == "__main__":
    main()
