import { posix } from 'node:path'

/** Device nodes other than disks. */
const OTHER_NODES = /^\/dev\/(null|zero|full|u?random|tty|stdin|stdout|stderr|fd\/\d+|pts\/\d+|shm\/.*)$/

/** Options of coreos-installer whose value is neither a disk nor a file to write. */
const VALUES = new Set(
  [
    'append-karg',
    'delete-karg',
    'console',
    'platform',
    'stream',
    'architecture',
    'ignition-hash',
    'image-url',
    'ignition-url',
    'stream-base-url',
    'fetch-retries',
    'save-partlabel',
    'save-partindex',
    'image-file',
    'ignition-file',
    'config-file',
    'network-dir',
  ].map((name) => `--${name}`),
)
const SGDISK_VALUE_OPTIONS = /^-[sapuIifc]$/

/** Words of a command that may name a device or file to change, without the values of other options. */
function operandWords(argv: readonly string[]): string[] {
  const words = argv.slice(1)
  if (argv[0] !== 'coreos-installer') return words
  const operands: string[] = []
  for (let n = 0; n < words.length; n++) {
    const word = words[n]!
    const [option = ''] = word.split('=', 1)
    if (VALUES.has(option)) n += word.includes('=') ? 0 : 1
    else if (SGDISK_VALUE_OPTIONS.test(word)) n++
    else operands.push(word)
  }
  return operands
}

/** Devices named anywhere in a command line, as in `of=/dev/sda` and `--filename=/dev/sda:/dev/sdb`. */
export function devicesIn(argv: readonly string[]): string[] {
  const found = operandWords(argv).flatMap((word) =>
    [...word.matchAll(/(?:^|[^\w./-])\/?(dev\/[^\s,;:='"|&<>()]+)|(\/dev\/[^\s,;:='"|&<>()]+)/g)].map(
      ([, relative, absolute]) => absolute ?? `/${relative}`,
    ),
  )
  return [...new Set(found.map((path) => posix.normalize(path)))].filter((path) => !OTHER_NODES.test(path))
}

/**
 * Files named in a command line, without devices. Relative ones start at the root folder, where commands run. Links are
 * followed later, on the target.
 */
export function pathsIn(argv: readonly string[]): string[] {
  const program = argv[0]
  const found = operandWords(argv).flatMap((word) => {
    if (program === 'dd') return /^of=(.*)$/.exec(word)?.[1] ?? []
    if (word.startsWith('-')) {
      const at = word.indexOf('/')
      return at < 0 ? [] : word.slice(at)
    }
    // Modes and owners, which come before the files.
    if (['chmod', 'chown', 'truncate'].includes(program ?? '') && !word.includes('/')) return []
    return word
  })
  return [...new Set(found.filter((word) => word !== '').map((path) => posix.normalize(posix.join('/', path))))].filter(
    (path) => !path.startsWith('/dev/'),
  )
}

export const isBelow = (path: string, folder: string): boolean =>
  posix.normalize(path) === folder || posix.normalize(path).startsWith(`${folder}/`)
