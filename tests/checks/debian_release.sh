#!/usr/bin/env bash
# tests/checks/debian_release.sh SUITE FOLDER: creates a system of that Debian suite in FOLDER/root with debootstrap,
# copies the files of this tree there, builds them with its compiler and libraries, and runs the unit tests and the
# transcripts. A second call builds only the changes. Needs root and the network.
set -euo pipefail

suite=$1 root=$2/root
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
tree=$root/zsetd

inside() {
  chroot "$root" /usr/bin/env -i --chdir=/zsetd PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
    LC_ALL=C.UTF-8 "$@"
}

if [[ ! -e $root/complete ]]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase "$suite" "$root" "$mirror" >/dev/null
  cp /etc/resolv.conf "$root/etc/"
  for file in /etc/apt/apt.conf.d/*proxy*; do [[ ! -e $file ]] || cp "$file" "$root/etc/apt/apt.conf.d/"; done
  touch "$root/complete"
fi
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"' EXIT

mkdir -p "$tree"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$tree"

inside scripts/install build test
inside cmake --preset release >/dev/null
inside scripts/build release
# Without labels are the unit tests. The other tests compare with redis-server 7.0.15, which this suite may not have,
# or do not depend on the compiler. Two without labels compare with it, and with the lines of clang-format 14.
inside ctest --test-dir build/release --output-on-failure --parallel "$(($(nproc) + 4))" \
  --exclude-regex '^(PropagationTest.FollowersReachTheSameData|format)$' \
  --label-exclude '^(bench|clients|cluster|crash_states|docs|fuzz|history|http|net|oracle|replication|soak|threads)$' |
  "$(dirname "$0")/../../scripts/filter_log"
