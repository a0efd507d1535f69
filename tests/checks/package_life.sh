#!/usr/bin/env bash
# tests/checks/package_life.sh DEB NEWER_DEB FOLDER: creates a Debian 12 system in FOLDER with
# debootstrap. Installs the package there, starts the server, then upgrades, removes and purges it.
# Needs root and the network.
set -euo pipefail

deb=$1 newer=$2 root=$3/root

fail() {
  echo "package_life: $1" >&2
  exit 1
}

inside() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# Without input a question about a configuration file is an error, as in an unattended upgrade.
apt() {
  inside apt-get --yes --quiet=2 --no-install-recommends -o Dpkg::Use-Pty=0 "$@" >/dev/null </dev/null
}

# Writes DEB, with another configuration file, to NEW_DEB.
change_configuration() {
  local content
  content=$(mktemp -d)
  dpkg-deb --raw-extract "$1" "$content"
  echo "# a line of the newer version" >>"$content/etc/zsetd/zsetd.conf"
  dpkg-deb --root-owner-group --build "$content" "$2" >/dev/null
  rm -rf "$content"
}

client() {
  inside redis-cli "$@"
}

start() {
  inside runuser -u zsetd -- /usr/bin/zsetd /etc/zsetd/zsetd.conf --port 16379 --daemonize yes \
    --pidfile /var/lib/zsetd/pid "$@"
}

stop() {
  client -p 16379 SHUTDOWN >/dev/null
  while [[ -e $root/var/lib/zsetd/pid ]]; do sleep 0.1; done
}

unmount() {
  [[ ! -e $root/var/lib/zsetd/pid ]] || kill "$(cat "$root/var/lib/zsetd/pid")" || true
  ! mountpoint -q "$root/proc" || umount "$root/proc"
}

if [[ ! -e $root/lib/systemd/systemd ]]; then
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >/dev/null
  cp /etc/resolv.conf "$root/etc/"
  for file in /etc/apt/apt.conf.d/*proxy*; do [[ ! -e $file ]] || cp "$file" "$root/etc/apt/apt.conf.d/"; done
  apt install redis-tools man-db systemd
fi
mount -t proc proc "$root/proc"
trap unmount EXIT
cp "$deb" "$root/tmp/"
change_configuration "$newer" "$root/tmp/$(basename "$newer")"

apt purge zsetd || true
apt install "/tmp/$(basename "$deb")"
[[ $(inside stat -c %U:%G:%a /etc/zsetd/zsetd.conf) == root:zsetd:640 ]] || fail "the configuration is readable by all"
[[ $(inside stat -c %U:%G:%a /etc/zsetd) == root:zsetd:750 ]] || fail "the service can write in /etc/zsetd"
inside getent passwd zsetd >/dev/null || fail "there is no user zsetd"
inside runuser -u zsetd -- zsetd --check-config /etc/zsetd/zsetd.conf >/dev/null || fail "the configuration is refused"
inside man -w zsetd >/dev/null || fail "there is no man page zsetd(1)"

start
[[ $(client -p 16379 ZADD board 7 x) == 1 ]] || fail "the server does not answer"
[[ $(client -p 16379 CONFIG SET maxmemory 100mb) == OK ]] || fail "CONFIG SET"
[[ $(client -p 16379 CONFIG REWRITE) == OK ]] || fail "CONFIG REWRITE"
stop
grep -q "Ready to accept" "$root/var/log/zsetd/zsetd.log" || fail "there is no log"

apt install "/tmp/$(basename "$newer")"
[[ $(inside dpkg-query -W -f '${Version}' zsetd) == "$(dpkg-deb --field "$newer" Version)" ]] || fail "no upgrade"
grep -q "a line of the newer version" "$root/etc/zsetd/zsetd.conf" || fail "the upgrade kept the old configuration file"
start
client -p 16379 CONFIG GET maxmemory | grep -q 104857600 || fail "the upgrade lost the settings of CONFIG REWRITE"
[[ $(client -p 16379 ZSCORE board x) == 7 ]] || fail "the upgrade lost data"
stop

# An earlier version gave /etc/zsetd to the service, which could put a link there.
shadow=$(inside stat -c %U:%G:%a /etc/shadow)
mv "$root/etc/zsetd/zsetd.conf" "$root/etc/zsetd.conf"
inside chown zsetd:zsetd /etc/zsetd
inside runuser -u zsetd -- ln -s /etc/shadow /etc/zsetd/zsetd.conf
inside dpkg --install "/tmp/$(basename "$newer")" >/dev/null </dev/null
[[ $(inside stat -c %U:%G:%a /etc/shadow) == "$shadow" ]] || fail "an upgrade followed a link"
[[ $(inside stat -c %U:%G:%a /etc/zsetd) == root:zsetd:750 ]] || fail "the service can still write in /etc/zsetd"
mv "$root/etc/zsetd.conf" "$root/etc/zsetd/zsetd.conf"

apt remove zsetd
[[ ! -e $root/usr/bin/zsetd ]] || fail "the program is still there"
[[ -e $root/var/lib/zsetd/dump.rdb && -e $root/etc/zsetd/zsetd.conf ]] || fail "a removal took data or configuration"
apt purge zsetd
[[ ! -e $root/var/lib/zsetd && ! -e $root/etc/zsetd/zsetd.conf ]] || fail "a purge left data or configuration"
echo "installed, started, upgraded, removed, purged"
