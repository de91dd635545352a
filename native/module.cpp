// The Python face of the core: arrays come in as they are, the loops run without the GIL.
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "binding.h"
#include "exact/exact.h"
#include "rows/distinct.h"

// Each in the file of its name.
void bind_learner(nb::module_&);
void bind_loops(nb::module_&);
void bind_margins(nb::module_&);
void bind_online(nb::module_&);
void bind_one_row(nb::module_&);
void bind_voted(nb::module_&);
void bind_winnow(nb::module_&);
void bind_budget(nb::module_&);
void bind_conjunctions(nb::module_&);
void bind_asking(nb::module_&);
void bind_gram(nb::module_&);
void bind_tagger(nb::module_&);
void bind_templates(nb::module_&);
void bind_trees(nb::module_&);
void bind_cells(nb::module_&);
void bind_format(nb::module_&);
void bind_libsvm(nb::module_&);
void bind_named(nb::module_&);
void bind_turns(nb::module_&);

NB_MODULE(NOVIKOFF_MODULE, m) {
    m.doc() = "The native loops of novikoff: see native/ for the mathematics above each of them.";

    nb::set_leak_warnings(false);  // users can do nothing about objects that outlive the interpreter

    m.def(
        "runs_v3",
        [] {
#if defined(__x86_64__) && defined(__clang__) && __clang_major__ < 18  // which knows no levels
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("bmi2");
#elif defined(__x86_64__)
            return bool(__builtin_cpu_supports("x86-64-v3"));
#else
            return false;
#endif
        },
        "Whether this processor has AVX2 and FMA.");

    nb::class_<Rows>(m, "Rows", "A matrix read in place: dense float32, float64 or uint8, or CSR.")
        .def(nb::init<nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<2>>>(), nb::arg("x"))
        .def(nb::init<nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>,
                      nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>,
                      nb::ndarray<nb::ro, nb::device::cpu, nb::ndim<1>>, int64_t, bool>(),
             nb::arg("data"), nb::arg("indices"), nb::arg("indptr"), nb::arg("n_features"),
             nb::arg("distinct") = false)
        .def_prop_ro("n", &Rows::n)
        .def_prop_ro("d", &Rows::d)
        .def(
            "all_distinct",
            [](const Rows& rows) {
                const nb::gil_scoped_release release;
                return rows.visit([](auto& r) { return all_distinct(r); });
            },
            "Whether the indices of every sparse row are distinct and in range, in whatever order.");

    m.def(
        "exact_dot",
        [](const Floats& a, const Floats& b, bool compensated) {
            if (a.shape(0) != b.shape(0)) throw std::invalid_argument("vectors differ in length");
            auto terms = [&](auto& f) {
                for (size_t j = 0; j < a.shape(0); ++j) f(a.data()[j], b.data()[j]);
            };
            if (compensated) {
                Fallbacks ignored;
                return std::make_tuple(exact_sign(terms, ignored), exact_value(terms, ignored));
            }
            LongAccumulator once, twice;
            terms(once);
            terms(twice);
            return std::make_tuple(once.sign(), twice.rounded());
        },
        nb::arg("a"), nb::arg("b"), nb::arg("compensated") = true,
        "Sign and correctly rounded value of a.b; without the compensated sum, by the accumulator alone.");

    m.def(
        "advise_huge_pages",
        [](const Array<double>& a, bool huge) {
#if defined(__linux__)
            const uintptr_t page = uintptr_t(1) << 21, p = uintptr_t(a.data());
            const uintptr_t first = (p + page - 1) / page * page, last = (p + a.size() * 8) / page * page;
            if (last > first)
                madvise(reinterpret_cast<void*>(first), last - first, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#else
            (void)a, (void)huge;
#endif
        },
        nb::arg("array"), nb::arg("huge") = true,
        "Ask for huge pages, or for none, under a large, still untouched array.");

    bind_learner(m);
    bind_loops(m);
    bind_margins(m);
    bind_online(m);
    bind_one_row(m);
    bind_voted(m);
    bind_winnow(m);
    bind_asking(m);
    bind_gram(m);
    bind_budget(m);
    bind_conjunctions(m);
    bind_tagger(m);
    bind_templates(m);
    bind_trees(m);
    bind_cells(m);
    bind_format(m);
    bind_libsvm(m);
    bind_named(m);
    bind_turns(m);
}
