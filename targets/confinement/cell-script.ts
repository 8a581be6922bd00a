import { RUNS, type CellText } from '../supervised/supervised-scripts.js'
import { shellWord } from '../supervised/shell-words.js'
import { ALWAYS, type CellNeeds } from './needs.js'
import { policyFunctions, type DevicePolicyKind } from './device-policy.js'
import { printedFilter, privilegeWords, type SyscallFiltering } from './filter-loader.js'

export interface CellParts {
  policy: DevicePolicyKind
  /** Null where system calls are not filtered. */
  filtering: SyscallFiltering | null
  needs: CellNeeds
  /** Shell text that defines `hold_disks`, and sets `$allowed` (kernel names of the named disks) unless a guard has set it. */
  resolve: string
  /** Folder of the machine's own tree when programs run in it by chroot; empty otherwise. */
  root: string
  /** True if names below /dev/disk are needed. */
  links: boolean
}

/** Shell functions that the supervisor needs for every cell; they call those of `DISK_FUNCTIONS`. */
export const FUNCTIONS = `
# MAJOR:MINOR of a block device's node, by POSIX's long listing.
node() { [ -b "$1" ] || return 1; set -- $(ls -lnL "$1"); printf '%s:%s\\n' "\${5%,}" "$6"; }
# Prints the named disks, their partitions and devices that are built on them alone, as words NAME:MAJOR:MINOR. Starts no
# program for a plain disk, since this runs many times a second.
cell_devices() {
  devices= held=
  for k in $allowed; do
    read -r n 2>/dev/null <"/sys/class/block/$k/dev" || continue
    devices="$devices $k:$n"
    for s in "/sys/class/block/$k" "/sys/class/block/$k"/*/partition; do
      if [ -e "$s" ]; then
        s=\${s%/partition}
        if [ "$s" != "/sys/class/block/$k" ]; then
          read -r n 2>/dev/null <"$s/dev" && devices="$devices \${s##*/}:$n"
        fi
        for h in "$s"/holders/*; do [ ! -e "$h" ] || held="$held \${h##*/}"; done
      fi
    done
  done
  for h in $held; do
    for a in $(above "$h"); do
      for b in $(bases "$a"); do case " $allowed " in *" $b "*) ;; *) continue 2 ;; esac; done
      devices="$devices $a:$(number "$a")"
    done
  done
}
# Makes device nodes in the /dev of a cell, and removes outdated ones: cell_nodes DEV WANTED PRESENT.
cell_nodes() {
  for one in $3; do
    case " $2 " in *" $one "*) continue ;; esac
    name=$(printf '%s' "\${one%%:*}" | tr '!' /)
    rm -f "$1/$name"
  done
  for one in $2; do
    case " $3 " in *" $one "*) continue ;; esac
    name=$(printf '%s' "\${one%%:*}" | tr '!' /) n=\${one#*:}
    case $name in */*) mkdir -p "$1/\${name%/*}"; [ ! -L "$1/\${name%/*}" ] || continue ;; esac
    mknod -m 600 "$1/$name" b "\${n%:*}" "\${n#*:}"
  done
}
`

/**
 * Confines a command in a cell: a mount namespace with read-only files, whose /dev has only the named disk and the devices
 * that every program needs; PID, IPC and UTS namespaces; the few capabilities that the command needs; a device policy.
 *
 * The first process of the PID namespace builds the cell's copy of the tree, leaves the target's tree (pivot_root), drops
 * its privileges and becomes a shell that waits for the command. When that shell ends, the kernel ends everything that the
 * command has started.
 */
export function cellText(parts: CellParts): CellText {
  const { policy, needs, resolve, root } = parts
  const access = needs.writesDisk ? 'rw' : 'r'
  return {
    open: `${policyFunctions(policy)}
${FUNCTIONS}
${resolve}
own=${quotedPath(root)}/run/ironstage
[ -d "$own/mnt" ] || mkdir -p "$own/mnt"
# The lock file is made here because the command itself cannot create files in this folder.
[ -e "$base/install.lock" ] || : >"$base/install.lock"
# The first process of the cell says here that it is ready, or why not; without a word its end closes the pipe.
command exec 4<>"$p/cell" 3<"$p/cell" || refuse 'a pipe could not be made'
hold_disks
cell_devices
cell_had=$devices
${needs.partitions ? `printf '%s\\n' "$devices" >"$d/devices"` : ''}
policy_open ${access} "$devices" || refuse 'the device policy of its control group could not be set'
${needs.devices.map(characterPolicy).join('\n')}
cell_text=${shellWord(setupText(parts))}
`,
    // $policy_words has one word a line; the other variables are one word each.
    enter: `IFS='
'
  set -f
  exec $leader $policy_words unshare --mount --pid --fork --kill-child --ipc --uts sh -c "$cell_text" cell "$d" "$p/in" "$policy_group" "$cell_had" "$allowed" "$@" 9>&2 2>"$d/cell.err" 3<&- 8<&- 7<&- 6<&- 5<&-`,
    watch: `
exec 4>&-
read -r cell <&3 || cell="no namespaces could be made for it ($(sed -n 1p "$d/cell.err" 2>/dev/null))"
case $cell in ok*) cell_pid=\${cell#ok } cell= ;; esac
${needs.partitions ? watcher(access) : ''}`,
    close: `
[ -z "\${watcher:-}" ] || { kill "$watcher"; wait "$watcher"; } 2>/dev/null
policy_close
exec 8<&- 7<&- 6<&- 5<&-`,
    after: '[ ! -d "$d/root" ] || rmdir "$d/root" 2>/dev/null',
  }
}

/**
 * Runs outside of the cell: the command itself can neither make nodes nor widen its policy. It stays in the folder of the
 * cell's nodes, which it enters while the first process of the cell cannot have ended: its number may then be another's.
 */
const watcher = (access: string): string => `
(
  trap - TERM
  cd "/proc/$cell_pid/root/dev" || exit
  while kill -0 "$child" 2>/dev/null; do
    cell_devices
    if [ "$devices" != "$cell_had" ]; then
      policy_devices ${access} "$devices"
      cell_nodes . "$devices" "$cell_had"
      cell_had=$devices
      printf '%s\\n' "$devices" >"$d/devices"
    fi
    nap 0.03
  done
) >/dev/null 2>&1 &
watcher=$!`

const characterPolicy = (pattern: string): string => `for n in /dev/${pattern}; do
  [ -c "$n" ] || continue
  set -- $(ls -lnL "$n")
  policy_character "\${5%,}:$6" || refuse 'the device policy of its control group could not be set'
done`

/** File systems that expose the kernel or its processes; the setup mounts those that the command needs anew. */
const KERNEL_TYPES =
  'proc | sysfs | devtmpfs | devpts | cgroup | cgroup2 | debugfs | tracefs | securityfs | configfs | bpf | mqueue | fusectl | pstore | efivarfs | autofs | binfmt_misc | selinuxfs | nsfs | rpc_pipefs'

/** Mount options of files that a command only reads. */
const SAFE_TO_READ = 'ro,nosuid,nodev,noexec'

/** Folders of the target's /run that programs read; sockets and files of services stay outside of the cell. */
const READ_IN_RUN = ['udev', 'log', 'media/iso', 'coreos-installer', 'ostree-live']

/**
 * Shell functions that print what a cell sees of our own folders, as lines for mount, and make the files to mount over. A file
 * of another session may be gone by then.
 *
 * Records are not among it, nor the state of agents. A mount point is seen with what of the named disk is mounted there when
 * the cell is built; the folder of the mount points itself is made and changed by the supervisor alone.
 */
const OWN_FILES = `
own_files() {
  for f in "$1"/*; do
    n=\${f##*/}
    case $n in ${RUNS} | loops | mnt | agent-*.json) continue ;; esac
    m=$n
    case $n in
      *"
"*) continue ;;
      *[!A-Za-z0-9_.:@%+=,-]*) m=$(printf '%s' "$n" | sed -e 's/\\\\/\\\\134/g' -e 's/ /\\\\040/g' -e 's/	/\\\\011/g' -e 's/#/\\\\043/g') ;;
    esac
    [ ! -L "$f" ] || continue
    if [ -f "$f" ]; then : >"$new$2/$n"
    elif [ ! -d "$f" ]; then continue
    fi
    printf '%s\\n' "$1/$m $new$2/$m none X-mount.mkdir,nofail,bind,ro,nosuid,nodev,noexec"
  done
}
own_mounts() {
  printf '%s\\n' "$1 $new/run/ironstage/mnt none X-mount.mkdir,bind,ro,nosuid,nodev,noexec"
  while read -r a b c r m rest; do
    case $m in "$1"/*/*) continue ;; "$1"/*) ;; *) continue ;; esac
    # Others mount other disks there. A file system over several devices has a number of its own.
    b=\${rest##* - } b=\${b#* } b=\${b%% *}
    case "$devices " in *":$c "* | *" \${b#/dev/}:"*) ;; *) continue ;; esac
    case $rest in ro,* | 'ro '*) a=ro ;; *) a=$2 ;; esac
    printf '%s\\n' "$m $new/run/ironstage/mnt/\${m##*/} none bind,$a,nosuid,nodev,noexec"
  done </proc/self/mountinfo
}`

/** Runs as the first process of the new namespaces: `cell D INPUT GROUP DEVICES DISKS COMMAND...`. */
function setupText({ needs, root, links, ...parts }: CellParts): string {
  // On a disposable target programs of any kind run, containers too.
  const filtering = needs.files ? null : parts.filtering
  return [
    beginText(root),
    treeCopyText(needs, root),
    fileSystemsText(needs, filtering),
    PLAIN_NODES,
    ownFilesText(needs),
    diskNodesText(needs, links),
    runFilesText(needs, filtering),
    chrootText(root),
    LEAVE_TREE,
    startText(needs, root, filtering, '/run/ironstage-cell/filter'),
  ].join('\n')
}

/** Reads the arguments, joins the control group and defines what the rest calls. */
const beginText = (root: string): string => `d=$1 input=$2 group=$3 devices=$4 disks=$5
shift 5
base=\${d%/*/*} own=${quotedPath(root)}/run/ironstage new=$d/root fstab=$d/fstab
fail() { printf '%s\\n' "$1" >&4; exit 126; }
# Mounts what the file lists, or says why not in the words of mount: one line, since the first process reads one.
mount_listed() { said=$(mount -a -T "$fstab" 2>&1) || fail "$1 ($(printf '%s' "$said" | sed -n 1p))"; }
read -r pid rest </proc/self/stat || fail 'there is no /proc'
umask 022
# Begun now, since the kernel takes ten milliseconds to move a process; all that is done meanwhile is within the policy.
[ -z "$group" ] || echo 1 >"$group/command/cgroup.procs" &
joined=$!
${FUNCTIONS}${OWN_FILES}`

/** Copies the target's tree to `$new`, and makes everything in the copy read-only or takes it away. */
export function treeCopyText(needs: CellNeeds, root: string): string {
  const trees = root === '' ? [''] : ['', root]
  const anew = trees.flatMap((tree) => ['dev', 'proc', 'sys', 'run'].map((name) => `"$new${quotedPath(tree)}/${name}"`))
  const readOnly = needs.files ? 'nodev' : 'ro,nodev,nosuid'
  return `still_mounted() {
  while IFS=' ' read -r a b c r p rest; do [ "$p" != "$1" ] || return 0; done </proc/self/mountinfo
  return 1
}
mkdir "$new" && mount --rbind / "$new" 2>/dev/null || fail 'its own copy of the tree could not be made'
umount -l ${anew.join(' ')} 2>/dev/null
mounts=$(while read -r a b c r m rest; do
  case $m in
    # Here where the folder is no mount of its own. mount takes what has the same name for the mount that it is to make.
    ${anew.map((folder) => `${folder}/*`).join(' | ')} | "$new$own/mnt/"*) printf 'umount %s\\n' "$m"; continue ;;
    "$new" | "$new"/*) ;;
    /sys/fs/selinux | /sys/firmware/efi/efivars | /sys/fs/cgroup) printf 'here %s\\n' "$m"; continue ;;
    *) continue ;;
  esac
  rest=\${rest##* - }
  case \${rest%% *} in ${KERNEL_TYPES}) printf 'umount %s\\n' "$m" ;; *) printf 'keep %s\\n' "$m" ;; esac
done </proc/self/mountinfo)
IFS='
'
here=
for line in $mounts; do
  m=\${line#* }
  case $line in here*) here="$here $m "; continue ;; esac
  case $m in *\\\\*) m=$(printf '%b' "$(printf '%s' "$m" | sed 's/\\\\\\([0-7]\\)/\\\\0\\1/g')") ;; esac
  case $line in
    umount*) umount -l "$m" 2>/dev/null || [ ! -d "$m/self" ] || fail "$m could not be taken away" ;;
    # What was mounted below a file system that is taken away is gone with it.
    *) mount -o remount,bind,${readOnly} "$m" 2>/dev/null || umount -l "$m" 2>/dev/null || ! still_mounted "\${line#* }" || fail "$m could not be made read-only" ;;
  esac
done
unset IFS`
}

/** File systems that each command has for itself, as words for a list of mounts: where, its kind, its options. */
export const FRESH_MOUNTS = {
  shared: '/dev/shm tmpfs mode=1777,nosuid,nodev,noexec',
  terminals: '/dev/pts devpts newinstance,ptmxmode=0666,mode=620,nosuid,noexec',
} as const

/** Lists the folders of the target's /run that are read, and covers the folder of ironstage where it would be in the tree. */
export const READ_MOUNTS = `for p in ${READ_IN_RUN.join(' ')}; do [ ! -d "/run/$p" ] || printf '%s\\n' "/run/$p $new/run/$p none X-mount.mkdir,bind,${SAFE_TO_READ}"; done
  case $base in /run/* | /dev/*) ;; *) printf '%s\\n' "none $new$base tmpfs mode=700,nosuid,nodev,noexec" ;; esac`

/** The own /dev and /run of a cell, as words for a list of mounts. */
export const OWN_FOLDERS = `"none $new/dev tmpfs mode=755,nosuid,noexec,size=1m" "none $new/run tmpfs mode=755,nosuid,nodev"`

/** Mounts fresh kernel file systems, and a /run with what the command reads in it. */
const fileSystemsText = (needs: CellNeeds, filtering: SyscallFiltering | null): string => `{
  printf '%s\\n' ${OWN_FOLDERS} "none $new${FRESH_MOUNTS.shared},X-mount.mkdir" "none $new${FRESH_MOUNTS.terminals},X-mount.mkdir" \\
    "none $new/proc proc ${needs.files ? 'rw' : 'ro'},nosuid,nodev,noexec"
${
  needs.files
    ? `  for p in sys sysrq-trigger irq bus fs acpi; do [ ! -e "/proc/$p" ] || printf '%s\\n' "$new/proc/$p $new/proc/$p none bind,ro"; done`
    : ''
}
  printf '%s\\n' "/sys $new/sys none bind,${needs.sysfs ? 'rw' : 'ro'},nosuid,nodev,noexec"
  for p in fs/selinux firmware/efi/efivars${needs.files ? ' fs/cgroup' : ''}; do
    case $p in firmware/*) a=${needs.efiVariables ? 'rw' : 'ro'} ;; fs/cgroup) a=rw ;; *) a=ro ;; esac
    case $here in *" /sys/$p "*) printf '%s\\n' "/sys/$p $new/sys/$p none bind,$a,nosuid,nodev,noexec" ;; esac
  done
  ${READ_MOUNTS}
  own_mounts "$own/mnt" ${needs.writesDisk ? 'rw' : 'ro'}
${needs.udevControl ? '' : `  [ ! -S /run/udev/control ] || printf '%s\\n' "/dev/null $new/run/udev/control none bind"`}
${filtering === null || needs.unixSockets ? COVERED_SOCKETS : ''}
} >"$fstab"
mount_listed 'its own file systems could not be mounted'`

/** Makes the nodes of devices that every program needs. */
export const PLAIN_NODES = `cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/fd /dev/stdin /dev/stdout /dev/stderr "$new/dev/" 2>/dev/null
[ -c "$new/dev/null" ] || fail 'its own device nodes could not be made'
ln -s pts/ptmx "$new/dev/ptmx"`

/** Lists our own files that the command reads, to be mounted together with the nodes of the disk. */
const ownFilesText = (needs: CellNeeds): string => `mkdir "$new/run/ironstage-cell" "$new/run/tmp"
{
  [ -d "$new$base" ] || mkdir -p "$new$base"
  own_files "$base" "$base"
  [ "$own" -ef "$base" ] || own_files "$own" /run/ironstage
  if [ -s "$input" ]; then
    : >"$new/run/ironstage-cell/input"
    printf '%s\\n' "$input $new/run/ironstage-cell/input none bind,ro,nosuid,nodev,noexec"
  fi
${
  needs.partitions
    ? `  : >"$new/run/ironstage-cell/devices"
  printf '%s\\n' "$d/devices $new/run/ironstage-cell/devices none bind,ro,nosuid,nodev,noexec"`
    : ''
}
  # Last, with everything that is in it: nothing is made there.
  [ "$base" = /run/ironstage ] || printf '%s\\n' "$new$base $new$base none rbind,ro,nosuid,nodev,noexec"
  printf '%s\\n' "$new/run/ironstage $new/run/ironstage none rbind,ro,nosuid,nodev,noexec"
} >"$fstab"`

/** Mounts the listed files, and makes the nodes of the named disk and those of the character devices that the command needs. */
function diskNodesText(needs: CellNeeds, links: boolean): string {
  return `${DISK_NODES}
${needs.devices.map((pattern) => `for n in /dev/${pattern}; do [ ! -c "$n" ] || { mkdir -p "$new\${n%/*}"; cp -a "$n" "$new$n"; }; done`).join('\n')}
${links ? LINKS : ''}`
}

/** Mounts the listed files, and makes the nodes of the named disk. */
export const DISK_NODES = `# The nodes that the target has, as words NAME:MAJOR:MINOR.
right=$(
  set --
  for one in $devices; do
    case $one in *!*) continue ;; esac
    [ ! -b "/dev/\${one%%:*}" ] || set -- "$@" "/dev/\${one%%:*}"
  done
  [ "$#" -gt 0 ] || exit 0
  list=$(ls -lnL "$@")
  IFS='
'
  for line in $list; do
    unset IFS
    set -- $line
    printf ' %s:%s:%s' "\${line##*/}" "\${5%,}" "$6"
  done
)
# Bind the target's own nodes where they are right: udevd watches them, and reads the disk again after a write.
made=
for one in $devices; do
  case "$right " in *" $one "*) ;; *) continue ;; esac
  n=/dev/\${one%%:*}
  : >"$new$n"
  printf '%s\\n' "$n $new$n none bind,ro,nosuid,noexec" >>"$fstab"
  made="$made $one"
done
[ ! -s "$fstab" ] || mount_listed 'its own device nodes could not be made'
cell_nodes "$new/dev" "$devices" "$made"`

/** Puts files into the cell's /run: the filter of system calls, settings of the resolver and others. */
const runFilesText = (needs: CellNeeds, filtering: SyscallFiltering | null): string => `${
  filtering === null
    ? ''
    : `{
${printedFilter(filtering, needs)}
} >"$new/run/ironstage-cell/filter"`
}
${needs.partitions ? SETTLING : ''}
${needs.network ? RESOLVER_FILES : ''}
${BOOTED_MARK}`

/** Copies the settings of the resolver. */
export const RESOLVER_FILES = `[ ! -d /run/systemd/resolve ] || { mkdir -p "$new/run/systemd/resolve"; cp /run/systemd/resolve/*.conf "$new/run/systemd/resolve/"; } 2>/dev/null
[ ! -f /run/NetworkManager/resolv.conf ] || { mkdir -p "$new/run/NetworkManager"; cp /run/NetworkManager/resolv.conf "$new/run/NetworkManager/"; }`

/** Programs see by it that the system was booted from an OSTree. */
export const BOOTED_MARK = '[ ! -e /run/ostree-booted ] || : >"$new/run/ostree-booted"'

/** Gives the machine's own tree, where programs run in it by chroot, the cell's kernel file systems. */
const chrootText = (root: string): string =>
  root === ''
    ? ''
    : `for p in dev proc sys run; do mount --rbind "$new/$p" "$new${quotedPath(root)}/$p" || fail "$p could not be mounted"; done`

/** Makes the copy the root folder, and reports that the cell is ready. */
const LEAVE_TREE = `wait "$joined" || fail 'its control group could not be joined'
# The folder for temporary files is empty yet, so the old tree can be there until it is gone.
cd "$new" && pivot_root . run/tmp || fail 'it could not leave the tree of the target'
cd /
umount -l /run/tmp || fail 'it could not leave the tree of the target'
printf 'ok %s\\n' "$pid" >&4`

/**
 * Starts the command, without privileges that it does not need.
 *
 * @param filterAt word of a redirection that reads the filter of system calls
 */
export function startText(
  needs: CellNeeds,
  root: string,
  filtering: SyscallFiltering | null,
  filterAt: string,
): string {
  const capabilities = [...ALWAYS, ...needs.capabilities, ...(root === '' ? [] : ['sys_chroot'])]
  const bounds = capabilities.map((name) => `+${name}`).join(',')
  const options = `--inh-caps=-all --ambient-caps=-all --bounding-set=-all,${bounds}`
  return `# Close descriptors that were open where ironstage was started; a plain shell cannot close those of two digits.
for n in /proc/self/fd/??*; do
  [ ! -e "$n" ] || ! command -v bash >/dev/null 2>&1 || { set -- bash --norc -c 'for n in /proc/self/fd/??*; do n=\${n##*/}; eval "exec $n>&-"; done; exec "$@"' cell "$@"; break; }
done
umask 077
# What the command reads is a mount that cannot be written: it could make the file behind a plain descriptor larger.
input=/run/ironstage-cell/input
[ -s "$input" ] || input=/dev/null
TMPDIR=/run/tmp
${needs.partitions ? 'PATH=/run/ironstage-cell:$PATH' : ''}
export TMPDIR PATH
exec <"$input" 3>&9 2>&9 9>&- 4>&- 5>&- 6>&- 7>&- 8<${filtering === null ? '&-' : filterAt}
exec unshare --cgroup${needs.network ? '' : ' --net'} ${privilegeWords(options, filtering)} \\
  sh -c 'exec 2>/dev/null; "$@" 2>&3 3>&- 8<&-; exit "$?"' cell "$@"`
}

/** Covers up the sockets of services where they are now. */
const COVERED_SOCKETS = `  while read -r a b c e f g h path; do
    case $path in /run/* | /dev/* | /proc/* | /sys/* | *[!A-Za-z0-9_./:@%+=,-]* | '') ;;
    /*) [ ! -S "$new$path" ] || printf '%s\\n' "/dev/null $new$path none bind" ;; esac
  done </proc/net/unix`

const quotedPath = (path: string): string => {
  if (/^[\w./-]*$/.test(path)) return path
  throw new Error(`${path} would mean something to a shell`)
}

/** Makes udev's names of the named disk below /dev/disk in the cell. */
const LINKS = `for l in /dev/disk/by-*/*; do
  for one in $devices; do
    [ "$l" -ef "/dev/\${one%%:*}" ] || continue
    mkdir -p "$new\${l%/*}"
    ln -s "../../\${one%%:*}" "$new$l"
  done
done`

/** Puts a udevadm on PATH whose `settle` also waits for the partition nodes, which the watcher makes from outside. */
const SETTLING = `printf '%s\\n' '#!/bin/sh' 'PATH=\${PATH#/run/ironstage-cell:}' 'udevadm "$@"' 'code=$?' '[ "$1" = settle ] || exit "$code"' "allowed='$disks'" \\
  'i=0' 'while [ "$i" -lt 200 ]; do' '  now=' '  for k in $allowed; do' '    for s in "/sys/class/block/$k" "/sys/class/block/$k"/*/partition; do' \\
  '      s=\${s%/partition}' '      read -r n 2>/dev/null <"$s/dev" && now="$now \${s##*/}:$n"' '    done' '  done' \\
  '  read -r had </run/ironstage-cell/devices' '  missing=' '  for one in $now; do case " $had " in *" $one "*) ;; *) missing=1 ;; esac; done' \\
  '  [ -n "$missing" ] || break' '  sleep 0.03' '  i=$((i + 1))' 'done' 'exit "$code"' >"$new/run/ironstage-cell/udevadm"
chmod 755 "$new/run/ironstage-cell/udevadm"`
