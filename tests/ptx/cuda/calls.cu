extern "C" __device__ int printf(const char*,...);
extern "C" __device__ void*malloc(unsigned long);extern "C" __device__ void free(void*);
template<class T> __device__ __noinline__ T gcdT(T a,T b){return b?gcdT(b,a%b):a;}
__device__ __noinline__ int fib(int n){return n<2?n:fib(n-1)+fib(n-2);}
struct Big{double a[6];int k;}; __device__ __noinline__ Big mk(Big b,int k){b.a[k]+=1;b.k=k;return b;}
typedef float(*fn)(float,int); __device__ float f0(float x,int i){return x+i;} __device__ float f1(float x,int i){return x*i;} __device__ fn table[2]={f0,f1}; __constant__ fn ctable[2]={f1,f0};
struct Base{__device__ virtual int f(int)=0;__device__ virtual ~Base(){}};struct D1:Base{int z;__device__ D1(int q):z(q){} __device__ int f(int x)override{return x+z;}};struct D2:Base{__device__ int f(int x)override{return x*3;}};
__device__ __noinline__ int callv(Base*b,int x){return b->f(x);}
template<class F> __global__ void apply(F f,int*o){o[threadIdx.x]=f(o[threadIdx.x]);}
template __global__ void apply(int(*)(int),int*);
__device__ __noinline__ __int128 mul128(__int128 a,__int128 b){return a*b+(a>>5)/(b|1);}
extern "C" __global__ void k(int*o,float*f,Big*b,int n){o[0]=fib(o[1])+gcdT(o[2],o[3])+(int)gcdT((long long)o[4],(long long)o[5]);f[0]=table[o[6]&1](f[1],3)+ctable[n&1](f[2],4);b[0]=mk(b[1],o[1]);printf("x %d %f %s\n",o[0],f[0],"abc");assert(o[0]>=0);int*p=(int*)malloc(4*n);p[0]=3;o[9]=p[n-1];free(p);D1 d(3);D2 e;o[7]=callv(n?(Base*)&d:(Base*)&e,4);Base*h=new D2();o[8]=h->f(3);delete h;if(n==77)__trap();if(n==78)asm("exit;");if(n==79)__brkpt();}
extern "C" __global__ void w(__int128*a,unsigned __int128*b){int i=threadIdx.x;a[i]=mul128(a[i],a[i+1])-a[i+2];b[i]=b[i]*b[i+1]/b[i+2]%b[i+3]+(b[i]<<7);}
__device__ int gv;__device__ const int*gp=&gv;struct L{int v;const L*next;};__device__ const L lb={2,0};__device__ const L la={1,&lb};
extern "C" __global__ void walk(int*o){const L*p=&la;int s=0;for(int i=0;i<o[0];i++){s+=p->v;p=p->next;}o[1]=s+*gp;auto lam=[=](int x){return x*s;};o[2]=lam(5);}
