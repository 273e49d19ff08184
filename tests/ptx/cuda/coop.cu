#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg=cooperative_groups;
extern "C" __global__ void tiles(int*o){auto b=cg::this_thread_block();auto t=cg::tiled_partition<16>(b);int v=o[b.thread_rank()];v+=t.shfl_down(v,3)+t.ballot(v>2)+t.any(v);v=cg::reduce(t,v,cg::plus<int>());v+=cg::inclusive_scan(t,v);t.sync();auto c=cg::coalesced_threads();if(v&1){auto a=cg::coalesced_threads();v+=a.shfl(v,0)+a.size()+a.thread_rank();}v+=c.size();b.sync();auto bp=cg::binary_partition(t,v&2);v+=bp.size();auto lp=cg::labeled_partition(t,v&3);v+=lp.size();o[b.thread_rank()]=v;}
extern "C" __global__ void gridsync(int*o){auto g=cg::this_grid();o[g.thread_rank()]+=1;g.sync();o[0]+=o[g.size()-1];}
