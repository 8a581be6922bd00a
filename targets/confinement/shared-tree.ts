import { RUNS, type CellText } from '../supervised/supervised-scripts.js'
import { shellWord } from '../supervised/shell-words.js'
import {
  BOOTED_MARK,
  cellText,
  DISK_NODES,
  FRESH_MOUNTS,
  FUNCTIONS,
  OWN_FOLDERS,
  PLAIN_NODES,
  READ_MOUNTS,
  RESOLVER_FILES,
  startText,
  treeCopyText,
  type CellParts,
} from './cell-script.js'
import { printedFilter } from './filter-loader.js'
import { READ_ONLY_NEEDS, type CellNeeds } from './needs.js'

/**
 * Programs that ironstage's own steps read with. None of them makes a file in /run, which they share and cannot write. Any
 * other program may, and has a whole cell of its own.
 */
const SHARING = /^(blkid|cat|dmidecode|ip|ls|lsblk|lscpu|lshw|podman|sha256sum|stat|udevadm)$/

/** Seconds for which a tree is used. It ends then by itself, also when everything that has made it was killed. */
const LIFETIME = 15

/** A command that may find its files in a tree that it shares with other commands. */
export interface SharingCommand {
  argv: readonly string[]
  needs: CellNeeds
  /** True if it reads a standard input. */
  hasInput: boolean
  /** Folders of ironstage, which no shared tree has anything of. */
  hidden: readonly string[]
}

/** True for a command that can share a tree; any other has a copy of its own. */
export function sharesTree({ argv, needs, hasInput, hidden }: SharingCommand, parts: CellParts): boolean {
  // Sockets are covered up by name only as long as they are known.
  if (parts.filtering === null || parts.root !== '' || parts.links || hasInput) return false
  // Beside these two it may need nothing.
  const { network, udevControl, ...more } = needs
  const least = { ...READ_ONLY_NEEDS, network, udevControl }
  if (JSON.stringify({ ...least, ...more }) !== JSON.stringify(least)) return false
  return SHARING.test(argv[0]!) && !argv.some((word) => hidden.some((folder) => word.includes(folder)))
}

/**
 * Confines a command that only reads in a cell like that of {@link cellText}, whose files are those of a tree that is made
 * once. The tree is a mount namespace in which no command ever runs, held by a process that sleeps. Each command has a copy
 * of that namespace, and of its own: processes, IPC, networks, /proc, shared memory, terminals and temporary files. All that
 * the copies have in common is read-only, and no command may mount.
 *
 * The tree has nothing of the steps' files and mounts. A tree is used again only while the disk has the same devices, and the
 * target the same mounts. Where none can be made the command has a whole cell.
 *
 * @param session word in the names of its trees
 */
export function sharedCellText(parts: CellParts, session: string): CellText {
  const whole = cellText(parts)
  return {
    ...whole,
    open: `${whole.open}
${treeFunctions(session)}
tree_text=${shellWord(TREE)}
find_tree || make_tree || tree_pid=
shared_text=${shellWord(commandText(parts))}
[ -z "$tree_pid" ] || {
${printedFilter(parts.filtering!, parts.needs)}
} >"$p/filter" || tree_pid=`,
    // Opened before it is looked at: the number of a process that has ended goes to another one. Where the target is in a
    // chroot, the root of the namespace is another folder than that of the tree.
    enter: `if [ -n "$tree_pid" ] && { command exec 6<"/proc/$tree_pid/ns/mnt" 5<"/proc/$tree_pid/root"; } 2>/dev/null && start_of "$tree_pid" && [ "$start" = "$tree_since" ]; then
    [ -z "$policy_group" ] || exec 7>"$policy_group/command/cgroup.procs"
    IFS='
'
    set -f
    exec $leader $policy_words nsenter --mount=/proc/self/fd/6 --root=/proc/self/fd/5 unshare --mount --pid --fork --kill-child --ipc --uts sh -c "$shared_text" cell "$policy_group" "$@" 9>&2 2>"$d/cell.err" 3<&- 8<"$p/filter"
  fi
  ${whole.enter}`,
  }
}

/** Shell text that ends the trees of a session; what is under way in one goes on. */
export const endTreesScript = (
  session: string,
): string => `start_of() { start=; read -r s 2>/dev/null <"/proc/$1/stat" || return 1; s=\${s##*) }; set -- $s; shift 19; start=$1; }
for tree in "$base/${RUNS}/.tree-${session}."*; do
  { read -r devices && read -r pid since; } 2>/dev/null <"$tree/holder" || continue
  ! start_of "$pid" || [ "$start" != "$since" ] || kill "$pid"
done`

/**
 * Shell functions that set `$tree_pid` and `$tree_since`, the process that holds a tree and when it began: `find_tree` for
 * one that is there, `make_tree` for a new one. They expect the functions of the supervisor, `$devices` and `$allowed`.
 */
const treeFunctions = (session: string): string => `
same_mounts() (
  exec 3<"$tree/mounts" || exit 1
  while IFS= read -r line; do IFS= read -r was <&3 && [ "$line" = "$was" ] || exit 1; done </proc/self/mountinfo
  ! IFS= read -r was <&3
)
find_tree() {
  i=0
  while :; do
    making=
    for tree in "$base/${RUNS}/.tree-${session}."*; do
      [ -d "$tree" ] || continue
      { IFS= read -r tree_devices && read -r tree_pid tree_since; } 2>/dev/null <"$tree/holder" || { making=1; continue; }
      start_of "$tree_pid" && [ "$start" = "$tree_since" ] || continue
      [ "$tree_devices" = "$devices" ] && same_mounts 2>/dev/null && return
      kill "$tree_pid" 2>/dev/null
    done
    [ -n "$making" ] && [ "$i" -lt 20 ] || return 1
    i=$((i + 1))
    nap 0.01
  done
}
make_tree() {
  command -v nsenter >/dev/null 2>&1 || return 1
  tree=$base/${RUNS}/.tree-${session}.$$
  mkdir "$tree" 2>/dev/null || return 1
  while IFS= read -r line; do printf '%s\\n' "$line"; done </proc/self/mountinfo >"$tree/mounts"
  # It prints its number once it is ready. The shell around it removes what was written of it.
  tree_pid=$(
    (
      unshare --mount sh -c "$tree_text" tree "$tree" "$devices" "$allowed" >&8 8>&- &
      holder=$!
      exec 8>&-
      wait "$holder"
      rm -f "$tree/holder" "$tree/mounts" "$tree/fstab"
      rmdir "$tree/root" "$tree"
    ) 8>&1 >/dev/null 2>&1 </dev/null 3<&- 4<&- 5<&- 6<&- 7<&- 9<&- &
  )
  case $tree_pid in *[!0-9]*) tree_pid= ;; esac
  [ -n "$tree_pid" ] && start_of "$tree_pid" && nsenter "--mount=/proc/$tree_pid/ns/mnt" "--root=/proc/$tree_pid/root" ls -d /run/ironstage-cell >/dev/null 2>&1 || {
    [ -z "$tree_pid" ] || kill "$tree_pid"
    return 1
  }
  tree_since=$start
  printf '%s\\n%s %s\\n' "$devices" "$tree_pid" "$tree_since" >"$tree/holder"
}`

/** Runs as `tree D DEVICES DISKS` in a mount namespace of its own, prints its process id when that is a tree, and sleeps. */
const TREE = `exec 3>&1 >/dev/null
d=$1 devices=$2 disks=$3
base=\${d%/*/*} own=/run/ironstage new=$d/root fstab=$d/fstab
fail() { exit 126; }
mount_listed() { mount -a -T "$fstab" || fail; }
read -r pid rest </proc/self/stat || fail
umask 022
${FUNCTIONS}
${treeCopyText(READ_ONLY_NEEDS, '')}
{
  printf '%s\\n' ${OWN_FOLDERS} "none $new/proc proc ro,nosuid,nodev,noexec" "/sys $new/sys none bind,ro,nosuid,nodev,noexec"
  for p in fs/selinux firmware/efi/efivars; do
    case $here in *" /sys/$p "*) printf '%s\\n' "/sys/$p $new/sys/$p none bind,ro,nosuid,nodev,noexec" ;; esac
  done
  ${READ_MOUNTS}
} >"$fstab"
mount_listed
${PLAIN_NODES}
mkdir "$new/dev/shm" "$new/dev/pts" "$new/run/ironstage-cell" "$new/run/tmp" || fail
: >"$fstab"
${DISK_NODES}
${RESOLVER_FILES}
${BOOTED_MARK}
printf 'none %s\\n' '${FRESH_MOUNTS.shared}' '${FRESH_MOUNTS.terminals}' '/run/tmp tmpfs mode=755,nosuid,nodev' >"$new/run/ironstage-cell/fresh"
{ cat "$new/run/ironstage-cell/fresh" && echo '/dev/null /run/udev/control none bind'; } >"$new/run/ironstage-cell/covered"
# Also the file systems themselves: what all commands have in common is written by none.
mount -o remount,ro "$new/dev" && mount -o remount,ro "$new/run" || fail
cd "$new" && pivot_root . run/tmp || fail
cd /
# What it has seen of processes goes last, since umount looks there.
umount -l /run/tmp /proc || fail
printf '%s\\n' "$pid" >&3
exec sleep ${LIFETIME} 3>&-`

/** Runs as the first process of the new namespaces, in a copy of the tree: `cell GROUP COMMAND...`. */
const commandText = ({ needs, filtering }: CellParts): string => `group=$1
shift
fail() { printf '%s\\n' "$1" >&4; exit 126; }
umask 022
# As in a whole cell: all that is done meanwhile is within the policy.
[ -z "$group" ] || echo 1 >&7 &
joined=$!
mount -t proc -o ro,nosuid,nodev,noexec none /proc 2>/dev/null || fail 'its processes could not be shown'
list=/run/ironstage-cell/fresh
${needs.udevControl ? '' : '[ ! -S /run/udev/control ] || list=/run/ironstage-cell/covered'}
said=$(mount -a -T "$list" 2>&1) || fail "its own file systems could not be mounted ($(printf '%s' "$said" | sed -n 1p))"
wait "$joined" || fail 'its control group could not be joined'
printf 'ok 1\\n' >&4
${startText(needs, '', filtering, '&8')}`
