import sys, time, collections
from pathlib import Path
import numpy as np
from benchmarks import bench_scale as b
from textmargin.scale import ClusterBlocks
import textmargin.scale.cluster_blocks as cb
if __name__ == "__main__":
    n = int(sys.argv[1]); kind, k = sys.argv[2], int(sys.argv[3])
    folder = b.matrix_folder(Path("/tmp/textmargin-bench"), n)
    Y = np.load(folder/"topics.npy"); X = b.open_blocks(folder, k)
    took = collections.defaultdict(list)
    old = ClusterBlocks._ask
    def ask(self, method, arguments=None):
        t=time.perf_counter(); r=old(self, method, arguments); took[method].append(time.perf_counter()-t)
        return r
    ClusterBlocks._ask = ask
    f = {"memory": b.in_memory, "ooc": b.out_of_core, "dask": b.on_dask}[kind](X, Y, k)
    print(kind, k, f"{f['seconds']:.1f} s, cpu {f['cpu']:.1f}")
    for m, v in took.items(): print(f"  {m:18} {len(v):4} calls {sum(v):7.2f} s  median {np.median(v)*1e3:.0f} ms max {max(v)*1e3:.0f}")
