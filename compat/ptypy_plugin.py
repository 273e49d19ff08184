"""A plugin of pytest: ptypy's kernels as C++17. The headers of CUDA 13 refuse the C++14 that it asks for."""

from ptypy.accelerate import cuda_pycuda

cuda_pycuda.debug_options[:] = [option.replace("c++14", "c++17") for option in cuda_pycuda.debug_options]
