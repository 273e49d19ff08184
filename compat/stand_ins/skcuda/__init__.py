"""What cuvarbase uses of scikit-cuda, whose library for transforms, cuFFT, needs a GPU of NVIDIA's."""
