import { realpath, stat } from 'node:fs/promises'
import { defined, withClockHeld, UserError, type Clock, type Logger, MIB } from '../../base/runtime/index.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { FILE_FUNCTIONS, FILE_REMEDIES } from '../disks/file-users.js'
import { CLEANUP_TIMEOUT } from '../supervised/unfinished-runs.js'
import { shellWord } from '../supervised/shell-words.js'

/** A file attached as a disk of this host; detached when disposed. */
export interface LoopDevice extends AsyncDisposable {
  /** `loop0` */
  readonly name: string
  /** Real path of the backing file, as in sysfs. */
  readonly file: string
}

export interface AttachOptions {
  file: string
  readOnly: boolean
  /** Runs commands on this host as a user who may attach devices. */
  host: SupervisedExecutor
  /** Id of the process that owns the device: once it has ended, another ironstage may free the device. */
  owner: number
  clock: Clock
  logger: Logger
  /** After abort, detaching waits at most {@link CLEANUP_TIMEOUT}. */
  signal?: AbortSignal | undefined
}

/**
 * Attaches a file to a loop device with partitions. First frees devices of killed processes: only those that our journal
 * lists and whose owner has ended.
 *
 * @throws UserError when it is not a regular file, is in use under any of its names, or cannot be attached
 */
export async function attachLoop(options: AttachOptions): Promise<LoopDevice> {
  const { file, readOnly, host, owner, clock, logger, signal } = options
  const path = await diskFile(file, clock)
  const lines = await host.lines(attachScript(path, readOnly, owner))
  const [, kind = '', why] = /^(\w+) (.*)$/.exec(lines.find(({ tag }) => tag === 'u')?.text ?? '') ?? []
  if (why !== undefined)
    throw new UserError('disk-in-use', `${file} is not touched: ${why}`, {
      remedy: FILE_REMEDIES[kind] ?? 'name another file',
    })
  const wrong = lines.find(({ tag }) => tag === 'w')
  const name = lines.find(({ tag }) => tag === 'l')?.text
  if (wrong || name === undefined || !/^loop\d+$/.test(name))
    throw new UserError(
      'loop-device',
      `${file} cannot be used as a disk: ${wrong?.text ?? 'losetup printed nothing'}`,
      {
        remedy: 'loop devices need root and losetup of util-linux; check losetup --list',
      },
    )
  return {
    name,
    file: path,
    [Symbol.asyncDispose]: async () => {
      const detached = host.lines(
        detachScript(name, path, signal?.aborted ? MAX_ABORTED_DETACH_ATTEMPTS : MAX_DETACH_ATTEMPTS),
      )
      const late = signal?.aborted && clock.sleep(CLEANUP_TIMEOUT, { weak: true }).then(() => null)
      const lines = await (late ? Promise.race([detached, late]) : detached)
      detached.catch(() => {})
      const left = lines?.find(({ tag }) => tag === 'w')
      if (lines === null)
        logger('warn', `${path} stays attached to ${name}: the next ironstage that uses a file here frees it`)
      // The kernel frees it when the last process closes it.
      else if (left)
        logger(
          'warn',
          `${path} stays attached to ${name} for now: ${left.text}; the kernel frees it when that has ended`,
        )
    },
  }
}

async function diskFile(file: string, clock: Clock): Promise<string> {
  const usage = (message: string, remedy: string, cause?: unknown) =>
    new UserError('disk-file', message, { kind: 'usage', remedy, ...defined({ cause }) })
  const path = await withClockHeld(clock, `looking at ${file}`, () => realpath(file)).catch((cause: unknown) => {
    throw usage(`there is no file ${file}`, 'create one first, as in truncate -s 10G FILE', cause)
  })
  const { size, ...there } = await withClockHeld(clock, `looking at ${file}`, () =>
    stat(path).then((s) => ({ size: s.size, file: s.isFile() })),
  )
  if (!there.file)
    throw usage(`${file} is not a regular file`, 'a disk of this host is named as local:/dev/disk/by-id/...')
  if (size < MIB) throw usage(`${file} has ${size} bytes, too few for a disk`, 'make it larger with truncate -s')
  if (/[\n\\]/.test(path))
    throw usage(`${file} has a character in its path that losetup escapes`, 'give it another name')
  return path
}

/** Attempts to free a device, 50 ms apart. */
const MAX_DETACH_ATTEMPTS = 100
const MAX_ABORTED_DETACH_ATTEMPTS = 6

const FUNCTIONS = `
started() { read -r s 2>/dev/null <"/proc/$1/stat" || return 1; s=\${s##*) }; set -- $s; shift 19; echo "$1"; }
attached() { for f in /sys/block/loop*/loop/backing_file; do
  [ -r "$f" ] && [ "$(cat "$f" 2>/dev/null)" = "$1" ] && { l=\${f%/loop/backing_file}; printf '%s\\n' "\${l##*/}"; }
done; }
# Tries several times: another process may read a partition for a moment, and one of our mounts may still be there.
free() {
  sed -n "s;^/dev/$1\\(p[0-9]*\\)\\{0,1\\} \\(/run/ironstage/mnt/[^ /]*\\) .*;\\2;p" /proc/self/mounts | while read -r m; do umount "$m" 2>/dev/null; done
  i=0
  while [ "$(cat "/sys/block/$1/loop/backing_file" 2>/dev/null)" = "$2" ] && [ "$i" -lt "\${tries:-100}" ]; do
    losetup --detach "/dev/$1" 2>/dev/null
    [ "$(cat "/sys/block/$1/loop/backing_file" 2>/dev/null)" != "$2" ] || sleep 0.05
    i=$((i + 1))
  done
}
forget() { for j in "$base"/loops/*; do [ -f "$j" ] && { read -r o; read -r x; } <"$j" && [ "$x" = "$1" ] && rm -f "$j"; done; }
`

const ENDED = shellWord('owner the ironstage that attaches it has ended')

/** Writes the journal before it attaches the device, so that a killed process never leaves an unlisted device. */
const attachScript = (path: string, readOnly: boolean, owner: number): string => `${FUNCTIONS}${FILE_FUNCTIONS}
file=${shellWord(path)}
mkdir -p "$base/loops"
for j in "$base"/loops/*; do
  [ -f "$j" ] || continue
  { read -r whose since; read -r stale; } <"$j"
  # A record without a time is of an owner that had ended before it was written.
  [ -z "$since" ] || [ "$(started "$whose")" != "$since" ] || continue
  for l in $(attached "$stale"); do free "$l" "$stale"; printf 's %s\\n' "$l"; done
  [ -n "$(attached "$stale")" ] || rm -f "$j"
done
used=$(file_in_use "$file")
since=$(started ${owner}) || used=${ENDED}
if [ -n "$used" ]; then printf 'u %s\\n' "$used"
else
  record="$base/loops/${owner}-$$"
  printf '%s %s\\n%s\\n' ${owner} "$since" "$file" >"$record"
  if l=$(losetup --find --show --partscan ${readOnly ? '--read-only ' : ''}"$file" 2>&1); then
    # Another process may have attached the file at the same time, by another name.
    used=$(file_in_use "$file" "\${l##*/}")
    # The next ironstage may have removed the record of an owner that has ended.
    [ "$(started ${owner})" = "$since" ] || used=${ENDED}
    if [ -z "$used" ]; then printf 'l %s\\n' "\${l##*/}"
    else losetup --detach "$l"; rm -f "$record"; printf 'u %s\\n' "$used"; fi
  else rm -f "$record"; printf 'w %s\\n' "$(echo $l)"; fi
fi`

const detachScript = (name: string, path: string, tries: number): string => `${FUNCTIONS}
tries=${tries}
file=${shellWord(path)}
free ${shellWord(name)} "$file"
if [ "$(cat /sys/block/${shellWord(name)}/loop/backing_file 2>/dev/null)" = "$file" ]; then printf 'w %s\\n' 'a process on this host keeps it open'
else forget "$file"; fi`
