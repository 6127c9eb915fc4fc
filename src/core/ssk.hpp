// The string subsequence kernel (Lodhi et al. 2002, Sec. 4), as plainly as it can be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace textmargin {

// K_n(s, t), one pass over s.  Kp[i][j] is K'_i(s so far, t[:j]) with K'_0 = 1.
// Time O(n|s||t|), memory O(n|t|).  A string shorter than n has no subsequence of that length: K = 0.
inline double ssk(std::span<const int32_t> s, std::span<const int32_t> t, int n, double decay) {
    const double decay2 = decay * decay;
    std::vector<std::vector<double>> Kp(n, std::vector<double>(t.size() + 1, 0.0));
    Kp[0].assign(t.size() + 1, 1.0);
    double K = 0.0;
    for (const int32_t x : s) {
        for (size_t j = 0; j < t.size(); ++j)
            if (t[j] == x) K += decay2 * Kp[n - 1][j];
        for (int i = n - 1; i > 0; --i) {  // downwards: level i reads the old row of i - 1
            double Kpp = 0.0;              // K''_i
            for (size_t j = 0; j < t.size(); ++j) {
                Kpp = decay * Kpp + (t[j] == x ? decay2 * Kp[i - 1][j] : 0.0);
                Kp[i][j + 1] = decay * Kp[i][j + 1] + Kpp;
            }
        }
    }
    return K;
}

}  // namespace textmargin
