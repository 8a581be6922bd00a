#!/bin/bash
# Boots the real agent in namespaces of its own, made by `unshare --net --mount --pid --uts --ipc --fork`.
#
#   boot.sh MACHINE NODE PYTHON AGENT PROGRAMS -- RELAYED...
#
# MACHINE is a folder with cmdline, ipa.conf, inventory.json and stub.sh; RELAYED says what leads out of the namespace.
# The agent sees this host's files, read-only but for copies of /etc, and none of its devices, disks or interfaces. It
# may neither mount nor configure interfaces nor reboot, and programs that would are stubs.
set -euo pipefail
machine=$1 node=$2 python=$3 agent=$4 programs=$5
shift 6

mount --make-rprivate /
while read -r _ _ _ _ point _; do
  mount -o remount,bind,ro "$point" 2>/dev/null || true
done </proc/self/mountinfo
mount --bind "$machine" "$machine"
mount -o remount,bind,rw "$machine"
mkdir -p "$machine/tmp" "$machine/etc" "$machine/dev/shm" "$machine/stubs"
cp -a /etc/. "$machine/etc"
# A rescue ramdisk has it.
mkdir -p "$machine/etc/ipa-rescue-config"
mount --bind "$machine/etc" /etc
for folder in /mnt /run; do mount -t tmpfs tmpfs "$folder"; done

dev=$machine/dev
mount -t tmpfs -o mode=755 tmpfs "$dev"
mkdir "$dev/shm"
mknod -m 666 "$dev/null" c 1 3
mknod -m 666 "$dev/zero" c 1 5
mknod -m 666 "$dev/random" c 1 8
mknod -m 666 "$dev/urandom" c 1 9
ln -s /proc/self/fd "$dev/fd"
mount --move "$dev" /dev

mount -t proc proc /proc
mount --bind "$machine/cmdline" /proc/cmdline
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
if [ -e /proc/sysrq-trigger ]; then mount --bind /dev/null /proc/sysrq-trigger; fi
mount -t sysfs -o ro sysfs /sys
hostname practice
ip link set lo up

for program in $programs; do ln -sf "$machine/stub.sh" "$machine/stubs/$program"; done
"$node" "$machine/relay.mjs" "$@" &
export IPA_MACHINE=$machine PATH=$machine/stubs:$PATH TMPDIR=$machine/tmp HOME=$machine/tmp
export PYTHONPATH=$machine/managers PYTHONDONTWRITEBYTECODE=1
exec setpriv --bounding-set=-all,+chown,+dac_override,+fowner,+setuid,+setgid,+kill --inh-caps=-all --no-new-privs \
  "$python" "$agent" --config-file "$machine/ipa.conf"
