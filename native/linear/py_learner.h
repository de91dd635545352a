// A learner as Python sees it: with the arrays that it writes to, and a record of who uses it.
#pragma once

#include <nanobind/stl/pair.h>

#include "binding.h"
#include "linear/learner.h"

// A Learner together with the arrays that it writes to.
struct PyLearner : Learner {
    using Sums = std::pair<Matrix, Vector<double>>;  // of weights and bias, for the average
    Matrix weights_array;
    Vector<double> bias_array;
    std::optional<Sums> sums_arrays, confidence_arrays;
    std::optional<Vector<double>> factors_array;
    std::vector<Update> updates_made;
    InUse in_use{"the learner"};

    PyLearner(int64_t n_classes, Matrix w, Vector<double> b, const UpdateRule& rule, std::optional<Sums> sums,
              bool zero)
        : Learner(rule), weights_array(w), bias_array(b), sums_arrays(sums) {
        classes = n_classes;
        features = int64_t(w.shape(0));
        stride = int64_t(w.shape(1));
        const int64_t expected = classes == 2 ? 1 : (classes + 3) / 4 * 4;
        if (classes < 2 || stride != expected || int64_t(b.shape(0)) != stride ||
            (sums && (int64_t(sums->first.shape(0)) != features || int64_t(sums->first.shape(1)) != stride ||
                      int64_t(sums->second.shape(0)) != stride)))
            throw std::invalid_argument("weights, bias and sums do not fit the number of classes");
        weights = w.data();
        bias = b.data();
        weight_sums = sums ? sums->first.data() : nullptr;
        bias_sums = sums ? sums->second.data() : nullptr;
        if (zero) norm2.assign(size_t(stride), 0.0);
        else measure_norm();
    }

    // The arrays of a rule that adapts: of weights and bias.
    void set_confidences(const Sums& arrays) {
        if (!adapts() || int64_t(arrays.first.shape(0)) != features ||
            int64_t(arrays.first.shape(1)) != stride || int64_t(arrays.second.shape(0)) != stride)
            throw std::invalid_argument("confidences do not fit the rule or the weights");
        confidence_arrays = arrays;
        confidences = arrays.first.data();
        bias_confidences = arrays.second.data();
    }

    // From now on the rows are learned with these factors, or without any; call measure_norm() next.
    void set_factors(std::optional<Vector<double>> given) {
        double largest = 1, smallest = 1;
        if (given) {
            if (int64_t(given->shape(0)) != features)
                throw std::invalid_argument("factors do not fit the weights");
            for (int64_t j = 0; j < features; ++j) {
                const double s = given->data()[j];
                int exponent;
                if (!(s >= 0x1p-300 && s <= 0x1p300) || std::frexp(s, &exponent) != 0.5)
                    throw std::invalid_argument("factors must be powers of two from 2**-300 to 2**300");
                largest = std::max(largest, s), smallest = std::min(smallest, s);
            }
        }
        factors_array = given;
        factors = given ? given->data() : nullptr;
        largest_factor = largest, smallest_factor = smallest;
    }

    // The Frobenius norm of the weights of the rows with their factors; this also makes the filter's norms tight
    // again.
    double measure_norm() {
        auto every = [&](auto&& visit) {
            for (int64_t j = 0; j < features; ++j) visit(j);
        };
        double shared = 0;
        if (stride == 1 && !factors) shared = DenseRow<double>{weights, features, weights}.norm2();
        else if (stride == 1) every([&](int64_t j) { shared += weight(j) * weight(j); });
        return measure_norm(shared, every);
    }
    // The same numbers when only these rows, in increasing order, are not zero: no other row is read.
    double measure_norm_of(const Order& rows) {
        const int64_t *const used = rows.data(), n = int64_t(rows.shape(0)), paired = features / 8 * 8;
        for (int64_t i = 0; i < n; ++i)
            if (used[i] < 0 || used[i] >= features || (i && used[i - 1] >= used[i]))
                throw std::invalid_argument("rows of weights must increase and be below their number");
        nb::gil_scoped_release nogil;
        auto every = [&](auto&& visit) {
            for (int64_t i = 0; i < n; ++i) visit(used[i]);
        };
        double sum = 0;
        if (stride == 1 && factors) {
            every([&](int64_t j) { sum += weight(j) * weight(j); });
        } else if (stride == 1) {  // added in the order of DenseRow::norm2
            Vec part[2] = {};
            int64_t i = 0;
            for (; i < n && used[i] < paired; ++i) {
                Vec w{};
                w[used[i] % 4] = weights[used[i]];
                Vec& to = part[used[i] / 4 % 2];
                to = multiply_add(w, w, to);
            }
            sum = total(part[0] + part[1]);
            for (; i < n; ++i) sum += weights[used[i]] * weights[used[i]];
        }
        return measure_norm(sum, every);
    }

  private:
    // A number in the table of weights, as a weight of z = factors x.
    double weight(int64_t k) const { return factors ? weights[k] / factors[k / stride] : weights[k]; }

    template <class Every>
    double measure_norm(double shared, Every&& every) {
        norm2.assign(size_t(stride), 0.0);
        if (stride == 1) norm2[0] = shared;
        for (int64_t c = 0; c + 4 <= stride; c += 4) {
            Vec sum{};
            every([&](int64_t j) {
                Vec w = load4(weights + j * stride + c);
                if (factors) w /= factors[j];
                sum = multiply_add(w, w, sum);
            });
            store4(&norm2[size_t(c)], sum);
        }
        double all = 0;
        given_bias = 0;
        for (int64_t c = 0; c < stride; ++c) {
            if (!bias2) given_bias = std::max(given_bias, std::fabs(bias[c]));
            double share = bias[c] * bias[c] / (bias2 ? bias2 : 1);
            // the square may have underflowed where the quotient does not
            if (bias2 && !(bias[c] * bias[c] > 0x1p-900)) {
                const double coordinate = bias[c] / std::sqrt(bias2);
                share = coordinate * coordinate;
            }
            norm2[c] += share;
            all += norm2[c];
            norm2[c] *= 1 + double(features + 16) * 4 * kUnit;
        }
        current_norm = weight_norm();
        if (all < 0x1p1000 && all > 0x1p-900) return std::sqrt(all);
        Fallbacks ignored;
        return exact_norm(
            [&](auto& f) {
                every([&](int64_t j) {
                    for (int64_t k = j * stride; k < (j + 1) * stride; ++k) f(weight(k), weight(k));
                });
                for (int64_t c = 0; c < stride; ++c) {
                    double b = bias2 ? bias[c] / std::sqrt(bias2) : bias[c];
                    f(b, b);
                }
            },
            ignored);
    }
};
