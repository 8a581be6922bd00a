/** A bind mount: a file or folder of the host at a path in the container. */
interface Mount {
  source: string
  target: string
}

/** The parts of a `podman run` or `podman pull` command that decide how the agent runs. */
export interface PodmanCommand {
  verb: 'run' | 'pull'
  /** Image name as in the command. */
  image: string
  /** Words after the image: arguments of the program in it. */
  arguments: string[]
  name: string | null
  authFile: string | null
  tlsVerify: boolean
  /** podman never looks for the image in a registry. */
  neverPulls: boolean
  mounts: Mount[]
  /** Null stands for the value in podman's own environment. */
  environment: Record<string, string | null>
  /** Files of `NAME=value` lines on the host. */
  environmentFiles: string[]
}

/** Options of `podman run` and `pull` that take no value, or one only after `=`. */
const SWITCHES = new Set([
  'all-tags',
  'detach',
  'disable-content-trust',
  'env-host',
  'help',
  'http-proxy',
  'init',
  'interactive',
  'no-healthcheck',
  'no-hostname',
  'no-hosts',
  'oom-kill-disable',
  'passwd',
  'privileged',
  'publish-all',
  'quiet',
  'read-only',
  'read-only-tmpfs',
  'replace',
  'rm',
  'rmi',
  'rootfs',
  'sig-proxy',
  'tls-verify',
  'tty',
  'unsetenv-all',
])

const PODMAN_SHORT_OPTIONS: Readonly<Record<string, string>> = {
  a: 'attach',
  c: 'cpu-shares',
  d: 'detach',
  e: 'env',
  h: 'hostname',
  i: 'interactive',
  l: 'label',
  m: 'memory',
  P: 'publish-all',
  p: 'publish',
  q: 'quiet',
  t: 'tty',
  u: 'user',
  v: 'volume',
  w: 'workdir',
}

/** Parses a command line. Returns undefined for any other command, and for one without an image. */
export function podmanCommand(words: readonly string[]): PodmanCommand | undefined {
  const [program = '', ...rest] = words
  if (program.split('/').at(-1) !== 'podman') return undefined
  const at = rest.findIndex((word) => word === 'run' || word === 'pull')
  // Only podman's own options come between podman and its verb.
  if (at < 0 || (rest[0] === 'container' || rest[0] === 'image' ? at !== 1 : !rest.slice(0, at).every(isOption)))
    return undefined
  const { options, words: images } = readOptions(rest.slice(at + 1), rest[at] === 'pull')
  const [image, ...after] = images
  if (image === undefined) return undefined
  const of = (name: string): string[] => options.flatMap((option) => (option.name === name ? [option.value] : []))
  return {
    verb: rest[at] as 'run' | 'pull',
    image,
    arguments: after,
    name: of('name').at(-1) ?? null,
    authFile: of('authfile').at(-1) ?? null,
    tlsVerify: of('tls-verify').at(-1) !== 'false',
    neverPulls: of('pull').at(-1) === 'never',
    mounts: [...of('mount').flatMap(mountOption), ...of('volume').flatMap(volumeOption)],
    environment: Object.fromEntries(of('env').map((text) => (text.includes('=') ? pair(text) : [text, null]))),
    environmentFiles: of('env-file'),
  }
}

const isOption = (word: string): boolean => word.startsWith('-')

interface PodmanOption {
  name: string
  value: string
}

/** @param anywhere whether options may also come after the first word, as in `podman pull` */
function readOptions(args: readonly string[], anywhere: boolean): { options: PodmanOption[]; words: string[] } {
  const options: PodmanOption[] = []
  const words: string[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!
    if (word === '--' && (anywhere || words.length === 0)) return { options, words: [...words, ...args.slice(at + 1)] }
    if ((words.length > 0 && !anywhere) || !isOption(word) || word === '-') words.push(word)
    else if (word.startsWith('--')) {
      const [, name = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? []
      options.push({ name, value: value ?? (SWITCHES.has(name) ? 'true' : (args[++at] ?? '')) })
    } else at += shortOptions(word.slice(1), args[at + 1], options)
  }
  return { options, words }
}

/** Parses `-dit`, `-eA=b` and `-e A=b`. Returns how many of the following words it used. */
function shortOptions(letters: string, next: string | undefined, options: PodmanOption[]): 0 | 1 {
  for (const [index, letter] of [...letters].entries()) {
    const name = PODMAN_SHORT_OPTIONS[letter] ?? letter
    if (SWITCHES.has(name)) {
      options.push({ name, value: 'true' })
      continue
    }
    const value = letters.slice(index + 1).replace(/^=/, '')
    options.push({ name, value: value === '' ? (next ?? '') : value })
    return value === '' ? 1 : 0
  }
  return 0
}

function mountOption(text: string): Mount[] {
  const fields = new Map(text.split(',').map((field) => pair(field)))
  const source = fields.get('src') ?? fields.get('source')
  const target = fields.get('dst') ?? fields.get('destination') ?? fields.get('target')
  return fields.get('type') === 'bind' && source !== undefined && target !== undefined ? [{ source, target }] : []
}

/** Parses `HOST:CONTAINER[:OPTIONS]`. A source that is not a path is a named volume, no mount of the host. */
function volumeOption(text: string): Mount[] {
  const [source = '', target] = text.split(':')
  return source.startsWith('/') && target !== undefined ? [{ source, target }] : []
}

function pair(text: string): [string, string] {
  const equals = text.indexOf('=')
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)]
}

/** `registry.example/team/ironic-agent:tag@sha256:...` → `ironic-agent` */
export const imageName = (reference: string): string => reference.split('@')[0]!.split('/').at(-1)!.split(':')[0]!
