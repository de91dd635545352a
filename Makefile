# Needs python3 (3.11 or later, with venv) and a C++ compiler. Everything else is installed into .venv.
#   make demo    train on a data set that comes with scikit-learn, and print the report
#   make test    the whole suite
#   make lint    style, types, import layers; of the native core also warnings, by g++ and clang++, and its stub
#   make stubs   src/novikoff/_core.pyi, from the compiled core
#   make format  Python and C++ in the style of the house
#   make bench   novikoff compared with its peers
#   make lowest  the suite with the lowest versions that pyproject.toml promises, in an environment of its own
#   make steady  the suite five times: quiet, with all cores busy, on one core, with and without the real data
#   make long    the property tests with many more examples, drawn by SEED
#   make sanitize  a part of the suite and some fuzzing with the address, undefined-behaviour and thread sanitizers
#   make sanitize-short  a few cases of each fuzzer with these sanitizers, as CI runs it
#   make fuzz    every kind of input with the sanitizers, FUZZ_SECONDS each, drawn by SEED
#   make kill-test  kill KILLS commands (1000) at moments drawn by SEED, run them again, and compare their files
#   make hashes  write requirements.txt: the versions of constraints.txt with the hashes of their files
#   make sbom    build/sbom.json: the components and dependencies of novikoff, with licences and hashes (CycloneDX)
#   make wheel   dist/*.whl for the oldest platform it runs on, tested where there is no compiler
#   make proofs  the theorems, checked by Coq, and the axioms that they depend on
#   make real-data  commands, verdicts and bounds on the real data sets of the docs (NOVIKOFF_DATA names the folder)
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
VERSIONS ?= constraints.txt
BUILD ?= build
SOURCES := $(shell find native src -type f -not -path '*/__pycache__/*') CMakeLists.txt pyproject.toml

.PHONY: demo test lowest steady lint stubs format bench long sanitize sanitize-short fuzz kill-test proofs real-data hashes sbom wheel sdist clean

demo: $(VENV)/.built
	@$(BIN)/python examples/demo.py

test: $(VENV)/.built $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

# It needs a build folder of its own too, because CMake remembers where nanobind was. Deprecation warnings of old
# packages about their newer dependencies are not errors.
lowest: build/lowest.txt
	$(MAKE) test VENV=.venv-lowest VERSIONS=build/lowest.txt BUILD=build/lowest \
	    ARGS='-W ignore::DeprecationWarning -W ignore::FutureWarning $(ARGS)'

build/lowest.txt: pyproject.toml .ci/lowest.py
	@mkdir -p build
	$(PYTHON) .ci/lowest.py > $@

steady: $(VENV)/.built $(VENV)/.test
	$(BIN)/python .ci/steady.py

long: SEED := $(or $(SEED),$(shell date +%s))
long: $(VENV)/.built $(VENV)/.test
	@echo "the same examples again: make long SEED=$(SEED)"
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n $(JOBS) --hypothesis-seed=$(SEED) tests

NATIVE := $(shell find native -name '*.h' -o -name '*.cpp')
WARNINGS := build/.warnings$(if $(shell command -v clang++),-clang)
lint: $(VENV)/.built $(VENV)/.test $(VENV)/.lint $(WARNINGS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/python .ci/stubs.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/project/test_names.py tests/project/test_imports.py # which need these tools

# Only when the core has changed, or clang++ has been installed.
$(WARNINGS): $(VENV)/.build $(NATIVE) CMakeLists.txt .ci/compilers.py
	$(BIN)/python .ci/compilers.py
	@mkdir -p build && touch $@

stubs: $(VENV)/.built $(VENV)/.lint
	$(BIN)/python .ci/stubs.py

format: $(VENV)/.lint
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

KILLS ?= 1000
kill-test: $(VENV)/.built $(VENV)/.test
	PYTHONPATH=tests $(BIN)/python -m support.kills --kills $(KILLS) --seed $(or $(SEED),1)

proofs:
	$(PYTHON) .ci/proofs.py

real-data: $(VENV)/.built $(VENV)/.test
	NOVIKOFF_REAL_DATA=1 $(BIN)/python -m pytest -v tests/cli/test_real_commands.py \
	    tests/proof/test_real_verdicts.py tests/theory/test_bounds.py tests/kernel/test_mnist.py

bench: $(VENV)/.built $(VENV)/.test $(VENV)/.bench
	$(BIN)/python -m benchmarks $(ARGS)

# Sanitizers check the native core, so this is the part of the suite that calls it most.
SANITIZED = tests/linear tests/data tests/exact $(addprefix tests/,$(addsuffix .py,kernel/test_budget \
    kernel/test_conjunctions structured/test_structured_decoders project/test_documented_attributes \
    tagging/test_conll tagging/test_tagger tagging/test_templates training/test_streaming))
sanitize: .venv-asan/.built .venv-tsan/.built
	.ci/sanitized.sh asan -m pytest -n $(JOBS) $(SANITIZED)
	.ci/sanitized.sh asan -m fuzzers --runs 500
	.ci/sanitized.sh tsan -m pytest tests/project/test_threads.py tests/data/test_sources.py tests/linear/test_twin.py
	.ci/sanitized.sh tsan -m fuzzers threads sharing --runs 200

sanitize-short: .venv-asan/.built .venv-tsan/.built
	.ci/sanitized.sh asan -m fuzzers --runs 60
	.ci/sanitized.sh tsan -m fuzzers threads --runs 30

# The parsers are built once for any processor and once for those with AVX2, because they read text in different ways.
FUZZ_SECONDS ?= 60
fuzz: build/fuzz_base build/fuzz_v3 .venv-asan/.built .venv-tsan/.built
	build/fuzz_base $(FUZZ_SECONDS) $(or $(SEED),1)
	! grep -q avx2 /proc/cpuinfo || build/fuzz_v3 $(FUZZ_SECONDS) $(or $(SEED),1)
	.ci/sanitized.sh asan -m fuzzers --seconds $(FUZZ_SECONDS) --seed $(or $(SEED),1)
	.ci/sanitized.sh tsan -m fuzzers threads sharing --seconds $(FUZZ_SECONDS) --seed $(or $(SEED),1)

# These environments borrow the packages of $(VENV), and have a core and a build folder of their own.
.venv-asan/.built: HOW = -C cmake.define.NOVIKOFF_SANITIZE=address,undefined
.venv-tsan/.built: HOW = -C cmake.define.NOVIKOFF_SANITIZE=thread -C cmake.define.NOVIKOFF_BASE_ONLY=ON
.venv-asan/.built .venv-tsan/.built: $(VENV)/.build $(VENV)/.test $(SOURCES)
	$(PYTHON) -m venv --without-pip $(@D)
	$(BIN)/python -c 'import sys; print(*(p for p in sys.path if p.endswith("-packages")), sep="\n")' \
	    > $$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/borrowed.pth
	PATH="$(CURDIR)/$(BIN):$$PATH" $(@D)/bin/python -m pip --quiet --disable-pip-version-check install --no-deps \
	    --no-build-isolation -C build-dir=build/$(patsubst .venv-%,%,$(@D)) -C install.strip=false $(HOW) -e .
	@touch $@

build/fuzz_v3: FLAGS = -march=x86-64-v3
build/fuzz_%: $(wildcard native/*/*)
	@mkdir -p build
	$(CXX) -std=gnu++17 -O1 -g $(FLAGS) -Wall -Wextra -Inative -fsanitize=address,undefined -fno-sanitize-recover=all \
	    native/fuzz/parsers.cpp native/fuzz/driver.cpp -o $@

hashes: $(VENV)/.build
	$(BIN)/python .ci/hashes.py

sbom: $(VENV)/.built
	$(PIP) install --no-build-isolation -c $(VERSIONS) -C build-dir='$(BUILD)/{wheel_tag}' \
	    -e '.[dask,files,onnx,plots]'
	$(BIN)/python .ci/sbom.py > build/sbom.json

# Compiled in the folder of the editable install, so that only what changed is compiled again.
wheel: $(VENV)/.built $(VENV)/.wheel
	rm -rf build/wheels
	$(PIP) wheel --no-build-isolation --no-deps -C build-dir='$(BUILD)/{wheel_tag}' -w build/wheels .
	$(BIN)/python .ci/wheel.py build/wheels/*.whl

sdist: $(VENV)/.built
	$(PIP) install -c constraints.txt build
	$(BIN)/python -m build --no-isolation --sdist

# The build folder is kept, so that only changed files are compiled again.
$(VENV)/.built: $(VENV)/.build $(SOURCES)
	$(PIP) install --no-build-isolation -c $(VERSIONS) -C build-dir='$(BUILD)/{wheel_tag}' -e '.[files]'
	@touch $@

$(VENV)/.build: $(VERSIONS)
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade -c $(VERSIONS) pip
	$(PIP) install -c $(VERSIONS) --group build
	@touch $@

$(VENV)/.%: $(VENV)/.build pyproject.toml $(VERSIONS)
	$(PIP) install -c $(VERSIONS) --group $*
	@touch $@

clean:
	rm -rf build dist $(VENV) .venv-lowest .venv-asan .venv-tsan
