#!/usr/bin/env bash
# Installs the tools that the tests compare with (tests/peers.txt) into .venv/peers. Needs the network.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

stamp="$VENV/peers/complete"
if [ -e "$stamp" ] && cmp -s "$stamp" "$ROOT/tests/peers.txt"; then exit 0; fi
say "Python packages of tests/peers.txt into .venv/peers"
rm -f "$stamp"
python3 -m venv "$VENV/peers"
# What stands below the line 'no-deps' brings dependencies that the tests do not use; what stands below 'apart' goes
# into a folder of its own, which only the tests that name it see.
with_deps=$(sed -n '/^# no-deps/q; /^[a-z]/Ip' "$ROOT/tests/peers.txt")
no_deps=$(sed -n '/^# no-deps/,/^# apart/ { /^[a-z]/Ip }' "$ROOT/tests/peers.txt")
apart=$(sed -n '/^# apart/,$ { /^[a-z]/Ip }' "$ROOT/tests/peers.txt")
# shellcheck disable=SC2086
"$VENV/peers/bin/python" -m pip install -q --disable-pip-version-check $with_deps || die "pip could not install the packages of tests/peers.txt"
# shellcheck disable=SC2086
"$VENV/peers/bin/python" -m pip install -q --disable-pip-version-check --no-deps $no_deps || die "pip could not install: $no_deps"
rm -rf "$VENV/peers/apart"
# shellcheck disable=SC2086
"$VENV/peers/bin/python" -m pip install -q --disable-pip-version-check --no-deps --target "$VENV/peers/apart" $apart || die "pip could not install: $apart"
cp "$ROOT/tests/peers.txt" "$stamp"
