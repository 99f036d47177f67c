#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests: the floors without torch under
# AddressSanitizer and UndefinedBehaviorSanitizer, then the whole suite of the release build.
#   scripts/test.sh [ctest arguments, e.g. -L fast]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$ROOT/scripts/setup.sh"
"$ROOT/scripts/peers.sh"

say "Sanitized build of the floors without torch"
configure asan
cmake --build "$ROOT/build/asan" -j "$JOBS" -- --quiet
export ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1"
(cd "$ROOT/build/asan" && ctest --output-on-failure -j "$JOBS" -L fast) || die "tests of the sanitized build failed"

say "Release build"
configure release
cmake --build "$ROOT/build/release" -j "$JOBS" -- --quiet
# Several tests use every core: threads that wait must not spin.
export OMP_WAIT_POLICY=passive
cd "$ROOT/build/release"
ctest --output-on-failure -j "$JOBS" "$@"
