#!/usr/bin/env bash
# sanitized.sh asan|tsan ARGUMENTS: Python with the core that was compiled under these sanitizers, in the environment
# that `make` has made for it. The first report ends the process: by SIGABRT or with 1 (asan), or with 66 (tsan).
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1 && shift
for library in "lib$kind.so" libstdc++.so; do # the interpreter is not linked to them
    path=$("${CXX:-g++}" -print-file-name="$library")
    if [ ! -e "$path" ]; then
        echo "$library is not there: install the sanitizers of ${CXX:-g++}, or do without this target" >&2
        exit 1
    fi
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD }$path"
done
export LD_PRELOAD PYTHONMALLOC=malloc PYTHONPATH=tests
# Python itself keeps memory to its end; what it or NumPy do among threads is not ours to judge.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=8000:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66
if [ "$kind" = tsan ]; then export NOVIKOFF_INSTRUCTIONS=base; fi
run=(".venv-$kind/bin/python")
# These runtimes want their own places in memory, which some kernels' random layout takes; not all let it be turned off.
if ! "${run[@]}" -c pass 2>/dev/null; then
    run=(setarch "$(uname -m)" -R "${run[@]}")
    if ! "${run[@]}" -c pass 2>/dev/null; then
        echo "NOT CHECKED: lib$kind does not start on this kernel" >&2
        exit 0
    fi
fi
exec "${run[@]}" "$@"
