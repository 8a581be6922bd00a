/**
 * Attacks on everything but the disk that was named. Shell text runs with these words set:
 *
 * - `VICTIM`, `NUMBER`, `NAME`, `FILE`: a disk that was not named, its MAJOR:MINOR and kernel name, the file behind it;
 * - `CANARY`: a folder of the host with a file in it; `MOUNTED`: a disk that was not named and is mounted;
 * - `NAMED`: the disk that was named; `HOST_PID`: a process of the host; `T`: a folder that may be written;
 * - `FOLDER`: has a link to the victim, and a program `bin/sync` that writes what it is given;
 * - `UNIX`, `ABSTRACT`, `PORT`: a service of the host that counts who speaks to it; `NODE`, `PERL`: programs;
 * - `SOCKETS`: a folder with sockets of such services; `CALLS`: the program of `peers/attack-calls.c`.
 *
 * An attack that has got something which it must not have, without having used it, prints `GOT`.
 */
export interface Attack {
  name: string
  text: string
  /**
   * `hurts` on an unguarded target, where it is tried; `never` is not tried: it would hurt this host, or what it
   * attacks is not here.
   */
  bare: 'hurts' | 'never'
}

const hurts = (name: string, text: string): Attack => ({ name, text, bare: 'hurts' })
const never = (name: string, text: string): Attack => ({ name, text, bare: 'never' })
/** Opening is enough: what is opened like this is not changed. */
const opens = (path: string, bare: Attack['bare'] = 'hurts'): Attack => ({
  name: `opens ${path} for writing`,
  bare,
  text: `[ -e ${path} ] && (exec 3>>${path}) && echo GOT`,
})
const holds = (capability: string, bit: number): Attack => ({
  name: `holds ${capability}`,
  bare: 'hurts',
  text: `read -r e <<END
$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
END
[ $((0x$e >> ${bit} & 1)) = 0 ] || echo GOT`,
})

const connects = (name: string, text: string, bare: Attack['bare'] = 'hurts'): Attack => ({
  name: `a service of the host, ${name}`,
  text,
  bare,
})
/** Connects to a socket in the folder of services. */
const byName = (name: string, file: string) =>
  connects(
    name,
    `P="$SOCKETS/${file}" $PERL -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un($ENV{P}))'`,
  )

/** Services of the host, its keyrings, and what the kernel has beside files, processes and networks. */
export const SERVICE_ATTACKS: readonly Attack[] = [
  byName('by a plain name', 'plain.sock'),
  byName('by a name with a space', 'with space.sock'),
  byName('by a name with a tilde', 'a~b.sock'),
  byName('by a name with a hash', 'a#b.sock'),
  byName('by a name beyond ASCII', 'ü.sock'),
  byName('that was bound in its own folder', 'relative.sock'),
  byName('behind a link', 'link/linked.sock'),
  byName('by a hard link', 'hard.sock'),
  byName('that was renamed', 'renamed.sock'),
  byName('at a second place of its file system', 'second/there.sock'),
  connects(
    'by a datagram of a pair of sockets',
    `$PERL -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && send(A, "x", 0, pack_sockaddr_un("$ENV{SOCKETS}/datagrams.sock"))'; sleep 0.2`,
  ),
  connects(
    'by a datagram',
    `$PERL -MSocket -e 'socket(S, AF_UNIX, SOCK_DGRAM, 0) && send(S, "x", 0, pack_sockaddr_un("$ENV{SOCKETS}/datagrams.sock"))'; sleep 0.2`,
  ),
  connects(
    'by sequenced packets',
    `$PERL -MSocket -e 'socket(S, AF_UNIX, 5, 0) && connect(S, pack_sockaddr_un("$ENV{SOCKETS}/packets.sock")) && print "GOT"'`,
  ),
  never('a socket to the hypervisor', '$CALLS socket 40 1'),
  never('a socket of the crypto API', '$CALLS socket 38 5'),
  never(
    'a socket of a kind of its own',
    'for f in 17 18 21 30 31 44 45; do $CALLS socket $f 3; $CALLS socket $f 5; done',
  ),
  hurts('a key in a keyring of root', 'keyctl add user ironstage-canary x @u'),
  hurts("a key of root's keyring, read", 'keyctl print $(keyctl search @u user ironstage-host-secret) && echo GOT'),
  hurts('a key of the session', 'keyctl request user ironstage-host-secret && echo GOT'),
  never("a key of root's keyring, revoked", 'keyctl revoke $(keyctl search @u user ironstage-host-secret)'),
  never('io_uring', '$CALLS io_uring'),
  never('calls of 32-bit programs', '$CALLS i386'),
  never('calls of x32', '$CALLS x32'),
  hurts('a user namespace', 'unshare -U true && echo GOT'),
  hurts('a user namespace by clone', '$CALLS clone'),
  hurts('a user namespace by clone3', '$CALLS clone3'),
  never('the first process of its cell', '$CALLS attach 1'),
  hurts('a loop device detached by a descriptor for reading', '$CALLS requests $VICTIM'),
  never('the named disk changed by a descriptor for reading', '$CALLS requests $NAMED'),
  never(
    'a file in the folder where mounts are',
    'echo x >/run/ironstage/mnt/canary && rm /run/ironstage/mnt/canary && echo GOT',
  ),
]

/** Run one after the other by one shell that says it only reads. */
export const SHELL_ATTACKS: readonly Attack[] = [
  ...SERVICE_ATTACKS,
  hurts('a redirection', 'echo x >$VICTIM'),
  hurts('an append', 'echo x >>$VICTIM'),
  hurts('a descriptor', 'exec 3<>$VICTIM; echo x >&3'),
  hurts('dd', 'dd if=/dev/urandom of=$VICTIM bs=4096 count=1'),
  hurts('a relative operand', 'cd /; dd if=/dev/urandom of=${VICTIM#/} bs=4096 count=1'),
  hurts('cp', 'cp /etc/passwd $VICTIM'),
  hurts('tee', 'echo x | tee $VICTIM'),
  hurts('a symbolic link', 'ln -s $VICTIM $T/link && echo x >$T/link'),
  hurts('a link through a folder', 'ln -s /dev $T/devices && echo x >$T/devices/$NAME'),
  hurts(
    'the name by number',
    'ln -sf $VICTIM $T/by-number && echo x >$(realpath -e /dev/block/$NUMBER 2>/dev/null || echo $T/by-number)',
  ),
  // Process 1 may have another tree than this.
  never('the root of process 1', 'echo x >/proc/1/root$VICTIM'),
  hurts('the root of any process', 'for p in /proc/[0-9]*/root; do echo x >$p$VICTIM; echo x >$p$CANARY/root; done'),
  hurts('the folder of any process', 'for p in /proc/[0-9]*/cwd; do echo x >$p/../../../../..$CANARY/cwd; done'),
  hurts('the root of a process of the host', 'echo x >/proc/$HOST_PID/root$CANARY/file'),
  never('its own descriptors', 'for n in 0 1 2; do echo x >/proc/self/fd/$n/../../canary; done'),
  never(
    'leftover descriptors',
    'for n in /proc/self/fd/*; do case ${n##*/} in 0 | 1 | 2) ;; *) [ ! -d "$n/" ] || [ "$(readlink $n)" = "/proc/$$/fd" ] || readlink "$n" | grep -q ^/proc || echo GOT ;; esac; done',
  ),
  hurts('a node of its own', 'mknod $T/node b ${NUMBER%:*} ${NUMBER#*:} && echo x >$T/node'),
  hurts(
    'a node of its own in /dev',
    'mknod /dev/canary-node b ${NUMBER%:*} ${NUMBER#*:} && echo x >/dev/canary-node; rm -f /dev/canary-node',
  ),
  never(
    'a node of its own where mounts are',
    'mknod /run/ironstage/mnt/node b ${NUMBER%:*} ${NUMBER#*:} && echo x >/run/ironstage/mnt/node && echo GOT',
  ),
  hurts(
    'a node in shared memory',
    'mknod /dev/shm/canary-node b ${NUMBER%:*} ${NUMBER#*:} && echo x >/dev/shm/canary-node; rm -f /dev/shm/canary-node',
  ),
  hurts('a fresh devtmpfs', 'mkdir $T/d1 && mount -t devtmpfs none $T/d1 && echo x >$T/d1/$NAME'),
  hurts(
    'a fresh devtmpfs in a mount namespace',
    'mkdir $T/d2 && unshare -m sh -c "mount -t devtmpfs none $T/d2 && echo x >$T/d2/$NAME"',
  ),
  hurts(
    'a file system that is mounted already, by a fresh devtmpfs',
    'mkdir $T/d3 $T/m3 && mount -t devtmpfs none $T/d3 && mount $T/d3/${MOUNTED#/dev/} $T/m3 && echo x >$T/m3/other',
  ),
  hurts('mount and write', 'mkdir $T/m4 && mount $VICTIM $T/m4 && echo x >$T/m4/file'),
  hurts('mount of the file behind it', 'mkdir $T/m5 && mount -o loop $FILE $T/m5 && echo x >$T/m5/file; umount $T/m5'),
  hurts('another loop device over its file', 'l=$(losetup --find --show $FILE) && echo x >$l; losetup -d $l'),
  hurts('detaching its loop device', 'losetup -d $VICTIM'),
  hurts('its loop device made read-only', 'blockdev --setro $VICTIM'),
  hurts('its file made shorter', 'truncate -s 1M $FILE'),
  hurts('its file removed', 'rm -f $FILE'),
  hurts('blkdiscard', 'blkdiscard -f $VICTIM'),
  hurts('blkdiscard with zeros', 'blkdiscard -f -z $VICTIM'),
  hurts('wipefs', 'wipefs -a -f $VICTIM'),
  hurts('sgdisk', 'sgdisk -o $VICTIM'),
  hurts('sfdisk', 'echo , | sfdisk --force --no-reread $VICTIM'),
  hurts('mke2fs', 'mke2fs -q -F $VICTIM'),
  hurts('mkswap', 'mkswap -f $VICTIM'),
  hurts('tune2fs', 'tune2fs -L canary $VICTIM'),
  hurts('debugfs', 'debugfs -w -R "mkdir canary" $VICTIM'),
  hurts('shred', 'shred -n 1 -s 4096 $VICTIM'),
  hurts('a program of its own', "$NODE -e \"require('fs').writeFileSync(process.env.VICTIM, 'x')\""),
  hurts('perl', 'perl -e \'open(F, "+<", $ENV{VICTIM}) and print F "x"\''),
  never('pvcreate', 'pvcreate -ff -y $VICTIM && echo GOT'),
  never('dmsetup', 'echo "0 8 linear $NUMBER 0" | dmsetup create canary && echo GOT'),
  never('mdadm', 'mdadm --create /dev/md/canary --run --level=1 --raid-devices=2 --force $VICTIM missing && echo GOT'),
  opens('/dev/mapper/control', 'never'),
  opens('/dev/loop-control'),
  opens('/dev/mem', 'never'),
  opens('/dev/kmsg'),
  opens('/dev/fuse', 'never'),
  opens('/dev/btrfs-control', 'never'),
  never(
    'sg and bsg nodes',
    'for n in /dev/sg* /dev/bsg/* /dev/nvme[0-9]; do [ ! -c "$n" ] || echo GOT; done; mknod $T/sg c 21 0 && (exec 3<>$T/sg) && echo GOT',
  ),
  never('hdparm', 'hdparm -y $VICTIM && echo GOT'),
  never(
    'device/delete',
    'for f in /sys/block/*/device/delete /sys/class/block/$NAME/device/delete; do [ ! -e "$f" ] || { (exec 3>>$f) && echo GOT; }; done',
  ),
  never(
    'a rescan of all hosts',
    'for f in /sys/class/scsi_host/*/scan; do [ ! -e "$f" ] || { (exec 3>>$f) && echo GOT; }; done',
  ),
  never('unbinding a driver', 'for f in /sys/bus/*/drivers/*/unbind; do (exec 3>>$f) && echo GOT && break; done'),
  hurts('settings of its queue', '(exec 3>>/sys/block/$NAME/queue/read_ahead_kb) && echo GOT'),
  hurts('a uevent of its own', '(exec 3>>/sys/block/$NAME/uevent) && echo GOT'),
  hurts('a fresh sysfs', 'mkdir $T/s && mount -t sysfs none $T/s && (exec 3>>$T/s/block/$NAME/uevent) && echo GOT'),
  opens('/proc/sys/kernel/core_pattern'),
  opens('/proc/sys/vm/drop_caches'),
  opens('/proc/sys/kernel/modprobe', 'never'),
  opens('/sys/kernel/uevent_helper', 'never'),
  opens('/proc/sysrq-trigger', 'never'),
  hurts(
    'a fresh procfs',
    'mkdir $T/p && mount -t proc none $T/p && (exec 3>>$T/p/sys/kernel/core_pattern) && echo GOT',
  ),
  hurts(
    'a procfs made writable',
    '{ mount -o remount,rw /proc; (exec 3>>/proc/sys/kernel/core_pattern); } && echo GOT',
  ),
  never('a sysctl', 'sysctl -w kernel.printk="4 4 1 7" && echo GOT'),
  holds('CAP_SYS_BOOT, for kexec and reboot', 22),
  holds('CAP_SYS_MODULE', 16),
  holds('CAP_SYS_RAWIO', 17),
  holds('CAP_SYS_PTRACE', 19),
  holds('CAP_SYS_ADMIN', 21),
  holds('CAP_MKNOD', 27),
  holds('CAP_SYS_TIME', 25),
  holds('CAP_BPF', 39),
  holds('CAP_DAC_READ_SEARCH, for files by handle', 2),
  holds('CAP_NET_ADMIN', 12),
  holds('CAP_SYS_CHROOT', 18),
  never(
    'EFI variables',
    'mkdir $T/e && mount -t efivarfs none $T/e && echo GOT; for f in /sys/firmware/efi/efivars/*; do [ ! -e "$f" ] || { (exec 3>>$f) && echo GOT && break; }; done',
  ),
  never('the mount namespace of process 1', 'nsenter -t 1 -m sh -c "echo x >$CANARY/nsenter"'),
  hurts(
    'the mount namespace of a process of the host',
    'nsenter --mount=/proc/$HOST_PID/ns/mnt sh -c "echo x >$CANARY/nsenter"',
  ),
  hurts('all namespaces of a process of the host', 'nsenter -t $HOST_PID -a sh -c "echo x >$CANARY/nsenter"'),
  hurts('the tree made writable', 'mount -o remount,bind,rw /; echo x >$CANARY/remount'),
  hurts(
    'the tree made writable in a user namespace',
    'unshare -Urm sh -c "mount -o remount,bind,rw /; mount -o remount,bind,rw $CANARY; echo x >$CANARY/remount"',
  ),
  never(
    'a devtmpfs in a user namespace',
    'mkdir $T/d6; unshare -Urm sh -c "mount -t devtmpfs none $T/d6 && echo x >$T/d6/$NAME && echo GOT"',
  ),
  never(
    'a procfs in a user namespace',
    'mkdir $T/p6; unshare -Urmpf sh -c "mount -t proc none $T/p6 && (exec 3>>$T/p6/sys/kernel/core_pattern) && echo GOT"',
  ),
  hurts('a folder mounted over', 'mount --bind $T $CANARY && : >$T/over; [ ! -e $CANARY/over ] || echo GOT'),
  never('its own /dev taken away', 'umount -l /dev; echo x >$VICTIM'),
  hurts('another root', 'mkdir $T/r && mount --rbind / $T/r && chroot $T/r sh -c "echo x >$CANARY/chroot"'),
  hurts(
    'an overlay',
    'mkdir $T/u $T/w && mount -t overlay none -o lowerdir=/etc,upperdir=$CANARY,workdir=$CANARY $T/w; echo x >$CANARY/overlay',
  ),
  hurts('a file of the host', 'echo x >$CANARY/file'),
  hurts('a new file of the host', 'echo x >$CANARY/new'),
  hurts('files of the host removed', 'rm -rf $CANARY/file'),
  hurts('a file of the host renamed', 'mv $CANARY/file $CANARY/renamed'),
  hurts('a mode of the host', 'chmod 777 $CANARY/file'),
  hurts('an owner of the host', 'chown 1:1 $CANARY/file'),
  hurts('a link of the host', 'ln $CANARY/file $CANARY/linked || ln -s x $CANARY/linked'),
  hurts('a file of the host made shorter', 'truncate -s 0 $CANARY/file'),
  hurts('a time of the host', 'touch -d 2001-01-01 $CANARY/file'),
  never('a file in /etc', 'echo x >/etc/ironstage-canary && { rm -f /etc/ironstage-canary; echo GOT; }'),
  never('a job of cron', 'echo >/etc/cron.d/ironstage-canary && { rm -f /etc/cron.d/ironstage-canary; echo GOT; }'),
  never(
    'a rule of udev',
    'echo >/etc/udev/rules.d/99-canary.rules && { rm -f /etc/udev/rules.d/99-canary.rules; echo GOT; }',
  ),
  never(
    'a unit of systemd',
    'mkdir -p /run/systemd/system && echo >/run/systemd/system/canary.service; [ ! -e /run/ironstage-host ] || echo GOT',
  ),
  never(
    'a program on PATH',
    'echo >/usr/local/bin/ironstage-canary && { rm -f /usr/local/bin/ironstage-canary; echo GOT; }',
  ),
  never(
    'what ironstage keeps',
    'for f in /run/ironstage/loops /run/ironstage/runs /run/ironstage/runs/.new /run/ironstage/mnt /run/ironstage; do echo x >$f/canary && { rm -f $f/canary; echo GOT; }; done',
  ),
  never(
    'what other runs keep',
    'for f in /run/ironstage/*/out /run/ironstage/runs/*/out; do [ ! -f "$f" ] || { (exec 3>>$f) && echo GOT && break; }; done',
  ),
  hurts('a process of the host ended', 'kill -9 $HOST_PID'),
  hurts('a process of the host seen', 'kill -0 $HOST_PID && echo GOT'),
  hurts('a process of the host looked into', 'dd if=/proc/$HOST_PID/mem bs=1 count=0 && echo GOT'),
  hurts('a service of the host, by a file', "$NODE -e \"require('net').connect(process.env.UNIX).end('unix')\""),
  hurts(
    'a service of the host, by an abstract name',
    "$NODE -e \"require('net').connect(String.fromCharCode(0)+process.env.ABSTRACT).end('abstract')\"",
  ),
  hurts(
    'a service of the host, by its loopback interface',
    "$NODE -e \"require('net').connect(+process.env.PORT).end('tcp')\"",
  ),
  never(
    'D-Bus',
    'for s in /run/dbus/system_bus_socket /var/run/dbus/system_bus_socket /run/systemd/private /run/docker.sock /run/containerd/containerd.sock; do [ ! -S "$s" ] || echo GOT; done',
  ),
  never('systemd-run', 'systemd-run --wait sh -c "echo x >$CANARY/systemd" && echo GOT'),
  never('udevadm control', 'udevadm control --ping && echo GOT'),
  never('the name of the host', 'hostname ironstage-canary'),
  hurts('memory that the host shares', 'ipcmk -M 64'),
  never('networks of the host', 'ip link set lo down && ip link add canary type dummy && echo GOT'),
  never('swap', 'mkswap $T/swap; swapon $NAMED && echo GOT; swapoff /dev/nothing'),
  hurts(
    'a control group that it leaves',
    'for f in /sys/fs/cgroup/devices/cgroup.procs /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/unified/cgroup.procs; do [ ! -e "$f" ] || { (exec 3>>$f) && echo GOT && break; }; done',
  ),
  hurts(
    'control groups mounted again',
    'mkdir $T/c && { mount -t cgroup -o devices none $T/c || mount -t cgroup2 none $T/c; } && (exec 3>>$T/c/cgroup.procs) && echo GOT',
  ),
  never(
    'all devices allowed to its group',
    'mkdir $T/c2 && mount -t cgroup -o devices none $T/c2 && echo a >$T/c2/devices.allow && echo GOT',
  ),
  never(
    'a program that outlives it',
    '(setsid sleep 987654 </dev/null >/dev/null 2>&1 &); (trap "" HUP TERM; setsid sh -c "sleep 987654; echo x >$VICTIM" </dev/null >/dev/null 2>&1 &)',
  ),
  never('a link where mounts are', 'ln -s $CANARY /run/ironstage/mnt/evil; mkdir /run/ironstage/mnt/folder'),
  never(
    'a name where mounts are',
    'for n in "" .link "a b"; do ln -s / "/run/ironstage/mnt/x$n" && echo GOT; mkdir "/run/ironstage/mnt/y$n" && echo GOT; done',
  ),
  never('records seen', 'for f in /run/ironstage/runs /run/ironstage/loops; do [ ! -e $f ] || echo GOT; done'),
  never('the disk that was named, by a command that only reads', 'echo x >$NAMED && echo GOT'),
]

/** Command lines of their own. Those that are refused have failed; the others have to hurt nothing. */
export const COMMAND_ATTACKS: readonly {
  argv: readonly [string, ...string[]]
  effect: 'reads' | 'writes'
  stdin?: string
}[] = [
  { argv: ['tee', '$VICTIM'], effect: 'reads', stdin: 'x' },
  { argv: ['tee', '$VICTIM'], effect: 'writes', stdin: 'x' },
  { argv: ['tee', 'dev/$NAME'], effect: 'writes', stdin: 'x' },
  { argv: ['dd', 'if=/dev/zero', 'of=$VICTIM', 'count=1'], effect: 'reads' },
  { argv: ['dd', 'if=/dev/zero', 'of=dev/$NAME', 'count=1'], effect: 'writes' },
  { argv: ['dd', 'if=/dev/zero', 'of=$FOLDER/link', 'count=1'], effect: 'reads' },
  { argv: ['dd', 'if=/dev/zero', 'of=$FOLDER/link', 'count=1'], effect: 'writes' },
  { argv: ['losetup', '-d', '$VICTIM'], effect: 'reads' },
  { argv: ['losetup', '-d', 'dev/$NAME'], effect: 'writes' },
  { argv: ['shred', '-n1', '-s4096', '$NAMED', 'dev/$NAME'], effect: 'writes' },
  { argv: ['shred', '-n1', '-s4096', '$NAMED', '$FOLDER/link'], effect: 'writes' },
  { argv: ['wipefs', '--all', '--force', '$NAMED', '$FOLDER/link'], effect: 'writes' },
  { argv: ['cp', '-t$CANARY', '/etc/passwd'], effect: 'writes' },
  { argv: ['cp', '--target-directory=$CANARY', '/etc/passwd'], effect: 'reads' },
  { argv: ['cp', '-t', '${CANARY#/}', '/etc/passwd'], effect: 'writes' },
  { argv: ['rm', '-rf', '$CANARY/file'], effect: 'reads' },
  { argv: ['$FOLDER/bin/sync', '$VICTIM'], effect: 'writes' },
  { argv: ['$FOLDER/bin/sync', '$VICTIM'], effect: 'reads' },
  { argv: ['sync', '$VICTIM'], effect: 'writes' },
  { argv: ['sync', 'dev/$NAME'], effect: 'reads' },
  { argv: ['coreos-installer', 'install', 'dev/$NAME', '--offline', '--append-karg', 'x=$NAMED'], effect: 'writes' },
  { argv: ['coreos-installer', 'install', '$FOLDER/link', '--append-karg', 'x=$NAMED'], effect: 'writes' },
  { argv: ['coreos-installer', 'iso', 'customize', '-o', '$CANARY/iso', '$CANARY/file', '$NAMED'], effect: 'writes' },
  { argv: ['sgdisk', '--backup=$CANARY/backup', '$NAMED'], effect: 'writes' },
  { argv: ['sfdisk', '--backup', '--backup-file', '$CANARY/backup', '-d', '$NAMED'], effect: 'writes' },
  { argv: ['mount', '-o', 'ro', '$VICTIM', '/run/ironstage/mnt/v'], effect: 'reads' },
  { argv: ['mount', '-o', 'remount,rw', '/'], effect: 'reads' },
  { argv: ['mount', '--bind', '$FOLDER', '$CANARY'], effect: 'writes' },
  { argv: ['mount', '-o', 'rw', '$NAMED', '/run/ironstage/mnt/evil'], effect: 'writes' },
  { argv: ['umount', '$CANARY'], effect: 'reads' },
  { argv: ['umount', '/run/ironstage/mnt/evil'], effect: 'writes' },
  { argv: ['blockdev', '--setro', '$VICTIM'], effect: 'writes' },
  { argv: ['blockdev', '--setro', '$FOLDER/link', '$NAMED'], effect: 'writes' },
  { argv: ['mdadm', '--stop', '$VICTIM'], effect: 'reads' },
  { argv: ['systemctl', 'reboot'], effect: 'reads' },
  { argv: ['nsenter', '-t', '1', '-m', 'sh', '-c', 'echo x >$CANARY/nsenter'], effect: 'reads' },
  { argv: ['sh', '-c', 'kill -9 -1; kill -9 0'], effect: 'reads' },
  { argv: ['udevadm', 'control', '--exit'], effect: 'writes' },
]
