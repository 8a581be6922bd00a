# A machine to log in to, beside this host: ssh-machine.sh FOLDER DISK [systemd]
# Meant for a mount and a PID namespace of its own, which take everything along when it ends.
#
# With `systemd` the machine is run by Debian's systemd as process 1. That is meant for a control group and for IPC,
# network, UTS and cgroup namespaces of its own too; its sshd listens on the socket FOLDER/shared/sshd alone.
#
# Its files are this host's with FOLDER/packages over them, and whatever is written to them is gone with it: nothing of
# this host's is changed, its /etc/ssh least of all. FOLDER/etc has what is its own (users, host keys, sshd_config,
# machine-id), FOLDER/boot_id its boot id, FOLDER/home its homes;
# FOLDER/shared is the same folder here and there. It gets a file `reboot` when the machine is told to reboot, and a line
# in `installs` whenever coreos-installer begins to install; while it has `hold`, an installer that is done makes `held`
# and does not come to tell of it. DISK is the one disk that its coreos-installer gets to see; FOLDER/reread.so helps on
# kernels that read no GPT.
set -eu
folder="$1" disk="$2" init="${3:-}"
mkdir -p "$folder/machine"
mount -t tmpfs none "$folder/machine"
cd "$folder/machine"
mkdir upper work root packages
cp -a "$folder/packages/." packages/
mount -t overlay none -o "lowerdir=packages:/,upperdir=upper,workdir=work" root
root="$folder/machine/root"
mount -t proc none "$root/proc"
if [ "$init" = systemd ]; then
  mount -t sysfs none "$root/sys"
  mount -t cgroup2 none "$root/sys/fs/cgroup"
else
  mount --rbind /sys "$root/sys"
fi
mount --rbind /dev "$root/dev"
mount -t tmpfs none "$root/run"
mount --bind "$folder/boot_id" "$root/proc/sys/kernel/random/boot_id"
mkdir -p "$root/run/sshd" "$root/run/udev" "$root/run/lock" "$root/opt"
rm -rf "$root/etc/ssh"
cp -a "$folder/etc/." "$root/etc/"
cp "$folder/reread.so" "$root/opt/"
installer="$(cat "$folder/installer")"
for program in "$installer" /usr/sbin/blockdev; do
  name="${program##*/}"
  cp "$root$program" "$root/opt/$name.real"
  rm -f "$root/usr/sbin/$name"
  # The kernel tells udev of partitions that were added this way, not of their table. A program that is confined can change
  # nothing here: it tells it to the loop below, and waits for its answer.
  cat >"$root/usr/sbin/$name" <<END
#!/bin/sh
[ "\$1" != install ] || echo "installs \$\$" >"$folder/shared/told"
ONLY_DISK=$disk LD_PRELOAD=/opt/reread.so /opt/$name.real "\$@"
code=\$?
read -r word </proc/sys/kernel/random/uuid
echo "trigger \$word" >"$folder/shared/told"
while [ ! -f "$folder/shared/.\$word" ]; do sleep 0.02; done
[ "\$1 \$code" != "install 0" ] || [ ! -f "$folder/shared/hold" ] || { echo held >"$folder/shared/told"; sleep 600; }
exit \$code
END
  chmod 755 "$root/usr/sbin/$name"
done
mount --bind "$folder/home" "$root/home"
mount --bind "$folder/home/root" "$root/root"
mount --bind "$folder/shared" "$root$folder/shared"
mount --bind "$folder/cmdline" "$root/proc/cmdline"
hostname "$(cat "$folder/etc/hostname")"
if [ "$init" != systemd ]; then
  rm -f "$root/usr/bin/systemctl"
  printf '#!/bin/sh\n[ "$1" != reboot ] || : >%s/shared/reboot\n' "$folder" >"$root/usr/bin/systemctl"
  chmod 755 "$root/usr/bin/systemctl"
fi
rm -rf "$root/usr/lib/udev/rules.d" "$root/etc/udev/rules.d"
mkdir -p "$root/usr/lib/udev/rules.d"
echo "SUBSYSTEM==\"block\", KERNEL==\"${disk#/dev/}*\", IMPORT{builtin}=\"blkid\"" >"$root/usr/lib/udev/rules.d/50-disk.rules"
# udev does nothing where / is not that of process 1, unless it is told to.
mv "$root/usr/bin/udevadm" "$root/opt/udevadm"
printf '#!/bin/sh\nSYSTEMD_IGNORE_CHROOT=1 exec /opt/udevadm "$@"\n' >"$root/usr/bin/udevadm"
chmod 755 "$root/usr/bin/udevadm"
ln -s udevadm "$root/opt/systemd-udevd"
mkfifo "$folder/shared/told" 2>/dev/null || true
cat >"$root/opt/listen" <<END
while read -r what word; do
  case "\$what" in
    installs) echo "\$word" >>"$folder/shared/installs" ;;
    held) : >"$folder/shared/held" ;;
    trigger)
      udevadm trigger --settle "$disk" || true
      : >"$folder/shared/.\$word"
      ;;
  esac
done <>"$folder/shared/told"
END
if [ "$init" = systemd ]; then
  # Only these units, and none of this host's.
  rm -rf "$root/usr/lib/systemd/system" "$root/usr/lib/systemd/system-generators" "$root/etc/systemd"
  units="$root/usr/lib/systemd/system"
  mkdir -p "$units"
  for name in sysinit basic shutdown; do printf '[Unit]\nDefaultDependencies=no\n' >"$units/$name.target"; done
  printf '%s\n' '[Unit]' 'Wants=udevd.service listen.service sshd.socket end.service' >"$units/machine.target"
  printf '%s\n' '[Service]' Type=notify ExecStart=/opt/systemd-udevd >"$units/udevd.service"
  printf '%s\n' '[Service]' 'ExecStart=/bin/sh /opt/listen' >"$units/listen.service"
  printf '%s\n' '[Unit]' 'After=udevd.service listen.service' '[Socket]' "ListenStream=$folder/shared/sshd" Accept=yes >"$units/sshd.socket"
  printf '%s\n' '[Service]' 'ExecStart=-/usr/sbin/sshd -i -e -f /etc/ssh/sshd_config' StandardInput=socket \
    "StandardError=append:$folder/shared/sshd.log" KillMode=process >"$units/sshd@.service"
  # Whatever becomes of who started it, this machine ends.
  printf '%s\n' '[Unit]' SuccessAction=exit-force '[Service]' 'ExecStart=/bin/sleep 1800' >"$units/end.service"
  # It would write to this host's console.
  mount --bind /dev/null "$root/dev/console"
  cd "$root"
  pivot_root . mnt
  cd /
  umount -l /mnt
  exec env -i container=ironstage-test PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --unit=machine.target </dev/null
fi
SYSTEMD_IGNORE_CHROOT=1 chroot "$root" /opt/systemd-udevd --daemon 2>/dev/null
chroot "$root" udevadm settle
chroot "$root" sh /opt/listen &
# Started again whenever it ends, as by a service manager; sessions live on.
while :; do
  chroot "$root" /usr/sbin/sshd -D -e -f /etc/ssh/sshd_config 2>>"$folder/sshd.log" || true
  [ ! -f "$folder/down" ] || while [ -f "$folder/down" ]; do sleep 0.05; done
  sleep 0.1
done
