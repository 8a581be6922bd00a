import { RUNS } from '../supervised/supervised-scripts.js'
import { shellWord } from '../supervised/shell-words.js'
import type { PreparedCommand } from '../supervised/supervised-executor.js'

/**
 * Use of a mount point, a folder of {@link MOUNT_POINTS} for one partition, by mkdir, rmdir, mount or umount. They run outside
 * of any cell, since a mount must outlive its command; no command can write in the folder of the mount points.
 */
export interface MountPointUse {
  /** Name of the mount point. */
  name: string
  /** Words of the command before the mount point. */
  words: readonly [string, ...string[]]
}

/** Folder of the mount points, as steps name it. */
export const MOUNT_POINTS = '/run/ironstage/mnt'

/** Plain words, so that the kernel lists a mount point as it is written here. */
const NAME = '[A-Za-z0-9_][\\w.:@%+=,!-]*'
const FORMS = [/^mkdir(?: -p)?$/, /^rmdir$/, /^umount$/, /^mount -o r[ow] \/dev\/[\w!/-]+$/]

/** Null for any other command. */
export function mountPointUse(argv: readonly [string, ...string[]]): MountPointUse | null {
  const [, name] = new RegExp(`^${MOUNT_POINTS}/(${NAME})$`).exec(argv.at(-1)!) ?? []
  const [program, ...words] = argv.slice(0, -1)
  if (program === undefined || name === undefined) return null
  if (!FORMS.some((form) => form.test([program, ...words].join(' ')))) return null
  return { name, words: [program, ...words] }
}

/**
 * Prepares what is done at a mount point, to run where the login shell is, also where other programs run in the tree of the
 * machine.
 *
 * @param guard checks the device
 */
export function atMountPoint(
  use: MountPointUse,
  guard: string,
  { root, confined }: { root: string; confined: boolean },
): PreparedCommand {
  const argv = wordsThere(use, confined)
  const prepared = { argv, guard: `${enterScript(use, root)}\n${guard}` }
  return use.words[0] === 'mount' ? { ...prepared, after: keeperScript(use) } : prepared
}

/** Options against what came with the image: no mounted file acts as a program or a device of the target. */
const HARMLESS = 'nosuid,nodev,noexec'

/**
 * Options that keep mount and umount from turning the folder into a name again, which may be another folder's by then, and
 * from starting helper programs for file systems of their own.
 */
const BY_FOLDER = ['-i', '-c']

/** Command line that acts on the folder that {@link enterScript} has gone to. */
function wordsThere({ words, name }: MountPointUse, confined: boolean): PreparedCommand['argv'] {
  const [program, ...more] = words
  const options = confined ? BY_FOLDER : []
  if (program === 'umount') return [program, ...options, `./${name}`]
  if (program !== 'mount') return [program, ...more, `./${name}`]
  const [option = '', access = '', device = ''] = more
  return [program, ...options, option, `${access},${HARMLESS}`, device, '.']
}

/**
 * Shell text for the guard: goes to the mount point, or to the folder that it is in. The kernel says which folder that is, so
 * nothing else is mounted over even if its name leads elsewhere a moment later. Expects `refuse WHY`; sets `$points`, the
 * folder of the mount points.
 *
 * @param root folder of the machine's own tree; empty where the login shell is in it
 */
function enterScript({ words: [program], name }: MountPointUse, root: string): string {
  const points = shellWord(`${root}${MOUNT_POINTS}`)
  const point = `./${shellWord(name)}`
  const enter = `[ -d ${points} ] || mkdir -p ${points} || refuse ${points}' could not be made'
cd -P ${points} 2>/dev/null || refuse 'there is no folder '${points}
points=$(pwd -P)
[ ! -L ${point} ] || rm -f ${point}`
  if (program !== 'mount') return enter
  return `${enter}
cd -P ${point} 2>/dev/null || refuse "there is no folder $points/"${shellWord(name)}
[ "$(pwd -P)" = "$points/"${shellWord(name)} ] || refuse "$points/"${shellWord(name)}' leads to another folder'`
}

/** Time without any script and any run, in units of {@link LOOK}, after which a mount counts as left behind. */
const MAX_IDLE = 360
/** Seconds between two looks. */
const LOOK = 5

/**
 * Shell text for the end of a mount: waits until it is unmounted. Unmounts it after half an hour in which no script and no run
 * has used the target, since the session that mounted it was killed. Expects the functions of the supervisor, `$points` and
 * `$code`.
 */
function keeperScript({ name }: MountPointUse): string {
  const point = shellWord(name)
  return `
is_mounted() { while read -r a b c r m rest; do [ "$m" != "$points/"${point} ] || return 0; done </proc/self/mountinfo; return 1; }
runs_alive() ( for d in "$base/${RUNS}"/*; do [ -s "$d/exit" ] || ! alive || exit 0; done; exit 1 )
used=$base/${RUNS}/.used last= idle=0
cd "$points"
[ "$code" != 0 ] || [ -f "$used" ] || : >"$used"
while [ "$code" = 0 ] && is_mounted; do
  now=
  read -r now <"$used"
  if [ "$now" != "$last" ] || runs_alive; then idle=0; else idle=$((idle + 1)); fi
  last=$now
  [ "$idle" -lt ${MAX_IDLE} ] || { umount -i -c ./${point} || umount -l -i -c ./${point}; break; } 2>/dev/null
  nap ${LOOK}
done`
}
