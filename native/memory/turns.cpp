// Whose turn it is with a model: one call that learns, alone, or any number of calls that only read.
//
// A turn is taken and given back in one native call that holds the GIL and runs no Python code. So no other
// thread and no handler of a signal ever finds it half done, and an interrupt (Ctrl-C) leaves no turn behind.
// A waiting call releases the GIL and can be interrupted.
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

using Thread = unsigned long;

struct State {
    Thread learner = 0;  // 0: nobody learns
    std::vector<std::pair<Thread, int>> readers;  // how many turns each has
    std::vector<Thread> wanting;  // who waits to learn: new readers let them pass
    bool broken = false;  // the process was forked while another thread learned
    pid_t process = getpid();

    auto reader(Thread me) {
        return std::find_if(readers.begin(), readers.end(), [&](const auto& r) { return r.first == me; });
    }
    bool others_want(Thread me) const {
        return std::any_of(wanting.begin(), wanting.end(), [&](Thread t) { return t != me; });
    }
    // In a forked child the thread that forked is the only one left.
    Thread me() {
        const Thread me = PyThread_get_thread_ident();
        if (process != getpid()) {
            process = getpid();
            broken = broken || (learner && learner != me);
            learner = learner == me ? me : 0;
            readers.erase(std::remove_if(readers.begin(), readers.end(),
                                         [&](const auto& r) { return r.first != me; }),
                          readers.end());
            wanting.clear();
        }
        return me;
    }
    void check() const {
        if (broken)
            throw std::runtime_error(
                "the process was forked while another thread was learning with this model: load or "
                "fit it again here.");
    }
    template <class Free>
    static void wait(Free&& free) {
        for (int tries = 0; !free(); ++tries) {
            {
                nb::gil_scoped_release others_turn;
                if (tries < 64) std::this_thread::yield();
                else
                    std::this_thread::sleep_for(std::chrono::microseconds(std::min(50 * (tries - 63), 1000)));
            }
            if (PyErr_CheckSignals()) throw nb::python_error();
        }
    }
    void learn() {
        const Thread me = this->me();
        check();
        if (learner == me || reader(me) != readers.end())
            throw std::runtime_error(
                "this call would learn inside another call of the same model (from a callback, a kernel, "
                "or a method such as __hash__ or __float__ of what it is given): learn when that has "
                "returned.");
        if (learner || !readers.empty()) {
            struct Wanting {
                State& s;
                Thread me;
                Wanting(State& state, Thread thread) : s(state), me(thread) { s.wanting.push_back(me); }
                ~Wanting() {
                    const auto at = std::find(s.wanting.begin(), s.wanting.end(), me);
                    if (at != s.wanting.end()) s.wanting.erase(at);
                }
            } wanting(*this, me);
            wait([&] { return !learner && readers.empty(); });
        }
        learner = me;
    }
    void learned() {
        if (learner == me()) learner = 0;
    }
    void read() {
        const Thread me = this->me();
        check();
        if (learner != me && reader(me) == readers.end()) wait([&] { return !learner && !others_want(me); });
        const auto at = reader(me);
        if (at == readers.end()) readers.emplace_back(me, 1);
        else ++at->second;
    }
    void have_read() {
        const auto at = reader(me());
        if (at != readers.end() && !--at->second) readers.erase(at);
    }
};

struct Turns {
    std::shared_ptr<State> state = std::make_shared<State>();
};
struct ToLearn {
    std::shared_ptr<State> state;
};
struct ToRead {
    std::shared_ptr<State> state;
};

}  // namespace

void bind_turns(nb::module_& m) {
    nb::class_<ToLearn>(m, "ToLearn", "A turn to learn, as a context.")
        .def("__enter__", [](ToLearn& t) { t.state->learn(); })
        .def(
            "__exit__", [](ToLearn& t, nb::args) { t.state->learned(); },
            nb::sig("def __exit__(self, *args: object) -> None"));
    nb::class_<ToRead>(m, "ToRead", "A turn to read, as a context.")
        .def("__enter__", [](ToRead& t) { t.state->read(); })
        .def(
            "__exit__", [](ToRead& t, nb::args) { t.state->have_read(); },
            nb::sig("def __exit__(self, *args: object) -> None"));
    nb::class_<Turns>(m, "Turns", "Whose turn it is with one object; see novikoff/training/turns.py.")
        .def(nb::init<>())
        .def_prop_ro("learning", [](Turns& t) { return ToLearn{t.state}; })
        .def_prop_ro("reading", [](Turns& t) { return ToRead{t.state}; })
        .def(
            "__reduce__",
            [](nb::handle) {  // nobody uses a copy yet, and it is of the build that loads it
                return nb::make_tuple(nb::module_::import_("novikoff.training.turns").attr("fresh"),
                                      nb::make_tuple());
            },
            nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"));
}
