import type { OptionSpec } from './clap.js'
import { checkConsole, normalConsole } from '../../../../coreos/index.js'
import { checkDigest, checkRetries, checkUrl, normalUrl } from './option-values.js'

/** coreos-installer 0.27.0's install options, in its own order, which usage lines and config files follow. */
export const INSTALL_OPTIONS = [
  { long: 'config-file', short: 'c', kind: 'list', placeholder: 'path' },
  { long: 'stream', short: 's', kind: 'value', placeholder: 'name' },
  { long: 'image-url', short: 'u', kind: 'value', placeholder: 'URL', check: checkUrl, normal: normalUrl },
  { long: 'image-file', short: 'f', kind: 'value', placeholder: 'path' },
  { long: 'ignition-file', short: 'i', alias: 'ignition', kind: 'value', placeholder: 'path' },
  { long: 'ignition-url', short: 'I', kind: 'value', placeholder: 'URL', check: checkUrl, normal: normalUrl },
  {
    long: 'ignition-hash',
    kind: 'value',
    placeholder: 'digest',
    check: checkDigest,
    normal: (digest) => digest.toLowerCase(),
  },
  { long: 'architecture', short: 'a', kind: 'value', placeholder: 'name' },
  { long: 'platform', short: 'p', kind: 'value', placeholder: 'name' },
  { long: 'console', kind: 'list', placeholder: 'spec', check: checkConsole, normal: normalConsole },
  { long: 'firstboot-args', kind: 'value', placeholder: 'args', hidden: true },
  { long: 'append-karg', kind: 'list', placeholder: 'arg' },
  { long: 'delete-karg', kind: 'list', placeholder: 'arg' },
  { long: 'copy-network', short: 'n', kind: 'flag' },
  { long: 'network-dir', kind: 'value', placeholder: 'path' },
  { long: 'save-partlabel', kind: 'list', placeholder: 'lx' },
  { long: 'save-partindex', kind: 'list', placeholder: 'id', greedy: true },
  { long: 'offline', kind: 'flag' },
  { long: 'insecure', kind: 'flag' },
  { long: 'insecure-ignition', kind: 'flag' },
  { long: 'stream-base-url', kind: 'value', placeholder: 'URL', check: checkUrl, normal: normalUrl },
  { long: 'preserve-on-error', kind: 'flag' },
  { long: 'fetch-retries', kind: 'value', placeholder: 'N', check: checkRetries },
  { long: 'secure-ipl', kind: 'flag' },
] as const satisfies readonly OptionSpec[]

type InstallOption = (typeof INSTALL_OPTIONS)[number]
type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S
type InstallOptionValue<K> = K extends 'flag' ? boolean : K extends 'list' ? string[] : string | undefined

/** The options by name in camelCase: booleans for flags, arrays for lists, optional strings for others. */
export type InstallOptions = { [S in InstallOption as Camel<S['long']>]: InstallOptionValue<S['kind']> } & {
  destDevice: string | undefined
}

/** Pairs that exclude each other. */
export const CONFLICTS: readonly (readonly [string, string])[] = [
  ['stream', 'image-url'],
  ['stream', 'image-file'],
  ['image-url', 'image-file'],
  ['ignition-file', 'ignition-url'],
]

/** Default values. */
export const INSTALL_DEFAULTS: Readonly<Record<string, string>> = {
  architecture: 'x86_64',
  'network-dir': '/etc/NetworkManager/system-connections/',
  'fetch-retries': '0',
}
