// Binds the reader of cells that are numbers.
#include "text/cells.h"

#include "binding.h"

void bind_cells(nb::module_& m) {
    m.def(
        "number_cells",
        [](const Vector<const uint8_t>& text, const std::string& delimiter, const std::string& quote,
           const Vector<const int32_t>& targets, Array<double, nb::ndim<2>, nb::c_contig> out,
           Vector<double> labels, Vector<double> weights) {
            const int64_t rows = int64_t(out.shape(0)), width = int64_t(out.shape(1)),
                          cells = int64_t(targets.shape(0));
            bool sound = delimiter.size() == 1 && quote.size() <= 1 && cells > 0;
            for (int64_t k = 0; sound && k < cells; ++k) {
                const int32_t t = targets.data()[k];
                sound = t < width && t >= weight_cell &&
                        (t != label_cell || int64_t(labels.shape(0)) == rows) &&
                        (t != weight_cell || int64_t(weights.shape(0)) == rows);
            }
            if (!sound) throw std::invalid_argument("the cells' targets do not fit the arrays");
            const NumberCells reader{targets.data(), cells, delimiter[0],
                                     quote.empty() ? delimiter[0] : quote[0]};
            const char* const begin = reinterpret_cast<const char*>(text.data());
            nb::gil_scoped_release nogil;
            return reader.read(begin, begin + text.shape(0), rows, width, out.data(), labels.data(),
                               weights.data());
        },
        nb::arg("text"), nb::arg("delimiter"), nb::arg("quote"), nb::arg("targets"), nb::arg("out"),
        nb::arg("labels"), nb::arg("weights"),
        "Read lines of numbers into rows. Targets of cells: a column, -1 to pass over, -2 labels, -3 weights. "
        "False when there is anything else; the arrays then mean nothing.");
}
