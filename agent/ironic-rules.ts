import type { ImageRules } from '../steps/index.js'
import type { LookupAnswer } from '../base/wire/index.js'
import type { TlsRules } from './agent-phases.js'

/** Configuration that Ironic sends with the node. */
type Config = LookupAnswer['config']

/** Rules for images. Formats are limited only while Ironic inspects images. */
export function imageRules(config: Config): ImageRules {
  const formats: unknown = config['permitted_image_formats']
  return {
    md5: config['agent_md5_checksum_enable'] === true,
    formats: Array.isArray(formats) && config['disable_deep_image_inspection'] !== true ? formats.map(String) : null,
  }
}

/** TLS settings of Ironic, which override the agent's own options, as in IPA. */
export function tlsRules({ tls_min_version: version, tls_cipher_suites: ciphers }: Config): TlsRules {
  return {
    minVersion: version === '1.2' || version === '1.3' ? `TLSv${version}` : null,
    ciphers: typeof ciphers === 'string' && ciphers !== '' ? ciphers : null,
  }
}
