// The rounding modes that functions of the runtime's headers take. Source: CUDA Runtime API 13, "Data types used by CUDA Runtime".
#pragma once
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
