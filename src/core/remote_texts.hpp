// The texts of the linear solver where they lie on other machines, asked through an object of Python; see `scale/cluster_blocks.py`.
#pragma once

#include "arrays.hpp"
#include "many.hpp"

namespace textmargin {

// Python's object has, with arrays of single precision,
//     scores(D (k, n_columns)) → (k, n_rows)        gradients(A (k, n_rows)) → (k, n_columns)
//     activate([(rows, costs, errors, Z (n_extra, n_active)), …]) → per machine (columns of all classes one after the other, their
//         ends (k + 1,), X'Ce, diag(X'CX), Z'CX in the same order)
//     products(classes, [directions per machine]) → [images per machine]
class RemoteTexts {
  public:
    RemoteTexts(const LinearLevel& level, nb::handle texts, size_t n_rows, size_t n_columns, int n_threads)
        : level_(level), texts_(texts), n_(n_rows), d_(n_columns), n_threads_(n_threads) {}

    size_t n_rows() const { return n_; }
    size_t n_columns() const { return d_; }

    template <class Watch>
    void multiply(const std::vector<size_t>& classes, const float* D, float* out, const Watch&) {
        const nb::gil_scoped_acquire acquired;
        auto [given, data] = make<OutSingles, float>(classes.size(), d_);
        for (size_t a = 0; a < classes.size(); ++a) std::copy_n(D + classes[a] * d_, d_, data + a * d_);
        const auto answer = nb::cast<Singles>(texts_.attr("scores")(given));
        require(answer.shape(0) == classes.size() && answer.shape(1) == n_, "scores are of other rows");
        for (size_t a = 0; a < classes.size(); ++a) std::copy_n(answer.data() + a * n_, n_, out + classes[a] * n_);
    }

    template <class Push, class Watch>
    void descend(const std::vector<size_t>& classes, const Push& push, const float*, float* p, const Watch&) {
        const nb::gil_scoped_acquire acquired;
        auto [given, data] = make<OutSingles, float>(classes.size(), n_);
        for (size_t a = 0; a < classes.size(); ++a)
            for (size_t i = 0; i < n_; ++i) data[a * n_ + i] = float(push(classes[a], i));
        const auto answer = nb::cast<Singles>(texts_.attr("gradients")(given));
        require(answer.shape(0) == classes.size() && answer.shape(1) == d_, "gradients are of other columns");
        for (size_t a = 0; a < classes.size(); ++a) std::copy_n(answer.data() + a * d_, d_, p + classes[a] * d_);
    }

    // Conjugate gradients of all classes in step: one question to all machines for a step of each.
    template <class Solver, class Watch>
    void directions(const std::vector<size_t>& classes, Solver& solver, const Watch& watch) {
        if (classes.empty()) return;
        std::vector<Class> own(classes.size());
        std::vector<size_t> places(classes.size());
        for (size_t a = 0; a < places.size(); ++a) places[a] = a;
        each(places, watch, [&](size_t a) { solver.activate(classes[a], own[a].active); });
        const std::vector<Machine> machines = activate(own, solver, classes, watch);
        each(places, watch, [&](size_t a) {
            const Active& active = own[a].active;
            own[a].descent = level_.begin(own[a].columns.size(), active.extra, solver.penalty(), active.precision, kMaxSteps, own[a].v);
        });
        for (std::vector<size_t> going_on = places;;) {
            std::erase_if(going_on, [&](size_t a) { return own[a].descent.ended; });
            if (going_on.empty()) break;
            watch();
            multiply(machines, going_on, own, watch);
            each(going_on, watch, [&](size_t a) {
                level_.step(own[a].columns.size(), own[a].active.extra, solver.penalty(), own[a].v, own[a].descent);
            });
        }
        each(places, watch, [&](size_t a) {
            const size_t d = own[a].columns.size();
            const Step step = level_.end(d, own[a].active.extra, own[a].v, own[a].descent);
            solver.set_direction(classes[a], step, own[a].v.w, own[a].v.p, own[a].columns.data(), d);
        });
    }

  private:
    using Singles = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    using OutSingles = nb::ndarray<nb::numpy, float, nb::ndim<2>>;
    using OutSingle = nb::ndarray<nb::numpy, float, nb::ndim<1>>;
    using OutLongs = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;

    // One class on the way: the columns that its active rows touch anywhere are numbered 0, 1, 2, ...
    struct Class {
        Active active;
        std::vector<int32_t> columns;
        std::vector<float> memory;
        Vectors v{};
        Descent descent{};
    };
    // Of each class, the columns that its rows on one machine touch, by their number.
    struct Machine {
        std::vector<int32_t> columns;
        std::vector<int64_t> ends;
    };
    struct Nothing {};

    template <class Watch, class Visit>
    void each(const std::vector<size_t>& places, const Watch& watch, const Visit& visit) const {
        each_class<Nothing>(places, n_threads_, watch, [&](size_t a, Nothing&) { visit(a); });
    }

    template <class Solver, class Watch>
    std::vector<Machine> activate(std::vector<Class>& own, const Solver& solver, const std::vector<size_t>& classes, const Watch& watch) {
        const nb::gil_scoped_acquire acquired;
        const size_t n_extra = solver.n_extra();
        nb::list given;
        for (Class& one : own) {
            const Active& active = one.active;
            const size_t n = active.rows.size();
            auto [rows, rows_data] = make<OutLongs, int64_t>(n);
            auto [costs, costs_data] = make<OutSingle, float>(n);
            auto [errors, errors_data] = make<OutSingle, float>(n);
            auto [Z, Z_data] = make<OutSingles, float>(n_extra, n);
            std::copy(active.rows.begin(), active.rows.end(), rows_data);
            std::copy(active.costs.begin(), active.costs.end(), costs_data);
            std::copy(active.errors.begin(), active.errors.end(), errors_data);
            std::copy(active.Z.begin(), active.Z.end(), Z_data);
            given.append(nb::make_tuple(rows, costs, errors, Z));
            one.active.rows = {}, one.active.costs = {}, one.active.errors = {}, one.active.Z = {};
        }
        struct Answer {
            Vector<int32_t> columns;
            Vector<int64_t> ends;
            Vector<float> residual, diagonal, sums;
        };
        std::vector<Answer> answers;
        std::vector<Machine> machines;
        for (const nb::handle answer : nb::list(texts_.attr("activate")(given))) {
            answers.push_back({nb::cast<Vector<int32_t>>(answer[0]), nb::cast<Vector<int64_t>>(answer[1]), nb::cast<Vector<float>>(answer[2]),
                               nb::cast<Vector<float>>(answer[3]), nb::cast<Vector<float>>(answer[4])});
            const auto& [columns, ends, residual, diagonal, sums] = answers.back();
            const size_t size = columns.size();
            require(ends.size() == own.size() + 1 && std::is_sorted(ends.data(), ends.data() + ends.size()) && ends.data()[0] == 0 &&
                        size_t(ends.data()[own.size()]) == size && residual.size() == size && diagonal.size() == size &&
                        sums.size() == n_extra * size,
                    "a machine's sums do not fit together");
            for (size_t j = 0; j < size; ++j)
                require(columns.data()[j] >= 0 && size_t(columns.data()[j]) < d_, "a machine has other columns");
            machines.push_back({std::vector<int32_t>(size), {ends.data(), ends.data() + ends.size()}});
        }
        const nb::gil_scoped_release released;
        std::vector<size_t> places(own.size());
        for (size_t a = 0; a < places.size(); ++a) places[a] = a;
        each_class<std::vector<int32_t>>(places, n_threads_, watch, [&](size_t a, std::vector<int32_t>& number) {
            Class& one = own[a];
            number.resize(d_, -1);
            for (size_t m = 0; m < machines.size(); ++m)
                for (int64_t j = machines[m].ends[a]; j < machines[m].ends[a + 1]; ++j) {
                    const int32_t column = answers[m].columns.data()[j];
                    if (number[size_t(column)] < 0) number[size_t(column)] = int32_t(one.columns.size()), one.columns.push_back(column);
                    machines[m].columns[size_t(j)] = number[size_t(column)];
                }
            const size_t d = one.columns.size();
            for (const int32_t column : one.columns) number[size_t(column)] = -1;
            one.memory.assign(Vectors::size(d, n_extra), 0.f);
            one.v = Vectors::in(one.memory.data(), d, n_extra);
            const float* w = solver.weights(classes[a]);
            for (size_t j = 0; j < d; ++j) one.v.w[j] = w[one.columns[j]];
            for (size_t m = 0; m < machines.size(); ++m) {
                const auto& [columns, ends, residual, diagonal, sums] = answers[m];
                const size_t first = size_t(machines[m].ends[a]), n = size_t(machines[m].ends[a + 1]) - first;
                for (size_t j = 0; j < n; ++j) {
                    const auto column = size_t(machines[m].columns[first + j]);
                    one.v.residual[column] += residual.data()[first + j], one.v.diagonal[column] += diagonal.data()[first + j];
                    for (size_t e = 0; e < n_extra; ++e) one.v.sums[e * d + column] += sums.data()[n_extra * first + e * n + j];
                }
            }
        });
        return machines;
    }

    // X'CX times the directions of some classes, into their images.
    template <class Watch>
    void multiply(const std::vector<Machine>& machines, const std::vector<size_t>& places, std::vector<Class>& own, const Watch& watch) {
        const nb::gil_scoped_acquire acquired;
        nb::list given, numbers;
        std::vector<float*> directions;
        std::vector<std::vector<size_t>> at(machines.size());  // per machine, where each class begins
        for (const size_t a : places) numbers.append(a);
        for (size_t m = 0; m < machines.size(); ++m) {
            size_t size = 0;
            at[m].resize(own.size());
            for (const size_t a : places) at[m][a] = size, size += size_t(machines[m].ends[a + 1] - machines[m].ends[a]);
            at[m].push_back(size);
            auto [array, data] = make<OutSingle, float>(size);
            given.append(array);
            directions.push_back(data);
        }
        each_released(places, watch, [&](size_t a) {
            for (size_t m = 0; m < machines.size(); ++m) {
                const int32_t* columns = machines[m].columns.data() + machines[m].ends[a];
                const size_t n = size_t(machines[m].ends[a + 1] - machines[m].ends[a]);
                for (size_t j = 0; j < n; ++j) directions[m][at[m][a] + j] = own[a].v.direction[columns[j]];
            }
        });
        const nb::list answers(texts_.attr("products")(numbers, given));
        require(answers.size() == machines.size(), "not every machine has answered");
        std::vector<Vector<float>> images;
        for (size_t m = 0; m < machines.size(); ++m) {
            images.push_back(nb::cast<Vector<float>>(answers[m]));
            require(images[m].size() == at[m].back(), "a machine's products do not fit together");
        }
        each_released(places, watch, [&](size_t a) {
            std::fill_n(own[a].v.image, own[a].columns.size(), 0.f);
            for (size_t m = 0; m < machines.size(); ++m) {
                const int32_t* columns = machines[m].columns.data() + machines[m].ends[a];
                const size_t n = size_t(machines[m].ends[a + 1] - machines[m].ends[a]);
                for (size_t j = 0; j < n; ++j) own[a].v.image[columns[j]] += images[m].data()[at[m][a] + j];
            }
        });
    }

    template <class Watch, class Visit>
    void each_released(const std::vector<size_t>& places, const Watch& watch, const Visit& visit) const {
        const nb::gil_scoped_release released;
        each(places, watch, visit);
    }

    const LinearLevel& level_;
    const nb::handle texts_;  // whoever made this has it: no count of references is touched without the GIL
    const size_t n_, d_;
    const int n_threads_;
};

}  // namespace textmargin
