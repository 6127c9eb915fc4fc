// Work shared among threads, with the caller kept informed: it may watch progress and may stop everything.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace textmargin {

// While it lives, numbers too small for full precision count as zero on this thread: they would make arithmetic slow.
class FlushTiny {
#if defined(__SSE__)
    unsigned saved_ = _mm_getcsr();

  public:
    FlushTiny() { _mm_setcsr(saved_ | 0x8040); }
    ~FlushTiny() { _mm_setcsr(saved_); }
#else
  public:
    FlushTiny() {}
#endif
    FlushTiny(const FlushTiny&) = delete;
};

struct Progress {
    std::atomic<size_t> next{0};  // the first unit nobody has taken
    std::atomic<uint64_t> done{0};
    bool stop = false;  // read by workers with relaxed atomics

    bool stopped() const { return __atomic_load_n(&stop, __ATOMIC_RELAXED); }
    void halt() { __atomic_store_n(&stop, true, __ATOMIC_RELAXED); }
};

// Runs worker(unit) for units 0 … n_units − 1 on n_threads threads. `make_worker` is called once per thread and returns its worker,
// which may own scratch memory. `watch` runs on the calling thread every now and then, and stops the work by throwing.
template <class MakeWorker, class Watch>
void share_work(size_t n_units, int n_threads, Progress& progress, MakeWorker make_worker, const Watch& watch) {
    std::mutex mutex;
    std::condition_variable finished;
    int running = n_threads;
    std::exception_ptr failure;
    auto work = [&] {
        try {
            const FlushTiny tiny;
            auto worker = make_worker();
            for (size_t unit; !progress.stopped() && (unit = progress.next++) < n_units;) worker(unit);
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            progress.halt();
        }
        const std::lock_guard lock(mutex);
        if (--running == 0) finished.notify_one();
    };
    std::vector<std::thread> threads;
    auto join = [&] {
        for (auto& thread : threads) thread.join();
    };
    try {
        for (int i = 0; i < n_threads; ++i) threads.emplace_back(work);
        for (std::unique_lock lock(mutex); running > 0;) {
            if (finished.wait_for(lock, std::chrono::milliseconds(50), [&] { return running == 0; })) break;
            lock.unlock();
            watch();
            lock.lock();
        }
    } catch (...) {
        progress.halt();
        join();
        throw;
    }
    join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace textmargin
