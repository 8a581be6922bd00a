/** What an option takes and where its value goes. */
export type OptionSpec = {
  long: string
  short?: string
  /** `hidden`: not in usage lines. */
  hidden?: boolean
} & ({ kind: 'flag' } | { kind: 'value' | 'list'; placeholder: string; check?: (value: string) => string | undefined })

/** coreos-installer 0.27.0's install options, in its own order, which usage lines and config files follow. */
export const INSTALL_OPTIONS = [
  { long: 'config-file', short: 'c', kind: 'list', placeholder: 'path' },
  { long: 'stream', short: 's', kind: 'value', placeholder: 'name' },
  { long: 'image-url', short: 'u', kind: 'value', placeholder: 'URL', check: checkUrl },
  { long: 'image-file', short: 'f', kind: 'value', placeholder: 'path' },
  { long: 'ignition-file', short: 'i', kind: 'value', placeholder: 'path' },
  { long: 'ignition-url', short: 'I', kind: 'value', placeholder: 'URL', check: checkUrl },
  { long: 'ignition-hash', kind: 'value', placeholder: 'digest', check: checkDigest },
  { long: 'architecture', short: 'a', kind: 'value', placeholder: 'name' },
  { long: 'platform', short: 'p', kind: 'value', placeholder: 'name' },
  { long: 'console', kind: 'list', placeholder: 'spec', check: checkConsole },
  { long: 'firstboot-args', kind: 'value', placeholder: 'args', hidden: true },
  { long: 'append-karg', kind: 'list', placeholder: 'arg' },
  { long: 'delete-karg', kind: 'list', placeholder: 'arg' },
  { long: 'copy-network', short: 'n', kind: 'flag' },
  { long: 'network-dir', kind: 'value', placeholder: 'path' },
  { long: 'save-partlabel', kind: 'list', placeholder: 'lx' },
  { long: 'save-partindex', kind: 'list', placeholder: 'id' },
  { long: 'offline', kind: 'flag' },
  { long: 'insecure', kind: 'flag' },
  { long: 'insecure-ignition', kind: 'flag' },
  { long: 'stream-base-url', kind: 'value', placeholder: 'URL', check: checkUrl },
  { long: 'preserve-on-error', kind: 'flag' },
  { long: 'fetch-retries', kind: 'value', placeholder: 'N', check: checkRetries },
  { long: 'secure-ipl', kind: 'flag' },
] as const satisfies readonly OptionSpec[]

type Spec = (typeof INSTALL_OPTIONS)[number]
type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type Value<K> = K extends 'flag' ? boolean : K extends 'list' ? string[] : string | undefined

/** The options by name in camelCase: flags are booleans, lists arrays, the rest strings where given. */
export type InstallOptions = { [S in Spec as Camel<S['long']>]: Value<S['kind']> } & { destDevice: string | undefined }

/** Pairs that exclude each other. */
export const CONFLICTS: readonly (readonly [string, string])[] = [
  ['stream', 'image-url'],
  ['stream', 'image-file'],
  ['image-url', 'image-file'],
  ['ignition-file', 'ignition-url'],
]

function checkUrl(value: string): string | undefined {
  return URL.canParse(value) ? undefined : 'relative URL without a base'
}

function checkDigest(value: string): string | undefined {
  const dash = value.indexOf('-')
  if (dash < 0) return 'failed to parse Ignition hash digest'
  const type = value.slice(0, dash)
  const digits = { sha256: 64, sha512: 128 }[type]
  if (digits === undefined) return `unknown hash type '${type}'`
  return /^([0-9a-f]{2})*$/i.test(value.slice(dash + 1)) && value.length - dash - 1 === digits
    ? undefined
    : 'decoding hex hash value'
}

function checkRetries(value: string): string | undefined {
  return value === 'infinite' || /^\d{1,9}$/.test(value) ? undefined : 'invalid digit found in string'
}

const GRAPHICAL = /^(tty0|hvc0|ttysclp0)$/
/** Port, speed, parity, bits. */
const SERIAL = /^(ttyS|ttyAMA)([0-9]+)(?:,([0-9]+)(?:([neo])([5-8])?)?)?$/

/** A console as the kernel's argument names it, with what GRUB needs to know of a serial one. */
export interface ConsoleSpec {
  karg: string
  grub: { kind: 'graphical' } | { kind: 'serial'; unit: number; speed: number; word: number; parity: string }
}

/** Reads `ttyS0,115200n8` and the like; missing parts are 9600n8. */
export function parseConsole(spec: string): ConsoleSpec | undefined {
  if (GRAPHICAL.test(spec)) return { karg: `console=${spec}`, grub: { kind: 'graphical' } }
  const [, port, unit, speed = '9600', parity = 'n', bits = '8'] = SERIAL.exec(spec) ?? []
  if (port === undefined) return undefined
  const name = { n: 'no', e: 'even', o: 'odd' }[parity]!
  return {
    karg: `console=${port}${unit},${speed}${parity}${bits}`,
    grub: { kind: 'serial', unit: Number(unit), speed: Number(speed), word: Number(bits), parity: name },
  }
}

function checkConsole(value: string): string | undefined {
  for (const prefix of ['console=', '/dev/'])
    if (value.startsWith(prefix)) return `spec should not start with "${prefix}"`
  return parseConsole(value) ? undefined : 'invalid or unsupported console argument'
}
