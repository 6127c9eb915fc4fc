// Which vector levels this machine can run.
#pragma once

#include <vector>

#if defined(TEXTMARGIN_X86)
#include <cpuid.h>

#include <cstdint>
#endif

namespace textmargin {

#if defined(TEXTMARGIN_X86)

// Asked of the processor itself: what compilers offer for it needs a library that clang-cl does not link.
struct Processor {
    bool avx2 = false, avx512 = false;  // all that x86-64-v3 and x86-64-v4 stand for, and a system that saves the registers

    Processor() {
        unsigned a = 0, b = 0, c = 0, d = 0;
        if (!__get_cpuid(1, &a, &b, &c, &d)) return;
        const unsigned first = c, fma_movbe_osxsave_avx_f16c = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;
        if (!__get_cpuid(0x80000001, &a, &b, &c, &d)) return;
        const unsigned extended = c, lzcnt = 1u << 5;
        if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
        const unsigned bmi_avx2_bmi2 = 1u << 3 | 1u << 5 | 1u << 8, f_dq_cd_bw_vl = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
        if (!has(first, fma_movbe_osxsave_avx_f16c) || !has(extended, lzcnt) || !has(b, bmi_avx2_bmi2)) return;
        const uint32_t saved = saved_registers();
        avx2 = has(saved, 0x06);
        avx512 = avx2 && has(b, f_dq_cd_bw_vl) && has(saved, 0xe6);
    }

  private:
    static bool has(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }
    static uint32_t saved_registers() {  // XCR0
        uint32_t low, high;
        __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        return low;
    }
};

#endif

// Of the three makes of some code, those this machine can run, the widest first.
template <class Level>
std::vector<const Level*> widest_first([[maybe_unused]] const Level& (*avx512)(), [[maybe_unused]] const Level& (*avx2)(),
                                       const Level& (*baseline)()) {
    std::vector<const Level*> levels;
#if defined(TEXTMARGIN_X86)
    static const Processor processor;
    if (processor.avx512) levels.push_back(&avx512());
    if (processor.avx2) levels.push_back(&avx2());
#endif
    levels.push_back(&baseline());
    return levels;
}

}  // namespace textmargin
