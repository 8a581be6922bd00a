import { UserError, defined, type ConfigFile } from '../base/runtime/index.js'
import type { ClientTls } from '../base/wire/index.js'
import type { CertificateCurve } from './http/agent-certificate.js'
import { readOptions } from './ipa-options.js'
import type { AgentConfig } from './agent-phases.js'
import { ERRORS } from './errors.js'

/** All settings of an agent from its kernel parameters and files, as its parts need them. */
export interface AgentSettings extends AgentConfig {
  readonly collectors: readonly string[]
  /** Milliseconds. */
  readonly lldpTimeout: number
  /** Listens for LLDP frames before it reads the interfaces, whose `lldp` they become. */
  readonly collectsLldp: boolean
  /** Milliseconds to wait before the start. */
  readonly startDelay: number
  /** Request id, sent with every call to Ironic. */
  readonly requestId: string | null
  readonly ignoreBootloaderFailure: boolean
  readonly md5: boolean
  /** `disable_bootc_deploy` */
  readonly refusesContainers: boolean
  /** `ironic_api_version`; when set, Ironic is not asked for its version. */
  readonly ironicVersion: string | null
  /** Address to listen on, and the advertised one when it differs; null means not configured. */
  readonly listen: { host: string | null; port: number | null }
  readonly advertise: { host: string | null; port: number | null; protocol: 'http' | 'https' | null }
  /** Interface whose IPv4 address is advertised when {@link advertise} has no host. */
  readonly networkInterface: string | null
  readonly server: ServerTls
  readonly client: { insecure: boolean; caFile: string | null; certFile: string | null; keyFile: string | null }
  /** Milliseconds. */
  readonly requestTimeout: number
  /** Parameters that are not options of ironic-python-agent. */
  readonly unknown: readonly string[]
}

export interface ServerTls {
  /** Certificate and key files; when set, TLS is always on. */
  readonly files: { certificate: string; key: string } | null
  /** Makes its own certificate, when Ironic accepts it. */
  readonly auto: boolean
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly ciphers: string | null
  readonly curve: CertificateCurve
}

/**
 * Reads the settings of an agent from kernel parameters and configuration files (ironic-python-agent 13.0.0 config.py
 * cli_opts). A callback URL requests inspection, and so does a list of collectors together with an API URL. Ironic
 * boots machines for inspection only with a callback URL alone.
 *
 * @throws UserError for values that cannot be used, and without any URL unless the agent is standalone
 */
export function readAgentSettings(
  parameters: Readonly<Record<string, string>>,
  { files = [], standalone }: { files?: readonly ConfigFile[]; standalone?: { token: string } | undefined } = {},
): AgentSettings {
  const { values, unknown } = readOptions(parameters, files)
  const apiUrls = standalone ? [] : values.api_url
  const callbacks = standalone ? [] : values.inspection_callback_url
  if (apiUrls.length === 0 && callbacks.length === 0 && !standalone)
    throw new UserError('agent-api-url', 'the agent was started without ipa-api-url, so it cannot find its Ironic', {
      remedy: ERRORS['agent-api-url'].remedy,
    })
  const collectors = values.inspection_collectors
  const fromApi = collectors.length > 0 ? apiUrls.map((url) => `${url}/v1/continue_inspection`) : []
  return shareSettings({
    apiUrls,
    inspectionUrls: callbacks.length > 0 ? callbacks : fromApi,
    collectors: collectors.length > 0 ? collectors : ['default', 'logs'],
    lldpTimeout: values.lldp_timeout * 1000,
    collectsLldp: values.collect_lldp,
    lookupTimeout: values.lookup_timeout * 1000,
    lookupInterval: values.lookup_interval * 1000,
    agentToken: standalone?.token ?? values.agent_token,
    startDelay: values.hardware_initialization_delay * 1000,
    requestId: values.global_request_id,
    ignoreBootloaderFailure: values.ignore_bootloader_failure,
    md5: values.md5_enabled,
    refusesContainers: values.disable_bootc_deploy,
    ironicVersion: values.ironic_api_version,
    listen: { host: values.listen_host, port: values.listen_port },
    advertise: { host: values.advertise_host, port: values.advertise_port, protocol: values.advertise_protocol },
    networkInterface: values.network_interface,
    server: {
      files: values.listen_tls ? certificateFiles(values) : null,
      auto: values.enable_auto_tls && !values.listen_tls,
      minVersion: `TLSv${values.tls_min_version}`,
      ciphers: values.tls_cipher_suites,
      curve: values.tls_certificate_curve,
    },
    client: {
      insecure: values.insecure,
      caFile: values.cafile,
      certFile: values.certfile,
      keyFile: values.keyfile,
    },
    requestTimeout: values.http_request_timeout * 1000,
    unknown,
  })
}

let latest: { text: string; settings: AgentSettings } | undefined

/** Settings are the same for most agents of a fleet, which then have one object. */
function shareSettings(settings: AgentSettings): AgentSettings {
  const text = JSON.stringify(settings)
  if (latest?.text !== text) latest = { text, settings }
  return latest.settings
}

function certificateFiles(values: { tls_cert_file: string | null; tls_key_file: string | null }) {
  const { tls_cert_file: certificate, tls_key_file: key } = values
  if (certificate !== null && key !== null) return { certificate, key }
  throw new UserError('agent-parameter', 'the agent was started with listen_tls and without a certificate', {
    remedy:
      'give tls_cert_file and tls_key_file too, or leave out listen_tls: the agent then creates its own certificate',
  })
}

/**
 * TLS settings of an agent's transport to Ironic.
 *
 * @param read reads the text of a file
 */
export async function clientTls(
  { client }: Pick<AgentSettings, 'client'>,
  read: (path: string) => Promise<string>,
): Promise<ClientTls> {
  const { insecure, caFile, certFile, keyFile } = client
  return {
    insecure,
    ...defined({
      ca: caFile === null ? undefined : await read(caFile),
      identity:
        certFile === null || keyFile === null
          ? undefined
          : { certificate: await read(certFile), key: await read(keyFile) },
    }),
  }
}
