#!/usr/bin/env bash
# Runs one of the two commands on a fresh Debian: debootstrap into a folder, clone this tree's HEAD, run. Needs root.
#   scripts/bootstrap-proof.sh bookworm quickstart
#   TORCH_VERSION=2.14.1 PROOF_BIND="/opt/wheels" scripts/bootstrap-proof.sh trixie test
# PROOF_BIND: folders of this machine that the fresh one sees too (e.g. a local package index); PROOF_FOLDER: where.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

SUITE="${1:?usage: scripts/bootstrap-proof.sh bookworm|trixie quickstart|test}"
WHAT="${2:?usage: scripts/bootstrap-proof.sh bookworm|trixie quickstart|test}"
FOLDER="${PROOF_FOLDER:-/var/tmp/loongforge-proof}/$SUITE"
known_mirror() {
  { grep -rhE '^(URIs:|deb )' /etc/apt/sources.list /etc/apt/sources.list.d 2> /dev/null || true; } |
    grep -oE 'https?://[^ ]*/debian/?( |$)' | head -1
}
MIRROR="${PROOF_MIRROR:-$(known_mirror)}"
[ -n "$MIRROR" ] || die "no Debian mirror found in /etc/apt; give one as PROOF_MIRROR=URL"
[ "$(id -u)" -eq 0 ] || die "debootstrap needs root"
command -v debootstrap > /dev/null || die "debootstrap is missing; run: apt-get install debootstrap"

if [ ! -e "$FOLDER/etc/debian_version" ]; then
  mkdir -p "$FOLDER"
  debootstrap --variant=minbase --include=git,python3,ca-certificates "$SUITE" "$FOLDER" "$MIRROR"
fi
mounts=()
cleanup() {
  local i
  for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do umount -l "${mounts[i]}" || true; done
}
trap cleanup EXIT
for path in /proc /dev /sys ${PROOF_BIND:-}; do
  mkdir -p "$FOLDER$path"
  mount --bind "$path" "$FOLDER$path"
  mounts+=("$FOLDER$path")
done
# How this machine reaches the network: names, certificates, package indexes.
for path in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/xdg/pip /root/.config/pip /etc/ssl/certs/ca-certificates.crt /etc/apt/apt.conf.d; do
  [ -e "$path" ] && mkdir -p "$FOLDER$(dirname "$path")" && cp -rL "$path" "$FOLDER$(dirname "$path")/"
done
echo "deb $MIRROR $SUITE main" > "$FOLDER/etc/apt/sources.list"
rm -rf "$FOLDER/root/loongforge"
git clone -q "$ROOT" "$FOLDER/root/loongforge"
say "$WHAT on a fresh $SUITE"
mapfile -t network < <(env | grep -E '^(PIP_[A-Z_]+|[a-z]+_proxy|[A-Z]+_PROXY|SSL_CERT_FILE)=' || true)
chroot "$FOLDER" /usr/bin/env -i "${network[@]}" HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  TORCH_VERSION="${TORCH_VERSION:-2.13.0}" JOBS="$JOBS" \
  bash -c "cd /root/loongforge && time scripts/$WHAT.sh ${PROOF_ARGUMENTS:-}"
