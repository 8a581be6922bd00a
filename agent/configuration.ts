import { UserError, type ConfigFile } from '../runtime/index.js'
import type { ClientTls } from '../wire/index.js'
import type { CertificateCurve } from './http/certificate.js'
import { readOptions } from './options.js'
import type { AgentConfig } from './state.js'

/** Everything that an agent's ramdisk tells it, as its parts need it. */
export interface AgentSettings extends AgentConfig {
  readonly collectors: readonly string[]
  /** Milliseconds. */
  readonly lldpTimeout: number
  /** Milliseconds before anything is done. */
  readonly startDelay: number
  /** Sent along with every call to Ironic. */
  readonly requestId: string | null
  readonly ignoreBootloaderFailure: boolean
  readonly md5: boolean
  /** `ironic_api_version`: Ironic's own is then not asked for. */
  readonly ironicVersion: string | null
  /** Where to listen, and how Ironic gets there if that is not the same; null where nobody has chosen. */
  readonly listen: { host: string | null; port: number | null }
  readonly advertise: { host: string | null; port: number | null; protocol: 'http' | 'https' | null }
  /** Whose IPv4 address to advertise where {@link advertise} has no host. */
  readonly networkInterface: string | null
  readonly server: ServerTls
  readonly client: { insecure: boolean; caFile: string | null; certFile: string | null; keyFile: string | null }
  /** Milliseconds. */
  readonly requestTimeout: number
  /** What was given and is none of ironic-python-agent's options. */
  readonly unknown: readonly string[]
}

export interface ServerTls {
  /** With the certificate of these files, always. */
  readonly files: { certificate: string; key: string } | null
  /** With a certificate of its own, when Ironic can make use of it. */
  readonly auto: boolean
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly ciphers: string | null
  readonly curve: CertificateCurve
}

/**
 * What kernel parameters and configuration files make of the agent (IPA's source). Inspection is asked
 * for by a callback URL, or by a list of collectors together with an API URL. Ironic boots machines that it only inspects
 * with a callback URL alone.
 *
 * @throws UserError for values that cannot be used, and without any URL unless the agent is standalone
 */
export function readSettings(
  parameters: Readonly<Record<string, string>>,
  { files = [], standalone }: { files?: readonly ConfigFile[]; standalone?: { token: string } | undefined } = {},
): AgentSettings {
  const { values, unknown } = readOptions(parameters, files)
  const apiUrls = standalone ? [] : values.api_url
  const callbacks = standalone ? [] : values.inspection_callback_url
  if (apiUrls.length === 0 && callbacks.length === 0 && !standalone)
    throw new UserError('agent-api-url', 'the agent was started without ipa-api-url, so it cannot find its Ironic', {
      remedy: 'give the ramdisk the kernel parameter ipa-api-url=http://HOST:6385',
    })
  const collectors = values.inspection_collectors
  const fromApi = collectors.length > 0 ? apiUrls.map((url) => `${url}/v1/continue_inspection`) : []
  return {
    apiUrls,
    inspectionUrls: callbacks.length > 0 ? callbacks : fromApi,
    collectors: collectors.length > 0 ? collectors : ['default', 'logs'],
    lldpTimeout: values.lldp_timeout * 1000,
    lookupTimeout: values.lookup_timeout * 1000,
    lookupInterval: values.lookup_interval * 1000,
    agentToken: standalone?.token ?? values.agent_token,
    startDelay: values.hardware_initialization_delay * 1000,
    requestId: values.global_request_id,
    ignoreBootloaderFailure: values.ignore_bootloader_failure,
    md5: values.md5_enabled,
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
  }
}

function certificateFiles(values: { tls_cert_file: string | null; tls_key_file: string | null }) {
  const { tls_cert_file: certificate, tls_key_file: key } = values
  if (certificate !== null && key !== null) return { certificate, key }
  throw new UserError('agent-parameter', 'the agent was started with listen_tls and without a certificate', {
    remedy:
      'give tls_cert_file and tls_key_file too, or leave listen_tls out: the agent then makes a certificate itself',
  })
}

/**
 * How far an agent's own transport believes its Ironic.
 *
 * @param read gives the text of a file
 */
export async function clientTls(
  { client }: Pick<AgentSettings, 'client'>,
  read: (path: string) => Promise<string>,
): Promise<ClientTls> {
  const { insecure, caFile, certFile, keyFile } = client
  return {
    insecure,
    ...(caFile === null ? {} : { ca: await read(caFile) }),
    ...(certFile === null || keyFile === null
      ? {}
      : { identity: { certificate: await read(certFile), key: await read(keyFile) } }),
  }
}
