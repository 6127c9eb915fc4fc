// A warp without a GPU: 32 lanes as coroutines that take turns at every shuffle, so that ssk.cu can be compiled and tested anywhere.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#define __device__
#define __shared__ static
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct int2 { int x, y; };
inline int2 make_int2(int x, int y) { return {x, y}; }
struct Place { int x; };
static Place threadIdx, blockIdx, blockDim, gridDim;

namespace warp {
constexpr int kLanes = 32;
static ucontext_t scheduler, lanes[kLanes];
static bool running[kLanes];
static uint64_t slots[2][kLanes];
static int turn[kLanes];  // which of the two rows of slots a lane is at
static std::function<void()> body;

inline void run_lane(int lane) {
    body();
    running[lane] = false;
}
// Hands a word to all lanes: when the turn comes back, all have handed over theirs.
inline const uint64_t* exchange(uint64_t mine) {
    const int lane = threadIdx.x, row = turn[lane];
    slots[row][lane] = mine;
    turn[lane] = 1 - row;
    swapcontext(&lanes[lane], &scheduler);
    return slots[row];
}
inline void run(std::function<void()> function) {
    static std::vector<char> stacks(kLanes * (256 << 10));
    body = std::move(function);
    for (int lane = 0; lane < kLanes; ++lane) {
        getcontext(&lanes[lane]);
        lanes[lane].uc_stack = {stacks.data() + lane * (256 << 10), 0, 256 << 10};
        lanes[lane].uc_link = &scheduler;
        makecontext(&lanes[lane], reinterpret_cast<void (*)()>(run_lane), 1, lane);
        running[lane] = true;
        turn[lane] = 0;
    }
    for (bool any = true; any;) {
        any = false;
        for (int lane = 0; lane < kLanes; ++lane)
            if (running[lane]) {
                threadIdx.x = lane;
                swapcontext(&scheduler, &lanes[lane]);
                any = true;
            }
    }
}
template <class T> uint64_t packed(T value) { uint64_t word = 0; std::memcpy(&word, &value, sizeof value); return word; }
template <class T> T unpacked(uint64_t word) { T value; std::memcpy(&value, &word, sizeof value); return value; }
}  // namespace warp

template <class T> T __shfl_up_sync(unsigned, T value, int by) {
    const uint64_t* all = warp::exchange(warp::packed(value));
    return threadIdx.x >= by ? warp::unpacked<T>(all[threadIdx.x - by]) : value;
}
template <class T> T __shfl_sync(unsigned, T value, int from) { return warp::unpacked<T>(warp::exchange(warp::packed(value))[from]); }
inline int __any_sync(unsigned, int mine) {
    const uint64_t* all = warp::exchange(mine != 0);
    for (int lane = 0; lane < warp::kLanes; ++lane)
        if (all[lane]) return 1;
    return 0;
}
inline void __threadfence() {}
inline void __syncwarp() { warp::exchange(0); }
inline int atomicAdd(int* at, int by) { const int old = *at; *at += by; return old; }
inline float __fmaf_rn(float x, float y, float z) { return std::fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
