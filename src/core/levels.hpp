// Which vector levels this machine can run.
#pragma once

#include <vector>

namespace textmargin {

// Of the three makes of some code, those this machine can run, the widest first.
template <class Level>
std::vector<const Level*> widest_first([[maybe_unused]] const Level& (*avx512)(), [[maybe_unused]] const Level& (*avx2)(),
                                       const Level& (*baseline)()) {
    std::vector<const Level*> levels;
#if defined(TEXTMARGIN_X86)
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2");
    const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512cd");
    if (has_avx512) levels.push_back(&avx512());
    if (has_avx2) levels.push_back(&avx2());
#endif
    levels.push_back(&baseline());
    return levels;
}

}  // namespace textmargin
