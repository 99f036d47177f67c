#!/usr/bin/env bash
# Formats the C++ of the tree; with --check only says what would change.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$ROOT"
mapfile -t files < <(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')
if [ "${1:-}" = "--check" ]; then clang-format --dry-run -Werror "${files[@]}"; else clang-format -i "${files[@]}"; fi
