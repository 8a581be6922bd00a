# Runs a program with a udevd of its own that knows one disk only: beside-udevd.sh DISK PRELOAD PROGRAM [ARGUMENT]...
# Meant for a mount and a PID namespace of its own, which take everything along when the program ends.
set -eu
disk="$1" preload="$2" name="${1#/dev/}"
shift 2
mount -t tmpfs none /run
mkdir -p /run/udev /run/lock /run/rules
echo "SUBSYSTEM==\"block\", KERNEL==\"$name|${name}p*\", IMPORT{builtin}=\"blkid\", OPTIONS+=\"watch\"" >/run/rules/50-disk.rules
mount --bind /run/rules /usr/lib/udev/rules.d
if [ -d /etc/udev/rules.d ]; then mount -t tmpfs none /etc/udev/rules.d; fi
/usr/lib/systemd/systemd-udevd --daemon 2>/dev/null
udevadm settle
unset RUST_BACKTRACE RUST_LIB_BACKTRACE
ONLY_DISK="$disk" LD_PRELOAD="$preload" exec "$@"
