// Binds the reader of cells that are numbers.
#include "text/cells.h"

#include "binding.h"

namespace {

struct PyNumberCells {
    Vector<const int32_t> targets;
    char delimiter, quote;

    PyNumberCells(const std::string& between, const std::string& around, Vector<const int32_t> of)
        : targets(of), delimiter(between[0]), quote(around.empty() ? between[0] : around[0]) {
        if (between.size() != 1 || around.size() > 1 || targets.shape(0) == 0)
            throw std::invalid_argument("a delimiter, a quote if any, and a target for each cell");
    }

    bool read(const Bytes& text, const Matrix& out, const Vector<double>& labels,
              const Vector<double>& weights) const {
        const int64_t rows = int64_t(out.shape(0)), width = int64_t(out.shape(1));
        const int64_t cells = int64_t(targets.shape(0));
        for (int64_t k = 0; k < cells; ++k) {
            const int32_t t = targets.data()[k];
            if (t >= width || t < weight_cell || (t == label_cell && int64_t(labels.shape(0)) != rows) ||
                (t == weight_cell && int64_t(weights.shape(0)) != rows))
                throw std::invalid_argument("the cells' targets do not fit the arrays");
        }
        const NumberCells reader{targets.data(), cells, delimiter, quote};
        const char* const begin = reinterpret_cast<const char*>(text.data());
        nb::gil_scoped_release nogil;
        return reader.read(begin, begin + text.shape(0), rows, width, out.data(), labels.data(),
                           weights.data());
    }
};

}  // namespace

void bind_cells(nb::module_& m) {
    nb::class_<PyNumberCells>(m, "NumberCells", "A reader of lines whose cells are numbers.")
        .def(nb::init<const std::string&, const std::string&, Vector<const int32_t>>(), nb::arg("delimiter"),
             nb::arg("quote"), nb::arg("targets"),
             "Targets of cells: a column, -1 to ignore it, -2 labels, -3 weights. `quote` may be empty.")
        .def("read", &PyNumberCells::read, nb::arg("text"), nb::arg("out"), nb::arg("labels"),
             nb::arg("weights"),
             "Read lines into rows. False when there is anything but numbers; the arrays then mean nothing.");
}
