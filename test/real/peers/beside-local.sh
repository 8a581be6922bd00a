# Runs a program with a udevd of its own that knows the loop devices over the files of one folder only:
# beside-local.sh FOLDER PRELOAD INSTALLER PROGRAM [ARGUMENT]...
# Meant for a mount and a PID namespace of its own, which take everything along when the program ends.
#
# FOLDER/bin comes first on PATH. On kernels without a GPT parser its programs help: they read the table themselves
# (PRELOAD), and coreos-installer is kept away from every disk but its own.
set -eu
folder="$1" preload="$2" installer="$3"
shift 3
mount -t tmpfs none /run
mkdir -p /run/udev /run/lock /run/rules "$folder/bin"
echo "SUBSYSTEM==\"block\", KERNEL==\"loop*\", ATTRS{loop/backing_file}==\"$folder/*\", IMPORT{builtin}=\"blkid\", OPTIONS+=\"watch\"" >/run/rules/50-disk.rules
mount --bind /run/rules /usr/lib/udev/rules.d
if [ -d /etc/udev/rules.d ]; then mount -t tmpfs none /etc/udev/rules.d; fi
/usr/lib/systemd/systemd-udevd --daemon 2>/dev/null
udevadm settle
for program in "$installer" "$(command -v blockdev)"; do
  printf '#!/bin/sh\nfor last; do :; done\nONLY_DISK="$last" LD_PRELOAD=%s exec %s "$@"\n' "$preload" "$program" >"$folder/bin/${program##*/}"
  chmod 755 "$folder/bin/${program##*/}"
done
PATH="$folder/bin:$PATH"
export PATH
unset RUST_BACKTRACE RUST_LIB_BACKTRACE
exec "$@"
