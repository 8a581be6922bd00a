import {
  amount,
  anyText,
  matching as matchingText,
  oneOf,
  parseIni,
  portNumber,
  readSetting,
  UserError,
  wordList,
  yesOrNo,
  type ConfigFile,
  type Setting,
} from '../runtime/index.js'
import { CURVES, type CertificateCurve } from './http/certificate.js'

interface OptionShape<T> extends Setting<T> {
  readonly fallback: T
  /** Whether the option exists only in configuration files. */
  readonly fileOnly?: boolean
}

const text = (): OptionShape<string | null> => ({ fallback: null, ...anyText })
const flag = (fallback: boolean): OptionShape<boolean> => ({
  fallback,
  // A kernel parameter without a value is a switch.
  read: (raw) => raw === '' || yesOrNo.read(raw),
})
const seconds = (fallback: number): OptionShape<number> => ({
  fallback,
  ...amount(`a number of seconds (default ${fallback})`, { whole: false }),
})
const times = (fallback: number): OptionShape<number> => ({
  fallback,
  ...amount(`a whole number (default ${fallback})`),
})
/** An option that is null when it is not set, where IPA has a default. */
const ifChosen = <T>(setting: Setting<T>): OptionShape<T | null> => ({ fallback: null, ...setting })
const words = (): OptionShape<readonly string[]> => ({ fallback: [], ...wordList })
const urls = (): OptionShape<readonly string[]> => ({
  fallback: [],
  read: (raw) =>
    words()
      .read(raw)
      .map((url) => {
        if (url.startsWith('mdns')) throw 'http(s) URLs: this agent does not look for its Ironic by multicast DNS'
        if (!/^https?:\/\/./.test(url)) throw 'one or more http(s) URLs, for example http://192.0.2.1:6385'
        return url.replace(/\/+$/, '')
      }),
})
const choice = <T extends string>(fallback: T, ...values: T[]): OptionShape<T> => ({ fallback, ...oneOf(...values) })
const inFile = <T>(shape: OptionShape<T>): OptionShape<T> => ({ ...shape, fileOnly: true })
const matching = (pattern: RegExp, expected: string): OptionShape<string | null> => ({
  fallback: null,
  ...matchingText(pattern, expected),
})

/**
 * Options of ironic-python-agent with its defaults. Kernel parameters have the prefix `ipa-` and dashes. Times are in
 * seconds. Those of the last group are checked but have no effect, since this agent does not do their work: the live
 * system's network, waiting for disks, container engines.
 */
export const OPTIONS = {
  api_url: urls(),
  agent_token: text(),
  inspection_callback_url: urls(),
  inspection_collectors: words(),
  listen_host: text(),
  listen_port: ifChosen(portNumber),
  advertise_host: text(),
  advertise_port: ifChosen(portNumber),
  advertise_protocol: ifChosen(oneOf('http', 'https')),
  lookup_timeout: seconds(600),
  lookup_interval: seconds(1),
  insecure: flag(false),
  global_request_id: matching(/^req-[0-9a-f-]{36}$/i, 'an id like req-UUID'),
  ironic_api_version: matching(/^1\.\d+$/, 'a microversion like 1.68'),
  hardware_initialization_delay: seconds(0),
  lldp_timeout: seconds(30),
  network_interface: text(),
  http_request_timeout: seconds(30),
  ignore_bootloader_failure: flag(false),
  tls_min_version: choice('1.2', '1.2', '1.3'),
  tls_cipher_suites: text(),
  tls_certificate_curve: choice<CertificateCurve>('p384', ...(Object.keys(CURVES) as CertificateCurve[])),
  listen_tls: inFile(flag(false)),
  tls_cert_file: inFile(text()),
  tls_key_file: inFile(text()),
  enable_auto_tls: inFile(flag(true)),
  cafile: inFile(text()),
  certfile: inFile(text()),
  keyfile: inFile(text()),

  inspection_benchmarks: words(),
  inspection_dhcp_wait_timeout: seconds(60),
  inspection_dhcp_all_interfaces: flag(false),
  ip_lookup_attempts: times(6),
  ip_lookup_timeout: seconds(10),
  debug: flag(false),
  ntp_server: text(),
  collect_lldp: flag(false),
  enable_vlan_interfaces: text(),
  disk_wait_attempts: times(10),
  disk_wait_delay: seconds(3),
  image_download_connection_timeout: seconds(60),
  image_download_connection_retries: times(9),
  image_download_connection_retry_interval: seconds(10),
  image_download_max_duration: seconds(0),
  inject_files_priority: times(0),
  guard_special_filesystems: flag(true),
  use_mdns: flag(false),
  md5_enabled: inFile(flag(false)),
} as const satisfies Record<string, OptionShape<unknown>>

export type OptionName = keyof typeof OPTIONS
export type OptionValues = { [N in OptionName]: ReturnType<(typeof OPTIONS)[N]['read']> }

/** Options that other parts of the ramdisk, or steps, read themselves. */
const ELSEWHERE = /^(image_server_|image_request_|log_|use_stderr$|use_syslog$|default_log_levels$)/

/**
 * Values of all options: from the last file that has it, else from the kernel parameters, else the default.
 *
 * @returns `unknown` names parameters that are not options of IPA, as they were written
 * @throws UserError `agent-parameter` for a value that an option does not take; `agent-config-file` for an unreadable
 *   file
 */
export function readOptions(
  parameters: Readonly<Record<string, string>>,
  files: readonly ConfigFile[] = [],
): { values: OptionValues; unknown: string[] } {
  const unknown: string[] = []
  const settings = new Map<OptionName, { as: string; text: string }>()
  const isOption = (name: string): name is OptionName => Object.hasOwn(OPTIONS, name)
  for (const [parameter, value] of Object.entries(parameters)) {
    if (!parameter.startsWith('ipa-')) continue
    const name = parameter.slice(4).replaceAll('-', '_')
    if (!isOption(name) || (OPTIONS[name] as OptionShape<unknown>).fileOnly) unknown.push(parameter)
    else settings.set(name, { as: `${parameter}=${value}`, text: value })
  }
  for (const file of files)
    for (const [name, value] of parseIni(file, INI).get('DEFAULT') ?? []) {
      if (isOption(name)) settings.set(name, { as: `${name} = ${value} in ${file.name}`, text: value })
      else if (!ELSEWHERE.test(name)) unknown.push(`${name} in ${file.name}`)
    }
  const values = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, shape]: [string, OptionShape<unknown>]) => {
      const found = settings.get(name as OptionName)
      return [name, found ? read(shape, found) : shape.fallback]
    }),
  ) as OptionValues
  return { values, unknown }
}

const INI = { code: 'agent-config-file' as const, example: 'api_url = http://192.0.2.1:6385' }

function read<T>(shape: OptionShape<T>, { as, text }: { as: string; text: string }): T {
  const outcome = readSetting(shape, text)
  if ('value' in outcome) return outcome.value
  throw new UserError('agent-parameter', `the agent was started with ${as}, which it cannot use`, {
    remedy: `give ${outcome.expected}, or leave it out`,
  })
}
