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
    RemoteTexts(const LinearLevel& level, nb::object texts, size_t n_rows, size_t n_columns, int n_threads)
        : level_(level), texts_(std::move(texts)), n_(n_rows), d_(n_columns), n_threads_(n_threads) {}

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
        const size_t n_extra = solver.n_extra();
        std::vector<Active> active(classes.size());
        std::vector<std::vector<float>> memory(classes.size());
        std::vector<Vectors> v(classes.size());
        std::vector<Descent> descents(classes.size());
        std::vector<size_t> places(classes.size());
        for (size_t a = 0; a < places.size(); ++a) places[a] = a;
        struct Nothing {};
        auto each = [&](const auto& visit) {
            each_class<Nothing>(places, n_threads_, watch, [&](size_t a, Nothing&) { visit(a); });
        };
        each([&](size_t a) {
            solver.activate(classes[a], active[a]);
            memory[a].assign(Vectors::size(d_, n_extra), 0.f);
            v[a] = Vectors::in(memory[a].data(), d_, n_extra);
            std::copy_n(solver.weights(classes[a]), d_, v[a].w);
        });
        const std::vector<Machine> machines = activate(active, v, n_extra);
        each([&](size_t a) {
            active[a].rows = {}, active[a].costs = {}, active[a].errors = {}, active[a].Z = {};
            descents[a] = level_.begin(d_, active[a].extra, solver.penalty(), active[a].precision, kMaxSteps, v[a]);
        });
        std::vector<size_t> all = places;
        for (;;) {
            std::erase_if(places, [&](size_t a) { return descents[a].ended; });
            if (places.empty()) break;
            watch();
            products(machines, places, v);
            each([&](size_t a) { level_.step(d_, active[a].extra, solver.penalty(), v[a], descents[a]); });
        }
        places = all;
        each([&](size_t a) {
            const Step step = level_.end(d_, active[a].extra, v[a], descents[a]);
            solver.set_direction(classes[a], step, v[a].w, v[a].p, nullptr, d_);
        });
    }

  private:
    using Singles = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    using OutSingles = nb::ndarray<nb::numpy, float, nb::ndim<2>>;
    using OutSingle = nb::ndarray<nb::numpy, float, nb::ndim<1>>;
    struct Machine {
        std::vector<int32_t> columns;
        std::vector<int64_t> ends;
    };

    std::vector<Machine> activate(std::vector<Active>& active, const std::vector<Vectors>& v, size_t n_extra) {
        const nb::gil_scoped_acquire acquired;
        nb::list given;
        for (const Active& one : active) {
            auto [rows, rows_data] = make<nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>, int64_t>(one.rows.size());
            auto [costs, costs_data] = make<OutSingle, float>(one.rows.size());
            auto [errors, errors_data] = make<OutSingle, float>(one.rows.size());
            auto [Z, Z_data] = make<OutSingles, float>(n_extra, one.rows.size());
            std::copy(one.rows.begin(), one.rows.end(), rows_data);
            std::copy(one.costs.begin(), one.costs.end(), costs_data);
            std::copy(one.errors.begin(), one.errors.end(), errors_data);
            std::copy(one.Z.begin(), one.Z.end(), Z_data);
            given.append(nb::make_tuple(rows, costs, errors, Z));
        }
        std::vector<Machine> machines;
        for (const nb::handle answer : nb::list(texts_.attr("activate")(given))) {
            const auto columns = nb::cast<Vector<int32_t>>(answer[0]);
            const auto ends = nb::cast<Vector<int64_t>>(answer[1]);
            const auto residual = nb::cast<Vector<float>>(answer[2]), diagonal = nb::cast<Vector<float>>(answer[3]);
            const auto sums = nb::cast<Vector<float>>(answer[4]);
            require(ends.size() == active.size() + 1 && size_t(ends.data()[active.size()]) == columns.size() &&
                        residual.size() == columns.size() && diagonal.size() == columns.size() && sums.size() == n_extra * columns.size(),
                    "a machine's sums do not fit together");
            Machine machine{{columns.data(), columns.data() + columns.size()}, {ends.data(), ends.data() + ends.size()}};
            for (const int32_t column : machine.columns) require(column >= 0 && size_t(column) < d_, "a machine has other columns");
            for (size_t a = 0; a < active.size(); ++a) {
                const size_t first = size_t(machine.ends[a]), n = size_t(machine.ends[a + 1]) - first;
                for (size_t j = 0; j < n; ++j) {
                    const auto column = size_t(machine.columns[first + j]);
                    v[a].residual[column] += residual.data()[first + j];
                    v[a].diagonal[column] += diagonal.data()[first + j];
                    for (size_t e = 0; e < n_extra; ++e) v[a].sums[e * d_ + column] += sums.data()[n_extra * first + e * n + j];
                }
            }
            machines.push_back(std::move(machine));
        }
        return machines;
    }

    void products(const std::vector<Machine>& machines, const std::vector<size_t>& places, const std::vector<Vectors>& v) {
        const nb::gil_scoped_acquire acquired;
        nb::list given, numbers;
        for (const size_t a : places) numbers.append(a);
        for (const Machine& machine : machines) {
            size_t size = 0;
            for (const size_t a : places) size += size_t(machine.ends[a + 1] - machine.ends[a]);
            auto [directions, at] = make<OutSingle, float>(size);
            for (const size_t a : places)
                for (int64_t j = machine.ends[a]; j < machine.ends[a + 1]; ++j) *at++ = v[a].direction[machine.columns[size_t(j)]];
            given.append(directions);
        }
        const nb::list answers(texts_.attr("products")(numbers, given));
        require(answers.size() == machines.size(), "not every machine has answered");
        for (const size_t a : places) std::fill_n(v[a].image, d_, 0.f);
        for (size_t m = 0; m < machines.size(); ++m) {
            const auto images = nb::cast<Vector<float>>(answers[m]);
            require(images.size() == nb::len(given[m].attr("ravel")()), "a machine's products do not fit together");
            const float* at = images.data();
            for (const size_t a : places)
                for (int64_t j = machines[m].ends[a]; j < machines[m].ends[a + 1]; ++j) v[a].image[machines[m].columns[size_t(j)]] += *at++;
        }
    }

    const LinearLevel& level_;
    nb::object texts_;
    const size_t n_, d_;
    const int n_threads_;
};

}  // namespace textmargin
