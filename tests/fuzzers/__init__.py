"""Random and hostile input for everything that is documented as accepted; ``python -m fuzzers --help``.

A file for each kind of input. Each has a class ``Fuzzer`` that is made with an empty folder and called with a
generator: one case. A case returns what became of it ("same": as the plain input, "refused": by one of the
errors that are promised, "accepted": other input, used without harm), and raises for anything else. Case k of
seed s is drawn from ``numpy.random.default_rng([s, k])`` alone, so that it can be run again by itself.
"""
