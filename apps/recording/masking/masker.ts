import { decodeEscapes } from '../../../base/bytes/index.js'
import { isNestedDeeper, isObject } from '../../../base/runtime/index.js'
import type { SecretNames } from './secret-names.js'

/** Stands for a secret: equal secrets of a recording have equal labels. */
const SECRET_PLACEHOLDER = /^\*\*\*\d+$/

/** True if a text is the label of a secret, or what Ironic itself shows instead of one. */
export const isMasked = (text: string): boolean => SECRET_PLACEHOLDER.test(text) || /^\*{3,}$/.test(text)

/** Metadata of a config drive that names the host: what Nova, Ironic and BareMetal Operator put there. */
const HOST_METADATA_PATTERN = /^(uuid|name|hostname|local[-_]hostname|metal3-\w+|instance-id)$/

/** Shorter secrets also occur in ordinary texts, which would lose their meaning: `admin`. */
const MIN_SEARCHED_SECRET_LENGTH = 8
/** Limit on secrets that are searched in texts, the newest ones: each search takes time. */
const MAX_SEARCHED_SECRETS = 200

const MASKED_CONFIG = 'data:,%7B%22ignition%22%3A%7B%22version%22%3A%223.0.0%22%7D%7D'

/** Replaces secrets by labels, `***1`, `***2` ..., the same secret by the same one. */
export class Masker {
  readonly #names: SecretNames
  readonly #labels = new Map<string, string>()
  readonly #inTexts: string[] = []

  constructor(names: SecretNames) {
    this.#names = names
  }

  label(secret: string): string {
    if (secret === '' || isMasked(secret)) return secret
    const known = this.#labels.get(secret)
    if (known !== undefined) return known
    const label = `***${this.#labels.size + 1}`
    this.#labels.set(secret, label)
    if (secret.length >= MIN_SEARCHED_SECRET_LENGTH && secret.length < 4096) {
      this.#inTexts.unshift(secret)
      this.#inTexts.length = Math.min(this.#inTexts.length, MAX_SEARCHED_SECRETS)
    }
    return label
  }

  headers(headers: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        this.#names.header(name) ? this.#credentials(value) : this.text(value),
      ]),
    )
  }

  /** Path and query. */
  target(target: string): string {
    return this.text(this.#query(target))
  }

  /** A JSON document, not nested more deeply than {@link DEEPEST}. */
  json(value: unknown): unknown {
    return this.#value(value, '')
  }

  /** A text that is not JSON, or one in a document. */
  text(text: string): string {
    const inner = /^\s*[{[]/.test(text) ? parseBodyText(text) : undefined
    if (inner !== undefined) {
      if (isNestedDeeper(inner)) return this.label(text)
      const masked = JSON.stringify(this.#value(inner, ''))
      return masked === JSON.stringify(inner) ? text : masked
    }
    let shown = text.includes('://') ? this.#urls(text) : text
    for (const secret of this.#inTexts)
      if (shown.includes(secret)) shown = shown.replaceAll(secret, this.#labels.get(secret)!)
    return shown
  }

  /** Scheme and secret: `Basic ***1`. */
  #credentials(value: string): string {
    const [, scheme, secret] = /^(Basic|Bearer|Negotiate) +(.+)$/i.exec(value) ?? []
    return scheme === undefined ? this.label(value) : `${scheme} ${this.label(secret!)}`
  }

  #value(value: unknown, key: string): unknown {
    if (typeof value === 'string') return this.#names.key(key) ? this.#secretText(value) : this.text(value)
    if (Array.isArray(value)) return value.map((one) => this.#value(one, key))
    if (!isObject(value)) return value
    if (isIgnitionBody(value)) return this.#ignition(value)
    if (typeof value['op'] === 'string' && typeof value['path'] === 'string' && 'value' in value)
      return { ...value, value: this.#value(value['value'], value['path'].split('/').at(-1)!) }
    if (/configdrive$/i.test(key)) return this.#configDrive(value)
    return this.#members(value, this.#names.key(key) ? key : '')
  }

  /** Its network data describe links; its metadata may come from a Secret, but for the names of the host. */
  #configDrive(drive: Record<string, unknown>): Record<string, unknown> {
    const members = Object.entries(drive).map(([name, inner]) => {
      if (name === 'network_data') return [name, this.#value(inner, '')]
      if (name !== 'meta_data' || !isObject(inner)) return [name, this.#value(inner, 'configdrive')]
      const shown = Object.entries(inner).map(([key, value]) => [
        key,
        this.#value(value, HOST_METADATA_PATTERN.test(key) ? '' : 'secret'),
      ])
      return [name, Object.fromEntries(shown)]
    })
    return Object.fromEntries(members) as Record<string, unknown>
  }

  /** @param secret name of the secret that the whole object is, if it is one: a config drive, a set of tokens */
  #members(value: Record<string, unknown>, secret: string): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.#value(inner, this.#names.key(name) ? name : secret)]),
    )
  }

  /** An Ignition config keeps its form, so that what it is put into still accepts it. */
  #secretText(text: string): string {
    const inner = /^\s*\{/.test(text) ? parseBodyText(text) : undefined
    return isObject(inner) && isIgnitionBody(inner) && !isNestedDeeper(inner)
      ? JSON.stringify(this.#ignition(inner))
      : this.label(text)
  }

  #ignition(config: unknown, key = ''): unknown {
    if (Array.isArray(config)) return config.map((one) => this.#ignition(one, key))
    if (typeof config === 'string') return this.#ignitionText(config, key)
    if (!isObject(config)) return config
    const isHidden = typeof config['source'] === 'string' && config['source'].startsWith('data:')
    return Object.fromEntries(
      Object.entries(config)
        // Lengths and digests of the replaced contents are dropped.
        .filter(([name]) => !isHidden || (name !== 'compression' && name !== 'verification'))
        .map(([name, inner]) => [
          name,
          this.#ignition(
            inner,
            name === 'source' && (key === 'merge' || key === 'replace') ? 'config' : name === 'value' ? key : name,
          ),
        ]),
    )
  }

  #ignitionText(text: string, key: string): string {
    switch (key) {
      case 'config':
        return text.startsWith('data:') ? MASKED_CONFIG : this.text(text)
      case 'source':
        return text.startsWith('data:') && text !== 'data:,' ? `data:,${this.label(text)}` : this.text(text)
      case 'contents':
        return text === '' ? text : `# ${this.label(text)}`
      case 'httpHeaders':
        return this.label(text)
      default:
        return /hash$/i.test(key) || this.#names.key(key) ? this.label(text) : this.text(text)
    }
  }

  /** Passwords and signed arguments of the URLs in a text. */
  #urls(text: string): string {
    return text
      .replace(
        /(\/\/[^/\s:@"'<>]*):([^/\s"'<>]*)@/g,
        (_, user: string, password: string) => `${user}:${this.label(password)}@`,
      )
      .replace(/https?:\/\/[^\s"'<>]*\?[^\s"'<>]*/g, (url) => this.#query(url))
  }

  #query(url: string): string {
    return url.replace(/([?&])([^=&#]+)=([^&#]*)/g, (whole, before: string, name: string, value: string) =>
      value !== '' && this.#names.argument(name) ? `${before}${name}=${this.label(decodeEscapes(value))}` : whole,
    )
  }
}

function parseBodyText(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function isIgnitionBody(value: Record<string, unknown>): boolean {
  const { ignition } = value
  return isObject(ignition) && typeof ignition['version'] === 'string'
}
