import {
  anyText,
  patternSetting,
  choiceSetting,
  portNumber,
  yesOrNo,
  type SettingParser,
} from '../../base/runtime/index.js'
import type { JsonSchema } from '../../base/wire/index.js'
import { confOption, inSeconds, wholeNumberSetting, type IronicOption } from './option.js'

/** Settings of the API service: address, access, limits. */
export interface ServiceSettings {
  /** `[DEFAULT]auth_strategy`; upstream's default, keystone, is not simulated, and counts as noauth. */
  authStrategy: 'noauth' | 'http_basic'
  /** `[DEFAULT]http_basic_auth_user_file` */
  userFile: string
  /** `[DEFAULT]host`: name of the conductor; null for one that says what it is. */
  conductorName: string | null
  /** `[conductor]heartbeat_interval`, `heartbeat_timeout`, in milliseconds; null for those of ironstage, which are shorter. */
  memberHeartbeat: number | null
  memberSilence: number | null
  /** `[api]host_ip`, `port`; null means that the command decides. */
  host: string | null
  port: number | null
  /** `[api]public_endpoint`: beginning of links, without trailing slash. */
  publicEndpoint: string | null
  /** `[api]enable_ssl_api`: serves TLS only. */
  tls: boolean
  /** `[api]cert_file`, `key_file`, or in `[ssl]`; without them, a certificate is made. */
  certFile: string | null
  keyFile: string | null
  /** `[api]server_tls_minimum_version` */
  tlsMinimum: '1.2' | '1.3'
  /** `[api]server_tls_ciphers`, in OpenSSL's notation. */
  tlsCiphers: string | null
  /** `[api]max_limit`: the longest page. */
  maxLimit: number
  /** `[api]max_json_body_depth` */
  maxBodyDepth: number
  /** `[api]max_json_body_size`, `..._provision`, `..._inspection`: KiB. */
  maxBodySize: number
  maxProvisionBodySize: number
  maxInspectionBodySize: number
  /** `[api]network_data_schema`: a site's own schema of a node's `network_data`; null for Ironic's. */
  networkDataSchema: JsonSchema | null
}

export const SERVICE_DEFAULTS: ServiceSettings = {
  authStrategy: 'noauth',
  userFile: '/etc/ironic/htpasswd',
  conductorName: null,
  memberHeartbeat: null,
  memberSilence: null,
  host: null,
  port: null,
  publicEndpoint: null,
  tls: false,
  certFile: null,
  keyFile: null,
  tlsMinimum: '1.3',
  tlsCiphers: null,
  maxLimit: 1000,
  maxBodyDepth: 25,
  maxBodySize: 1024,
  maxProvisionBodySize: 64 * 1024,
  maxInspectionBodySize: 16 * 1024,
  networkDataSchema: null,
}

const url = {
  read: (text: string) =>
    patternSetting(/^https?:\/\/[^/\s]/, 'an http(s) URL')
      .read(text)
      .replace(/\/+$/, ''),
}

const authStrategy: SettingParser<ServiceSettings['authStrategy']> = {
  read: (text) => {
    const strategy = choiceSetting('noauth', 'keystone', 'http_basic').read(text)
    return strategy === 'keystone' ? 'noauth' : strategy
  },
}

/** Settings that stand in the file themselves. */
type WrittenSettings = Omit<ServiceSettings, 'networkDataSchema'>

export const SERVICE_OPTIONS: { readonly [K in keyof WrittenSettings]: IronicOption<WrittenSettings[K]> } = {
  authStrategy: confOption('DEFAULT', 'auth_strategy', authStrategy),
  userFile: confOption('DEFAULT', 'http_basic_auth_user_file', anyText),
  conductorName: confOption(
    'DEFAULT',
    'host',
    patternSetting(/^[a-zA-Z0-9_.-]{1,255}$/, 'letters, digits, _, - and .'),
  ),
  memberHeartbeat: confOption('conductor', 'heartbeat_interval', inSeconds),
  memberSilence: confOption('conductor', 'heartbeat_timeout', inSeconds),
  host: confOption('api', 'host_ip', patternSetting(/^[^\s/]+$/, 'an address or a host name')),
  port: confOption('api', 'port', portNumber),
  publicEndpoint: confOption('api', 'public_endpoint', url),
  tls: confOption('api', 'enable_ssl_api', yesOrNo),
  certFile: confOption('api', 'cert_file', anyText, { section: 'ssl', name: 'cert_file' }),
  keyFile: confOption('api', 'key_file', anyText, { section: 'ssl', name: 'key_file' }),
  tlsMinimum: confOption('api', 'server_tls_minimum_version', choiceSetting('1.2', '1.3')),
  tlsCiphers: confOption('api', 'server_tls_ciphers', anyText),
  maxLimit: confOption('api', 'max_limit', wholeNumberSetting),
  maxBodyDepth: confOption('api', 'max_json_body_depth', wholeNumberSetting),
  maxBodySize: confOption('api', 'max_json_body_size', wholeNumberSetting),
  maxProvisionBodySize: confOption('api', 'max_json_body_size_provision', wholeNumberSetting),
  maxInspectionBodySize: confOption('api', 'max_json_body_size_inspection', wholeNumberSetting),
}
