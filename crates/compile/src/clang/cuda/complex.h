// C++ takes its own complex numbers here.
#pragma once
#include <complex>
