"""cuda.core with machine code for a real GPU ("cubin" from NVRTC), which the virtual GPU has to refuse."""

from cuda.core import Device, Program, ProgramOptions


def main():
    Device().set_current()
    program = Program('extern "C" __global__ void k() {}', code_type="c++", options=ProgramOptions(arch="sm_80"))
    program.compile("cubin").get_kernel("k")


if __name__ == "__main__":
    main()
