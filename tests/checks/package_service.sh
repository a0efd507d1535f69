#!/usr/bin/env bash
# tests/checks/package_service.sh DEB NEWER_DEB ROOT: runs the package's service with a separate
# systemd in ROOT, a Debian system with systemd, redis-cli and the package's dependencies. Needs
# root. Leaves no process running: systemd has its own namespaces, without a network, and ends with
# the check.
set -euo pipefail

# The first process in the namespaces. Prepares systemd's root as a container manager does.
if [[ $1 == --boot ]]; then
  root=$2
  mount --make-rprivate /
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  if [[ -d /sys/fs/cgroup/unified ]]; then
    mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
    mkdir "$root"/sys/fs/cgroup/{systemd,unified}
    mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"
  else
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
  fi
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  mount -t tmpfs -o mode=755 tmpfs "$root/dev"
  for device in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"
  done
  mknod -m 666 "$root/dev/tty" c 5 0
  ln -s /proc/self/fd "$root/dev/fd"
  ln -s null "$root/dev/console"
  ln -s pts/ptmx "$root/dev/ptmx"
  mkdir "$root"/dev/{shm,pts}
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
  cd "$root"
  pivot_root . mnt
  umount -l /mnt
  exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --system --unit=check.service --show-status=no --log-target=null
fi

deb=$1 newer=$2 root=$(readlink -f "$3")
cgroup=zsetd-check-$$

clean() {
  rm -f "$root"/etc/systemd/system/check.service "$root"/root/{check,deb,newer}
  for hierarchy in /sys/fs/cgroup{,/systemd,/unified}; do
    [[ ! -d $hierarchy/$cgroup ]] || find "$hierarchy/$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null || true
  done
}
trap clean EXIT

cp "$deb" "$root/root/deb"
cp "$newer" "$root/root/newer"
cat >"$root/etc/systemd/system/check.service" <<'UNIT'
[Unit]
Requires=basic.target
After=basic.target
SuccessAction=exit
FailureAction=exit
FailureActionExitStatus=1
[Service]
Type=oneshot
ExecStart=/bin/bash /root/check
StandardOutput=append:/root/check.log
StandardError=append:/root/check.log
UNIT
cat >"$root/root/check" <<'CHECK'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
fail() {
  echo "package_service: $1"
  systemctl status --no-pager --full zsetd || true
  tail -n 20 /var/log/zsetd/zsetd.log || true
  exit 1
}
eventually() {
  for ((i = 0; i < 300; ++i)); do
    ! "$@" || return 0
    sleep 0.1
  done
  return 1
}
main_pid() { systemctl show --property MainPID --value zsetd; }
replies() { [[ $(redis-cli "${@:2}") == "$1" ]]; }
is_another() { [[ $(main_pid) != 0 && $(main_pid) != "$1" ]] && replies PONG PING; }

dpkg --purge zsetd &>/dev/null || true  # left over from a failed check
dpkg --install /root/deb >/dev/null
systemctl --quiet is-active zsetd || fail "the installation has not started the service"
replies 1 ZADD board 7 x || fail "the server does not answer"
replies 7 EVAL "return redis.call('ZSCORE', 'board', 'x')" 0 || fail "a script does not run"
replies OK CONFIG SET maxmemory 100mb || fail "CONFIG SET"
replies OK CONFIG REWRITE || fail "CONFIG REWRITE"
replies OK SAVE || fail "SAVE"
replies OK CONFIG SET appendonly yes || fail "the log cannot be written"
! redis-cli CONFIG SET dir /etc | grep -q OK || fail "the server can write in /etc"
! runuser -u zsetd -- touch /etc/zsetd/new 2>/dev/null || fail "the server can write in /etc/zsetd"

mv /var/log/zsetd/zsetd.log /var/log/zsetd/zsetd.log.1
systemctl reload zsetd || fail "reload"
eventually test -e /var/log/zsetd/zsetd.log || fail "a reload does not open the log again"

pid=$(main_pid)
kill -KILL "$pid"
eventually is_another "$pid" || fail "a server that was killed is not started again"
replies 7 ZSCORE board x || fail "the start after it lost data"

dpkg --install /root/newer >/dev/null
systemctl --quiet is-active zsetd || fail "the upgrade has not started the service again"
replies 7 ZSCORE board x || fail "the upgrade lost data"
redis-cli CONFIG GET maxmemory | grep -q 104857600 ||
  fail "the upgrade lost the configuration"

systemctl stop zsetd
[[ $(systemctl show --property Result --value zsetd) == success ]] || fail "the end was no success"

# The port is in use for longer than systemd's default limit of starts.
zsetd --port 6379 --dir /tmp --save "" >/dev/null &
other=$!
eventually replies PONG PING
! systemctl start zsetd 2>/dev/null || fail "two servers have one port"
sleep 8
kill "$other"
wait "$other"
eventually systemctl --quiet is-active zsetd || fail "the service gives up while its port is in use"
replies 7 ZSCORE board x || fail "a stop lost data"
dpkg --purge zsetd >/dev/null
! systemctl --quiet is-active zsetd || fail "the removal has not stopped the service"
CHECK

: >"$root/root/check.log"
(
  for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [[ -e $hierarchy/cgroup.procs ]] || continue
    mkdir "$hierarchy/$cgroup"
    echo "$BASHPID" >"$hierarchy/$cgroup/cgroup.procs"
  done
  exec unshare --cgroup --mount --pid --fork --ipc --uts --net "$0" --boot "$root" >/dev/null
) || {
  cat "$root/root/check.log" >&2
  exit 1
}
echo "run, reloaded, restarted and stopped by systemd"
