import { posix } from 'node:path'

/** Nodes that are no disks. */
const NO_DISKS = /^\/dev\/(null|zero|full|u?random|tty|stdin|stdout|stderr|fd\/\d+|pts\/\d+|shm\/.*)$/

/** Options of coreos-installer whose value is neither a disk nor a file that it writes. */
const VALUES = new Set(
  [
    ...['append-karg', 'delete-karg', 'console', 'platform', 'stream', 'architecture', 'ignition-hash', 'image-url'],
    ...['ignition-url', 'stream-base-url', 'fetch-retries', 'save-partlabel', 'save-partindex', 'image-file'],
    ...['ignition-file', 'config-file', 'network-dir'],
  ].map((name) => `--${name}`),
)
const SHORT_VALUES = /^-[sapuIifc]$/

/** The words of a command that may name something which it changes; values that mean something else are left out. */
function operandWords(argv: readonly string[]): string[] {
  const words = argv.slice(1)
  if (argv[0] !== 'coreos-installer') return words
  const kept: string[] = []
  for (let n = 0; n < words.length; n++) {
    const word = words[n]!
    const [option = ''] = word.split('=', 1)
    if (VALUES.has(option)) n += word.includes('=') ? 0 : 1
    else if (SHORT_VALUES.test(word)) n++
    else kept.push(word)
  }
  return kept
}

/** Every device that is mentioned anywhere, as in `of=/dev/sda` and `--filename=/dev/sda:/dev/sdb`. */
export function devicesIn(argv: readonly string[]): string[] {
  const found = operandWords(argv).flatMap((word) =>
    [...word.matchAll(/(?:^|[^\w./-])\/?(dev\/[^\s,;:='"|&<>()]+)|(\/dev\/[^\s,;:='"|&<>()]+)/g)].map(
      ([, relative, absolute]) => absolute ?? `/${relative}`,
    ),
  )
  return [...new Set(found.map((path) => posix.normalize(path)))].filter((path) => !NO_DISKS.test(path))
}

/**
 * The files that are mentioned, devices apart: relative ones are of the root folder, where commands are run. Where links
 * lead is looked at on the target.
 */
export function pathsIn(argv: readonly string[]): string[] {
  const program = argv[0]
  const found = operandWords(argv).flatMap((word) => {
    if (program === 'dd') return /^of=(.*)$/.exec(word)?.[1] ?? []
    if (word.startsWith('-')) {
      const at = word.indexOf('/')
      return at < 0 ? [] : word.slice(at)
    }
    // Modes and owners, as chmod and chown have them before their files.
    if (['chmod', 'chown', 'truncate'].includes(program ?? '') && !word.includes('/')) return []
    return word
  })
  return [...new Set(found.filter((word) => word !== '').map((path) => posix.normalize(posix.join('/', path))))].filter(
    (path) => !path.startsWith('/dev/'),
  )
}

export const isBelow = (path: string, folder: string): boolean =>
  posix.normalize(path) === folder || posix.normalize(path).startsWith(`${folder}/`)
