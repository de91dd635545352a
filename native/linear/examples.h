// Rows with their labels and weights, and the order in which they are visited: what most loops go over.
#pragma once

#include "binding.h"
#include "linear/loops.h"

class Examples {
    nb::object owner;  // of the rows
    std::optional<Labels> labels;
    std::optional<Floats> weights;
    std::optional<Order> order;

  public:
    const Rows& rows;

    Examples(nb::handle_t<Rows> of, const std::optional<Labels>& y, const std::optional<Floats>& c,
             const std::optional<Order>& o)
        : owner(nb::borrow(of)), labels(y), weights(c), order(o), rows(*nb::inst_ptr<Rows>(of)) {
        const size_t n = size_t(rows.n());
        if ((labels && labels->shape(0) != n) || (weights && weights->shape(0) != n))
            throw std::invalid_argument("labels or weights do not match the rows");
    }

    // The visits of a range. The order is checked each time: anyone may have written to it since the last.
    Visits visits(int64_t begin, int64_t end) const {
        const int64_t n = rows.n();
        if (begin < 0 || end < begin || end > (order ? int64_t(order->shape(0)) : n))
            throw std::invalid_argument("visits out of range");
        const Visits v{labels ? labels->data() : nullptr, weights ? weights->data() : nullptr,
                       order ? order->data() : nullptr, begin, end};
        for (int64_t t = begin; order && t < end; ++t)
            if (v.row(t) < 0 || v.row(t) >= n) throw std::invalid_argument("order names a row out of range");
        return v;
    }
    Visits labelled(int64_t begin, int64_t end) const {
        if (!labels) throw std::invalid_argument("the examples have no labels");
        return visits(begin, end);
    }
    Visits labelled(int64_t begin, int64_t end, int64_t classes) const {
        const Visits v = labelled(begin, end);
        for (int64_t t = begin; t < end; ++t) {
            const int32_t label = v.labels[v.row(t)];
            if (label < 0 || label >= classes) throw std::invalid_argument("label out of range");
        }
        return v;
    }
};
