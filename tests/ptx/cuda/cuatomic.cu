#include <cuda/atomic>
#include <cuda/std/complex>
#include <cuda/barrier>
extern "C" __global__ void ca(int*o,unsigned long long*q,float*f,short*s8){cuda::atomic_ref<int,cuda::thread_scope_device>a(*o);a.fetch_add(3,cuda::memory_order_relaxed);a.store(5,cuda::memory_order_release);o[1]=a.load(cuda::memory_order_acquire);int e=3;a.compare_exchange_strong(e,7);o[2]=e;cuda::atomic_ref<unsigned long long,cuda::thread_scope_system>b(*q);b.fetch_or(3);b.exchange(5);cuda::atomic_ref<float,cuda::thread_scope_block>c(*f);c.fetch_add(2.f);cuda::atomic_thread_fence(cuda::memory_order_seq_cst,cuda::thread_scope_device);cuda::atomic_ref<short,cuda::thread_scope_device>d(*s8);d.fetch_add(3);}
extern "C" __global__ void cb(int*o){__shared__ cuda::barrier<cuda::thread_scope_block> bar;if(!threadIdx.x)init(&bar,blockDim.x);__syncthreads();bar.arrive_and_wait();o[threadIdx.x]=1;}
extern "C" __global__ void cc(cuda::std::complex<double>*a){a[0]=a[1]*a[2]/a[3]+exp(a[4])+sqrt(a[5]);}
