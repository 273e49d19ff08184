// The implementation lives in one header.
#include <pycuda-complex.hpp>
