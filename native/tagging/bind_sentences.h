// What the parsers of sentences offer to Python.
#pragma once

#include "hand_over.h"
#include "tagging/sentences.h"
#include "text/python_text.h"

template <class Parser>
void bind_sentence_lines(nb::class_<Parser>& c) {
    auto copied = [](const auto& g) {
        std::decay_t<decltype(g)> copy;
        copy.append(g);
        return hand_over(copy);
    };
    c.def_prop_ro("problem", reads<Parser>([](const Parser& p) { return p.problem; }),
                  "What is wrong with the line after those read.")
        .def_prop_ro("lines", reads<Parser>([](const Parser& p) { return p.lines; }),
                     "Lines read of the text.")
        .def_prop_ro("label_values",
                     reads<Parser>([](const Parser& p) { return texts_of(p.label_values.list); }),
                     "The labels met so far, in all texts.")
        .def("labels", reads<Parser>([copied](const Parser& p) { return copied(p.labels); }),
             "The label of each token.")
        .def("lines_of", reads<Parser>([copied](const Parser& p) { return copied(p.lines_of); }),
             "The line of each token, from 0.")
        .def("spots", reads<Parser>([copied](const Parser& p) { return copied(p.spots); }),
             "Where in the text each token's label begins and ends, and its line: three numbers per token.");
}
