#!/usr/bin/env bash
# Builds every floor, those on libtorch too, with AddressSanitizer and UndefinedBehaviorSanitizer, and runs the
# tests of the label "fast". Takes much longer than scripts/test.sh.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
"$ROOT/scripts/setup.sh"
configure asan-all
cmake --build "$ROOT/build/asan-all" -j "$JOBS" -- --quiet
# libtorch is not instrumented: containers cross its border, and its thread pools leak a block each.
export ASAN_OPTIONS="detect_leaks=0:detect_container_overflow=0:allocator_may_return_null=1"
cd "$ROOT/build/asan-all" && ctest --output-on-failure -j "$JOBS" -L fast "$@"
