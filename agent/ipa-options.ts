import {
  amountSetting,
  anyText,
  patternSetting as matchingText,
  choiceSetting,
  parseIni,
  portNumber,
  readSetting,
  UserError,
  wordList,
  yesOrNo,
  type ConfigFile,
  type SettingParser,
} from '../base/runtime/index.js'
import { CURVES, type CertificateCurve } from './http/agent-certificate.js'

interface AgentOptionShape<T> extends SettingParser<T> {
  readonly fallback: T
  /** True if the option exists only in configuration files. */
  readonly fileOnly?: boolean
}

const textOption = (): AgentOptionShape<string | null> => ({ fallback: null, ...anyText })
const flagOption = (fallback: boolean): AgentOptionShape<boolean> => ({
  fallback,
  // A kernel parameter without a value is a switch.
  read: (raw) => raw === '' || yesOrNo.read(raw),
})
const seconds = (fallback: number): AgentOptionShape<number> => ({
  fallback,
  ...amountSetting(`a number of seconds (default ${fallback})`, { whole: false }),
})
const times = (fallback: number): AgentOptionShape<number> => ({
  fallback,
  ...amountSetting(`a whole number (default ${fallback})`),
})
/** An option that is null when it is not set, where IPA has a default. */
const ifChosen = <T>(setting: SettingParser<T>): AgentOptionShape<T | null> => ({ fallback: null, ...setting })
const wordsOption = (): AgentOptionShape<readonly string[]> => ({ fallback: [], ...wordList })
const urls = (): AgentOptionShape<readonly string[]> => ({
  fallback: [],
  read: (raw) =>
    wordsOption()
      .read(raw)
      .map((url) => {
        if (url.startsWith('mdns')) throw 'http(s) URLs: this agent does not discover Ironic by multicast DNS'
        if (!/^https?:\/\/./.test(url)) throw 'one or more http(s) URLs, for example http://192.0.2.1:6385'
        return url.replace(/\/+$/, '')
      }),
})
const choiceOption = <T extends string>(fallback: T, ...values: T[]): AgentOptionShape<T> => ({
  fallback,
  ...choiceSetting(...values),
})
const inFile = <T>(shape: AgentOptionShape<T>): AgentOptionShape<T> => ({ ...shape, fileOnly: true })
const patternOption = (pattern: RegExp, expected: string): AgentOptionShape<string | null> => ({
  fallback: null,
  ...matchingText(pattern, expected),
})

/**
 * Options of ironic-python-agent with its defaults. Kernel parameters have the prefix `ipa-` and dashes. Times are in
 * seconds. Those of the last group are checked but have no effect, since this agent does not do their work: the live
 * system's network, waiting for disks, container engines.
 */
export const IPA_OPTIONS = {
  api_url: urls(),
  agent_token: textOption(),
  inspection_callback_url: urls(),
  inspection_collectors: wordsOption(),
  listen_host: textOption(),
  listen_port: ifChosen(portNumber),
  advertise_host: textOption(),
  advertise_port: ifChosen(portNumber),
  advertise_protocol: ifChosen(choiceSetting('http', 'https')),
  lookup_timeout: seconds(600),
  lookup_interval: seconds(1),
  insecure: flagOption(false),
  global_request_id: patternOption(/^req-[0-9a-f-]{36}$/i, 'an id like req-UUID'),
  ironic_api_version: patternOption(/^1\.\d+$/, 'a microversion like 1.68'),
  hardware_initialization_delay: seconds(0),
  lldp_timeout: seconds(30),
  collect_lldp: flagOption(false),
  network_interface: textOption(),
  http_request_timeout: seconds(30),
  ignore_bootloader_failure: flagOption(false),
  tls_min_version: choiceOption('1.2', '1.2', '1.3'),
  tls_cipher_suites: textOption(),
  tls_certificate_curve: choiceOption<CertificateCurve>('p384', ...(Object.keys(CURVES) as CertificateCurve[])),
  listen_tls: inFile(flagOption(false)),
  tls_cert_file: inFile(textOption()),
  tls_key_file: inFile(textOption()),
  enable_auto_tls: inFile(flagOption(true)),
  cafile: inFile(textOption()),
  certfile: inFile(textOption()),
  keyfile: inFile(textOption()),

  inspection_benchmarks: wordsOption(),
  inspection_dhcp_wait_timeout: seconds(60),
  inspection_dhcp_all_interfaces: flagOption(false),
  ip_lookup_attempts: times(6),
  ip_lookup_timeout: seconds(10),
  debug: flagOption(false),
  ntp_server: textOption(),
  enable_vlan_interfaces: textOption(),
  disk_wait_attempts: times(10),
  disk_wait_delay: seconds(3),
  image_download_connection_timeout: seconds(60),
  image_download_connection_retries: times(9),
  image_download_connection_retry_interval: seconds(10),
  image_download_max_duration: seconds(0),
  inject_files_priority: times(0),
  guard_special_filesystems: flagOption(true),
  use_mdns: flagOption(false),
  md5_enabled: inFile(flagOption(false)),
  enable_discard_erase: flagOption(false),
  ip_lookup_sleep: inFile(seconds(10)),
  auto_tls_allowed_clock_skew: inFile(seconds(3600)),
  introspection_daemon: inFile(flagOption(false)),
  introspection_daemon_post_interval: inFile(seconds(300)),
  fail_if_clock_not_set: inFile(flagOption(false)),
  config_drive_rebuild: inFile(flagOption(false)),
  disable_deep_image_inspection: inFile(flagOption(false)),
  permitted_image_formats: inFile(wordsOption()),
  disable_bootc_deploy: inFile(flagOption(false)),
  enable_bios_bootloader_install: inFile(flagOption(false)),
} as const satisfies Record<string, AgentOptionShape<unknown>>

type AgentOptionName = keyof typeof IPA_OPTIONS
export type OptionValues = { [N in AgentOptionName]: ReturnType<(typeof IPA_OPTIONS)[N]['read']> }

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
  const settings = new Map<AgentOptionName, { as: string; text: string }>()
  const isOption = (name: string): name is AgentOptionName => Object.hasOwn(IPA_OPTIONS, name)
  for (const [parameter, value] of Object.entries(parameters)) {
    if (!parameter.startsWith('ipa-')) continue
    const name = parameter.slice(4).replaceAll('-', '_')
    if (!isOption(name) || (IPA_OPTIONS[name] as AgentOptionShape<unknown>).fileOnly) unknown.push(parameter)
    else settings.set(name, { as: `${parameter}=${value}`, text: value })
  }
  for (const file of files)
    for (const [name, value] of parseIni(file, INI).get('DEFAULT') ?? []) {
      if (isOption(name)) settings.set(name, { as: `${name} = ${value} in ${file.name}`, text: value })
      else if (!ELSEWHERE.test(name)) unknown.push(`${name} in ${file.name}`)
    }
  const values = Object.fromEntries(
    Object.entries(IPA_OPTIONS).map(([name, shape]: [string, AgentOptionShape<unknown>]) => {
      const found = settings.get(name as AgentOptionName)
      return [name, found ? readOption(shape, found) : shape.fallback]
    }),
  ) as OptionValues
  return { values, unknown }
}

const INI = { code: 'agent-config-file' as const, example: 'api_url = http://192.0.2.1:6385' }

function readOption<T>(shape: AgentOptionShape<T>, { as, text }: { as: string; text: string }): T {
  const outcome = readSetting(shape, text)
  if ('value' in outcome) return outcome.value
  throw new UserError('agent-parameter', `the agent was started with ${as}, which it cannot use`, {
    remedy: `give ${outcome.expected}, or leave it out`,
  })
}
