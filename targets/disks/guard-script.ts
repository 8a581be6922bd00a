import { shellWord } from '../supervised/shell-words.js'
import { FILE_FUNCTIONS } from './file-users.js'
import { PLACE_FUNCTIONS } from './places.js'
import type { DiskSelector, PlaceSelector } from './selector.js'

/**
 * Shell functions that find disks by serial number, WWN, by-id name or place, and everything that uses a disk. They read sysfs and
 * procfs: a small live system has those, and unlike udev's database they are never out of date.
 *
 * Function bodies in parentheses run in a subshell, for local variables. The caller defines `refuse WHY`, which must not
 * return.
 */
export const DISK_FUNCTIONS = `${FILE_FUNCTIONS}
own=/run/ironstage

# Prints the kernel name of MAJOR:MINOR.
kernel_name() ( at=$(cd -P "$sys/dev/block/$1" 2>/dev/null && pwd) || exit 1; printf '%s\\n' "\${at##*/}" )
number() { read -r number 2>/dev/null <"$sys/class/block/$1/dev" && printf '%s\\n' "$number"; }
# Succeeds when the loop device is attached to the file.
backed() {
  backing=
  while IFS= read -r line; do backing=$backing\${backing:+
}$line; done 2>/dev/null <"$sys/block/$1/loop/backing_file"
  [ "$backing" = "$2" ]
}
# Prints the disk of a partition; any other device unchanged.
whole() (
  if [ -e "$sys/class/block/$1/partition" ]; then at=$(cd -P "$sys/class/block/$1/.." && pwd); printf '%s\\n' "\${at##*/}"
  else printf '%s\\n' "$1"; fi
)
# Prints the disks at the bottom of a device.
bases() (
  k=$(whole "$1") below=
  for s in "$sys/class/block/$k"/slaves/*; do
    [ -e "$s" ] || continue
    below=1
    bases "\${s##*/}"
  done
  [ -n "$below" ] || printf '%s\\n' "$k"
)
# Prints a device and every device that is built on it.
above() (
  printf '%s\\n' "$1"
  for p in "$sys/class/block/$1"/*/partition; do [ ! -e "$p" ] || { p=\${p%/partition}; above "\${p##*/}"; }; done
  for h in "$sys/class/block/$1"/holders/*; do [ ! -e "$h" ] || above "\${h##*/}"; done
)
# Prints every serial number and WWN of a disk, a line each.
identities() (
  s=$sys/class/block/$1
  {
    for f in serial device/serial wwid device/wwid nguid eui; do
      [ ! -r "$s/$f" ] || { cat "$s/$f" 2>/dev/null; printf '\\n'; }
    done
    [ ! -r "$s/device/vpd_pg80" ] || { tail -c +5 "$s/device/vpd_pg80" | tr -d '\\000'; printf '\\n'; }
    udevadm info --query=property --name="$dev/$1" 2>/dev/null |
      sed -n -e 's/^ID_SERIAL=//p' -e 's/^ID_SERIAL_SHORT=//p' -e 's/^ID_SCSI_SERIAL=//p' \\
        -e 's/^ID_WWN=//p' -e 's/^ID_WWN_WITH_EXTENSION=//p'
  } | sed -e 's/^[[:space:]]*//' -e 's/[[:space:]]*$//' -e '/^$/d' -e '/^naa\\./{p;s/^naa\\./0x/;}'
)
# Prints the disks with a serial number, WWN or by-id name: having IDENTITY [DISK]. DISK limits the search to that disk.
# Fails when there is none.
having() (
  case $1 in 0[xX]* | naa.* | eui.* | nvme.* | uuid.*) same='grep -Fxqi' ;; *) same='grep -Fxq' ;; esac
  linked=
  n=$(node "$dev/disk/by-id/$1") && linked=$(kernel_name "$n")
  none=1
  for s in "$sys"/block/\${2:-*}; do
    k=\${s##*/}
    case $k in loop* | ram* | zram* | sr* | fd* | dm-* | md*) continue ;; esac
    if [ "$k" = "$linked" ] || identities "$k" | $same -e "$1"; then printf '%s\\n' "$k"; none=0; fi
  done
  exit "$none"
)
# Prints what is known of all disks; only a script that reports to a person does so.
offer_disks() { :; }
# Sets $chosen to the disk with an identity; refuses two paths to one disk.
choose() {
  found=$(having "$1")
  set -- "$1" $found
  case $# in
    1) offer_disks; refuse "there is no disk with the serial number, WWN or by-id name $1" ;;
    2) chosen=$2 ;;
    *) refuse "more than one disk has the serial number or WWN $1: $(echo $found); paths of a multipath device are not written" ;;
  esac
}
${PLACE_FUNCTIONS}
look_around() {
  mounts=$(cat "$proc"/[0-9]*/mountinfo "$proc/self/mountinfo" 2>/dev/null | cut -d ' ' -f 3,5)
  # A killed command leaves its steps' mounts. A process with another root sees them at the same path behind that root.
  steps=$(printf '%s\\n' "$mounts" | grep "^[^ ]* $own/" | sed -e 's/[][\\.*^$]/\\\\&/g' -e 's, , .*,' -e 's/^/^/' -e 's/$/$/')
  mounted=$(printf '%s\\n' "$mounts" | grep -v -e "^[^ ]* $own/\${steps:+
$steps}" | sort -u)
  swapped=$(sed 1d "$proc/swaps" 2>/dev/null | while read -r at rest; do node "$at"; done)
  pooled=$(zpool status -LP 2>/dev/null | sed -n 's,^[[:space:]]*/dev/\\([^[:space:]]*\\).*,\\1,p')
  looped=$(for f in "$sys"/block/loop*/loop/backing_file; do
    [ -r "$f" ] || continue
    n=$(node "$(cat "$f")") && l=\${f%/loop/backing_file} && printf '%s %s\\n' "$n" "\${l##*/}"
  done)
}
# Sets $after to the rest of the first line of a list that begins with a word: after LIST WORD. No program is started for it,
# since this is asked several times of every device.
after() {
  after="
$1
" before=\${after%%"
$2 "*}
  [ "$before" != "$after" ] || { after=; return; }
  after=\${after#"$before
$2 "} after=\${after%%"
"*}
}
has_line() { case "
$1
" in *"
$2
"*) return 0 ;; *) return 1 ;; esac; }
# Prints why a disk must not be written; nothing when it may: in_use DISK arrays|none. With "arrays", an array over the disk
# is no reason.
in_use() (
  for k in $(above "$1" | sort -u); do
    n=
    ! number "$k" >/dev/null || n=$number
    after "$mounted" "$n"
    case $after in
      '') ;;
      /) echo "the running system is on $k"; exit ;;
      *) echo "$k is mounted on $after"; exit ;;
    esac
    ! has_line "$swapped" "$n" || { echo "$k is swap space"; exit; }
    ! has_line "$pooled" "$k" || { echo "$k is a member of a ZFS pool"; exit; }
    for m in "$sys"/fs/btrfs/*/devices/"$k"; do [ ! -e "$m" ] || { echo "$k is a member of a btrfs file system that is mounted"; exit; }; done
    after "$looped" "$n"
    [ -z "$after" ] || { echo "$after is attached to $k"; exit; }
    [ "$k" != "$1" ] || continue
    [ ! -e "$sys/class/block/$k/partition" ] || continue
    case $(cat "$sys/class/block/$k/dm/uuid" 2>/dev/null) in
      mpath-*) echo "it is a path of the multipath device $k"; exit ;;
    esac
    name=$(cat "$sys/class/block/$k/dm/name" 2>/dev/null)
    case $k in
      md*) [ "$2" = arrays ] || { echo "it is a member of the array $k"; exit; } ;;
      *) echo "$k\${name:+ ($name)} is built on it"; exit ;;
    esac
  done
  if [ -d "$sys/module/zfs" ] && ! command -v zpool >/dev/null 2>&1 && lsblk -no FSTYPE "$dev/$1" 2>/dev/null | grep -q zfs_member
  then echo "it has ZFS members, and without zpool nothing shows whether they are in use"; fi
)
# Refuses a device node unless it is on disks of the policy alone, and none of them is in use: check_device NODE arrays|none.
check_device() {
  n=$(node "$1") || refuse "$1 is no block device there"
  k=$(kernel_name "$n") || refuse "$1 is the node of a device that the kernel does not have"
  for b in $(bases "$k" | sort -u); do
    case " $allowed " in *" $b "*) ;; *) refuse "$1 is on the disk $b, which may not be written: it is not the named disk" ;; esac
    why=$(in_use "$b" "$2")
    [ -z "$why" ] || refuse "$1 may not be written: $why"
  done
}
# Refuses a path unless it is below our own folder, also after links are followed.
check_path() {
  at=$1
  while [ ! -d "$at" ]; do [ ! -L "$at" ] || refuse "$1 goes through the link $at"; at=\${at%/*}; [ -n "$at" ] || at=/; done
  at=$(cd -P "$at" && pwd)
  case $at/ in "$own/"* | "$base/"*) ;; *) refuse "$1 is not on the named disk: it is in $at" ;; esac
}
`

/**
 * Shell text that sets `$allowed` to the current kernel names of the policy's disks.
 *
 * @param onlyToRead skips the check whether another process uses the file of a loop device
 */
export function resolveScript(selectors: readonly DiskSelector[], { onlyToRead = false } = {}): string {
  const each = selectors.map((selector) => {
    switch (selector.kind) {
      case 'identity':
        return `choose ${shellWord(selector.value)}; allowed="$allowed $chosen"`
      case 'name':
        return `choose ${shellWord(selector.identity)}
[ "$chosen" = ${shellWord(selector.name)} ] || refuse ${shellWord(`${selector.name} is not the disk with the serial number or WWN ${selector.identity}: that is `)}"$chosen now"
allowed="$allowed $chosen"`
      case 'place':
        return `choose_place ${placeWords(selector)}; allowed="$allowed $chosen"`
      case 'loop':
        return `backed ${selector.name} ${shellWord(selector.file)} || refuse ${shellWord(`${selector.name} is no longer attached to ${selector.file}`)}
${
  onlyToRead
    ? ''
    : `used=$(file_in_use ${shellWord(selector.file)} ${selector.name})
[ -z "$used" ] || refuse ${shellWord(`${selector.file} is in use: `)}"\${used#* }"`
}
allowed="$allowed ${selector.name}"`
    }
  })
  return ['allowed=', ...each].join('\n')
}

/**
 * Shell text that defines `hold_disks`, which opens the disks of `$allowed` for as long as the shell lives, and checks once
 * more that they are the named ones. An open device keeps its number, so a command reaches the checked disk even when a
 * disk is renamed or plugged in again meanwhile.
 */
export function holdScript(selectors: readonly DiskSelector[]): string {
  const identities = selectors.map((selector) => {
    switch (selector.kind) {
      case 'identity':
        return `having ${shellWord(selector.value)} "$1"`
      case 'name':
        return `having ${shellWord(selector.identity)} "$1"`
      case 'place':
        return `still_placed ${placeWords(selector)} "$1"`
      case 'loop':
        return `backed "$1" ${shellWord(selector.file)}`
    }
  })
  return `hold_disks() {
  set -- $allowed
${identities
  .slice(0, FREE_DESCRIPTORS.length)
  .map(
    (still, n) => `  [ -n "\${1:-}" ] || return 0
  command exec ${FREE_DESCRIPTORS[n]}<"$dev/$1" || refuse "$1 could not be opened"
  [ "$(node /proc/self/fd/${FREE_DESCRIPTORS[n]})" = "$(number "$1")" ] && ${still} >/dev/null || refuse "$1 was replaced by another disk during the check"
  shift`,
  )
  .join('\n')}
}`
}

/** File descriptors that the supervisor leaves free; a plain shell only knows those of one digit. */
const FREE_DESCRIPTORS = [8, 7, 6, 5] as const

/** Devices and files that a command would change. */
export interface GuardedOperands {
  devices: readonly string[]
  paths: readonly string[]
  /** True if arrays over a disk are no reason to refuse, because the command works on arrays. */
  arrays: boolean
  /** Devices that the command makes; one that already exists is checked like any other. */
  made?: readonly string[]
}

/** Shell text that finds the disks for a command that only reads; a missing disk does not stop the command. */
export const quietResolveScript = (selectors: readonly DiskSelector[]): string => `${DISK_FUNCTIONS}
allowed=$(
  refuse() { exit 0; }
  ${resolveScript(selectors, { onlyToRead: true })}
  printf '%s' "$allowed"
)
`

/**
 * Shell text that runs right before a command, in the same script, and refuses a command that may not run.
 *
 * @param options.resolve whether the disks must be present
 */
export function guardScript(
  selectors: readonly DiskSelector[],
  { devices, paths, arrays, made = [] }: GuardedOperands,
  { root = '', resolve = true } = {},
): string {
  return [
    DISK_FUNCTIONS,
    `own=${shellWord(root)}$own`,
    ...(resolve ? [resolveScript(selectors)] : []),
    ...(devices.length + made.length > 0 ? ['look_around'] : []),
    ...devices.map((path) => `check_device ${shellWord(path)} ${arrays ? 'arrays' : 'none'}`),
    ...made.map(
      (path) => `[ ! -e ${shellWord(path)} ] || check_device ${shellWord(path)} ${arrays ? 'arrays' : 'none'}`,
    ),
    ...paths.map((path) => `check_path ${shellWord(`${root}${path}`)}`),
  ].join('\n')
}

/** The functions, one that ends the script with `w WHY`, and one that prints `a ...` for each disk there is. */
const REPORTING_FUNCTIONS = `
refuse() { printf 'w %s\\nk\\n' "$(printf '%s' "$1" | tr '\\n' ' ')"; exit 0; }
${DISK_FUNCTIONS}
offer_disks() { look_around; list_disks; }
`

/** Shell text that prints `f FACTS` of the disk at a place: all that tells it from another one there. */
export const factsScript = (place: PlaceSelector): string => `${REPORTING_FUNCTIONS}
choose_place ${placeWords(place)}
printf 'f %s\\n' "$(facts_of "$chosen")"`

/** Shell text that prints `a ...` for each disk there is. */
export const offerScript = `${REPORTING_FUNCTIONS}
offer_disks`

const placeWords = ({ place, facts }: PlaceSelector): string => `${shellWord(place)} ${shellWord(facts ?? '')}`

/**
 * Shell text that lists the policy's disks: `d NAME MAJOR:MINOR SIZE MODEL` for each; `i NAME WHY` for one in use; `w WHY`
 * when a disk cannot be found.
 */
export const disksScript = (selectors: readonly DiskSelector[]): string => `${REPORTING_FUNCTIONS}
${resolveScript(selectors)}
look_around
for k in $allowed; do
  s=$sys/class/block/$k
  printf 'd %s %s %s %s\\n' "$k" "$(number "$k")" "$(($(cat "$s/size") * 512))" "$(cat "$s/device/model" 2>/dev/null)"
  why=$(in_use "$k" none)
  [ -n "$why" ] || why=$(device_writer "$(for a in $(above "$k"); do number "$a"; done)")
  [ -z "$why" ] || printf 'i %s %s\\n' "$k" "$why"
done`

/**
 * Shell text that prints `v NAME` for every device that is built on the policy's disks alone, and for these; `w WHY` when a
 * disk cannot be found.
 */
export const visibleScript = (selectors: readonly DiskSelector[]): string => `${REPORTING_FUNCTIONS}
${resolveScript(selectors, { onlyToRead: true })}
for k in $allowed; do
  for a in $(above "$k" | sort -u); do
    mine=1
    for b in $(bases "$a"); do case " $allowed " in *" $b "*) ;; *) mine= ;; esac; done
    [ -z "$mine" ] || printf 'v %s\\n' "$a"
  done
done`
