#!/usr/bin/env bash
# sanitized.sh asan|tsan ARGUMENTS: run Python with the core that was compiled with these sanitizers, in the
# environment that `make` has made for it. The first report ends the process: by SIGABRT or with 1 (asan), or with 66 (tsan).
set -euo pipefail
cd "$(dirname "$0")/.."
kind=$1 && shift
for library in "lib$kind.so" libstdc++.so; do # the interpreter is not linked to them
    path=$("${CXX:-g++}" -print-file-name="$library")
    if [ ! -e "$path" ]; then
        echo "$library does not exist: install the sanitizers of ${CXX:-g++}, or skip this target" >&2
        exit 1
    fi
    LD_PRELOAD="${LD_PRELOAD:+$LD_PRELOAD }$path"
done
export LD_PRELOAD PYTHONMALLOC=malloc PYTHONPATH=tests
# Python itself keeps memory until it exits, and races inside Python or NumPy are outside the scope of this check.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb=8000:abort_on_error=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66
if [ "$kind" = tsan ]; then export NOVIKOFF_INSTRUCTIONS=base; fi
run=(".venv-$kind/bin/python")
# These runtimes need fixed addresses, which the address randomization of some kernels may take; not all kernels allow
# it to be turned off.
if ! "${run[@]}" -c pass 2>/dev/null; then
    run=(setarch "$(uname -m)" -R "${run[@]}")
    if ! "${run[@]}" -c pass 2>/dev/null; then
        echo "NOT CHECKED: lib$kind does not start on this kernel" >&2
        exit 0
    fi
fi
exec "${run[@]}" "$@"
