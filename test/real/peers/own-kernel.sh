#!/bin/sh
# First process of a kernel of its own: mounts what programs expect, starts udev, runs OWN/script, and switches off.
# The root is this host's files, which cannot be written here; OWN and FOLDER, below /tmp, can.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /run
mount -t tmpfs none /tmp
mkdir -p "$OWN"
mount -t hostfs -o "$OWN" none "$OWN"
exec >"$OWN/out" 2>&1 </dev/null
dmesg -n 1
. "$OWN/env"
# A checkout may be below /tmp as well.
mkdir -p "$TREE" 2>/dev/null && mount -r -t hostfs -o "$TREE" none "$TREE"
mkdir -p "$FOLDER"
mount -t hostfs -o "$FOLDER" none "$FOLDER"
mkdir -p /run/udev /run/lock /run/home /run/sshd /dev/pts /dev/shm
mount -t devpts none /dev/pts
ip link set lo up
for name in loop md-mod raid1 dm-mod; do insmod "$(find "$MODULES/$(uname -r)" -name "$name.ko")"; done
HOME=/run/home
LVM_SYSTEM_DIR=/run/lvm-settings
export HOME LVM_SYSTEM_DIR
mkdir -p "$LVM_SYSTEM_DIR"
/usr/lib/systemd/systemd-udevd --daemon 2>/dev/null
udevadm trigger --subsystem-match=block --settle
sh -eu -c '. "$OWN/env"; . "$OWN/script"'
echo $? >"$OWN/code"
sync
poweroff -f
