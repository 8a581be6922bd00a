/**
 * Shell functions that find the users of a file. They compare device and inode, never the path, so that links and other
 * names count too.
 *
 * - `file_in_use FILE [LOOP]` prints `KIND WHY`, a word and a sentence; nothing when the file may be written. LOOP is the
 *   loop device that is meant to have it.
 * - `device_writer NUMBERS` prints which process has one of these devices, `MAJOR:MINOR` each, open for writing, unless it
 *   is a command of ironstage; `writer_of own NUMBERS` prints one that is.
 * - Both and `file_in_use` expect `$base`, the folder with our records. `node NODE` prints the number of a block device.
 */
export const FILE_FUNCTIONS = `
sys=/sys proc=/proc dev=/dev
# Decodes text of procfs, which writes spaces and line breaks as octal numbers.
unescaped() { printf '%b' "$(printf '%s' "$1" | sed 's/\\\\\\([0-7][0-7][0-7]\\)/\\\\0\\1/g')"; }
# Prints a folder that a loop device or one of its partitions is mounted on, in any visible mount namespace.
loop_mounted() (
  for d in "$sys/block/$1/dev" "$sys/block/$1/$1"p*/dev; do
    [ -r "$d" ] || continue
    n=$(cat "$d")
    cat "$proc"/[0-9]*/mountinfo 2>/dev/null | cut -d ' ' -f 3,5 | sed -n "s,^$n ,,p"
  done | sed -n 1p
)
# Prints the loop devices over a file. losetup compares device and inode, but needs the loop device's node. Without a node,
# the kernel's path of the backing file is looked up in every mount namespace; where none has it, the sizes are compared.
loops_of() (
  losetup --associated "$1" --noheadings --output NAME 2>/dev/null | sed -n 's,^.*/\\(loop[0-9]*\\) *$,\\1,p'
  for f in "$sys"/block/loop*/loop/backing_file; do
    [ -r "$f" ] || continue
    l=\${f%/loop/backing_file} l=\${l##*/}
    [ ! -b "$dev/$l" ] || continue
    at=$(cat "$f") seen=
    for root in "$proc"/[0-9]*/root; do
      [ ! "$root$at" -ef "$1" ] || { printf '%s\\n' "$l"; continue 2; }
      [ ! -e "$root$at" ] || seen=1
    done
    [ -n "$seen" ] || [ "$(cat "$sys/block/$l/size")" != "$(($(wc -c <"$1") / 512))" ] || printf '%s\\n' "$l"
  done
)
# Succeeds when a descriptor, /proc/PID/fd/N, is open for writing: the access mode is in the last two bits.
opened_to_write() (
  flags=
  while read -r name value; do [ "$name" != flags: ] || flags=$value; done 2>/dev/null <"\${1%/fd/*}/fdinfo/\${1##*/}"
  case $flags in '' | *[04]) exit 1 ;; esac
)
process() ( p=\${1%/fd/*}; echo "$(cat "$p/comm" 2>/dev/null) (process \${p##*/})" )
file_in_use() (
  for l in $(loops_of "$1"); do
    [ "$l" != "$2" ] || continue
    at=$(loop_mounted "$l")
    by=$(writer_of own "$(cat "$sys/block/$l/dev" 2>/dev/null)")
    [ -n "$at" ] || [ -z "$by" ] || { echo "run a command that ironstage has started still writes it through $l: $by"; exit; }
    echo "loop it is attached to $l already\${at:+, which is mounted on $at}"
    exit
  done
  sed 1d "$proc/swaps" 2>/dev/null | while read -r at kind rest; do
    [ "$kind" = file ] && [ "$(unescaped "$at")" -ef "$1" ] && echo 'swap it is swap space in use'
  done | grep . && exit
  for f in "$proc"/[0-9]*/fd/*; do
    [ "$f" -ef "$1" ] || continue
    opened_to_write "$f" || continue
    echo "open $(process "$f") has it open for writing"
    exit
  done
)
is_block() { [ -b "$1" ]; }
# MAJOR:MINOR of a block device's node, by POSIX's long listing.
node() { [ -b "$1" ] || return 1; set -- $(ls -lnL "$1"); printf '%s:%s\\n' "\${5%,}" "$6"; }
# Prints a process that has one of some devices open for writing without a file system, as a virtual machine does:
# writer_of own|other NUMBERS. Commands of our own runs that have not ended name their process groups below $base/runs.
writer_of() (
  own=$(for g in "$base"/runs/*/group; do [ -s "\${g%group}exit" ] || cat "$g" 2>/dev/null; done)
  for f in "$proc"/[0-9]*/fd/*; do
    is_block "$f" || continue
    printf '%s\n' "$2" | grep -Fxq -e "$(node "$f")" || continue
    opened_to_write "$f" || continue
    read -r s 2>/dev/null <"\${f%/fd/*}/stat" || continue
    s=\${s##*) } s=\${s#* } s=\${s#* } whose=other
    ! printf '%s\n' "$own" | sed -e 's/^-//' -e 's/ .*//' | grep -Fxq -e "\${s%% *}" || whose=own
    [ "$whose" = "$1" ] || continue
    process "$f"
    exit
  done
)
device_writer() { set -- "$(writer_of other "$1")"; [ -z "$1" ] || echo "$1 has it open for writing"; }
`

/** Remedies for a file in use, by the word that `file_in_use` prints. */
export const FILE_REMEDIES: Readonly<Record<string, string>> = {
  run: 'wait until it has ended, or end it with kill: an installation goes on when its ironstage is killed; or name another file',
  loop: 'unmount and detach it (losetup --list shows who has it), or name another file',
  swap: 'switch it off with swapoff, or name another file',
  open: 'end that process, or name another file',
}
