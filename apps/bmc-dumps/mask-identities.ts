import { isIP, isIPv4 } from 'node:net'
import { isObject } from '../../base/runtime/index.js'
import { RedfishDump, schemaAt, type DumpedDocument, type DumpedResource } from '../../bmc/dumps/index.js'
import { isPlaceholder, type MadeIdentities } from '../hardware-files/index.js'

type IdentityKind = 'serial' | 'uuid' | 'name' | 'user' | 'address'

/** Properties that hold an identity, by what it is. A service tag is Dell's serial number. */
const IDENTITIES: readonly { readonly name: RegExp; readonly kind: IdentityKind }[] = [
  {
    name: /serial(number|no)?$|^sn$|servicetag|^sku$|servicecode|nodeid$|assettag|^tag$|ppin$|boardserial/i,
    kind: 'serial',
  },
  { name: /uuid$|^guid$|globallyuniqueid/i, kind: 'uuid' },
  { name: /host.?name$|^fqdn$|domain.?name|commonname|^dns(rac)?name$|servername$|systemname$/i, kind: 'name' },
  { name: /^username$|^owner|contact|email|^location$/i, kind: 'user' },
  {
    name: /address(es)?$|gateway|nameservers?$|ntpserver|^ip|addr\d*$|dnsserver|syslogserver|destination$/i,
    kind: 'address',
  },
]

/** Names that stand for the network, and not for a machine in it. */
const COMMON_ADDRESS = /^(0\.0\.0\.0|127\.|255\.|169\.254\.169\.254$|::1?$)/

/** Resources whose contents tell of events, people and work, and that live here. */
const LIVE_SCHEMAS = ['LogEntry', 'Session', 'Task', 'EventDestination', 'DellJob', 'DellLCLog', 'Job', 'Certificate']
const LIVE_COLLECTIONS = [
  'LogEntryCollection',
  'SessionCollection',
  'TaskCollection',
  'EventDestinationCollection',
  'DellJobCollection',
  'JobCollection',
  'CertificateCollection',
]

/** Resources that describe values, and hold none. */
const REGISTRIES = ['AttributeRegistry', 'MessageRegistry', 'PrivilegeRegistry', 'JsonSchemaFile']

/** Characters of a serial number that is found behind others, and of those before it. */
const MIN_SERIAL_END = 7
const MAX_TYPE_LENGTH = 8

const MAC_TEXT = /(?<![0-9a-f])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![0-9a-f])/gi
const WORD_TEXT = /[A-Za-z0-9]+(?:[._:-][A-Za-z0-9]+)*/g

/** The dump without the resources that live on a machine anyhow: entries of logs, sessions, tasks, certificates. */
export function withoutLiveResources(dump: RedfishDump): RedfishDump {
  const resources = [...dump.resources()]
    .filter(({ document }) => !LIVE_SCHEMAS.includes(schemaAt(document) ?? ''))
    .map((each) => (LIVE_COLLECTIONS.includes(schemaAt(each.document) ?? '') ? emptied(each) : each))
  return new RedfishDump(dump.name, resources)
}

function emptied(resource: DumpedResource): DumpedResource {
  const { 'Members@odata.nextLink': _, ...document } = resource.document
  const count = 'Members@odata.count' in document ? { 'Members@odata.count': 0 } : {}
  return { ...resource, document: { ...document, ...count, Members: [] } }
}

/** Replaces the identities in a dump by made ones: the same one wherever it stands, in paths too. */
export class IdentityMask {
  readonly #made: MadeIdentities
  /** Texts with what takes their place. */
  readonly #texts = new Map<string, string>()
  /** The same by their texts in lower case. */
  readonly #folded = new Map<string, string>()
  /** Names of people and of the network, which are replaced only where they stand as such: a host may be called Enabled. */
  readonly #names = new Map<string, string>()

  constructor(dump: RedfishDump, made: MadeIdentities) {
    this.#made = made
    for (const { document } of dump.resources())
      if (!REGISTRIES.includes(schemaAt(document) ?? '')) this.#collect(document)
  }

  /** The dump with made identities. */
  masked(dump: RedfishDump): RedfishDump {
    const resources = [...dump.resources()].map((each) => ({
      path: this.#text(each.path),
      document: this.#document(each.document),
      headers: each.headers,
    }))
    return new RedfishDump(dump.name, resources)
  }

  #collect(value: unknown, name = ''): void {
    if (typeof value === 'string') return this.#collectText(name, value.trim())
    if (Array.isArray(value)) {
      for (const item of value as readonly unknown[]) this.#collect(item, name)
      return
    }
    if (!isObject(value)) return
    for (const [inner, item] of Object.entries(value)) this.#collect(item, inner)
  }

  #collectText(name: string, text: string): void {
    // A MAC address may stand in a path without its colons: all are known before any is replaced.
    for (const [mac] of text.matchAll(MAC_TEXT)) this.#mac(mac, mac.charAt(2))
    const kind = identityKind(name)
    if (kind === undefined || this.#texts.has(text) || text.startsWith('/') || isPlaceholder(text)) return
    const made = this.#madeFor(kind, text)
    if (made === undefined || made === text) return
    this.#texts.set(text, made)
    this.#folded.set(text.toLowerCase(), made)
  }

  /** A made identity that takes the place of a text wherever it stands; undefined for one that stays, or a name. */
  #madeFor(kind: IdentityKind, text: string): string | undefined {
    switch (kind) {
      case 'serial':
        // Shorter ones, and words, are no serial numbers: a product number of three digits would be replaced everywhere.
        return text.length >= 5 && /\d/.test(text) ? this.#made.serial(text) : undefined
      case 'uuid':
        return /^[0-9a-f-]{32,36}$/i.test(text) && !/^[0-]+$/.test(text) ? this.#made.hexadecimal(text) : undefined
      case 'name':
        if (isIP(text) !== 0) return this.#made.address(text)
        return text.length >= 4 && /[a-z]/i.test(text) && /[\d.-]/.test(text) ? this.#named(text, 'host') : undefined
      case 'user':
        return undefined
      case 'address':
        return isIP(text.replace(/\/\d+$/, '')) !== 0 && !COMMON_ADDRESS.test(text) && !isMask(text)
          ? this.#made.address(text)
          : undefined
    }
  }

  #named(text: string, word: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) return known
    const made = `${word}-${this.#names.size + 1}`
    this.#names.set(text, made)
    return made
  }

  #document(document: DumpedDocument): DumpedDocument {
    // Settings of NICs have MAC addresses in their names (Lenovo).
    return Object.fromEntries(
      Object.entries(document).map(([name, value]) => [this.#text(name), this.#value(name, value)]),
    )
  }

  #value(name: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#ofProperty(name, value)
    if (Array.isArray(value)) return value.map((item: unknown) => this.#value(name, item))
    return isObject(value) ? this.#document(value) : value
  }

  #ofProperty(name: string, text: string): string {
    if (/^asset_?tag$/i.test(lastName(name))) return ''
    const kind = identityKind(name)
    const isName = kind === 'name' || kind === 'user'
    if (!isName || text === '' || text.startsWith('/') || COMMON_USER.test(text)) return this.#text(text)
    return this.#texts.get(text) ?? (isIP(text) === 0 ? this.#named(text, kind === 'user' ? 'name' : 'host') : text)
  }

  #text(text: string): string {
    const whole = this.#texts.get(text.trim())
    if (whole !== undefined) return whole
    const withMacs = text.replaceAll(MAC_TEXT, (mac, sign: string) => this.#mac(mac, sign))
    return withMacs.replaceAll(WORD_TEXT, (word) => this.#word(word))
  }

  /** A made identity of a word, in capitals or not: a host is called after its serial number in small letters. */
  #known(word: string): string | undefined {
    const known = this.#texts.get(word)
    if (known !== undefined) return known
    const folded = this.#folded.get(word.toLowerCase())
    return folded !== undefined && word === word.toLowerCase() ? folded.toLowerCase() : folded
  }

  /** A word that is an identity, or one of its parts. */
  #word(word: string): string {
    const known = this.#known(word)
    if (known !== undefined) return known
    if (/^[0-9a-f]{12}$/i.test(word) && this.#made.knowsMac(spelled(word.toLowerCase(), ':')))
      return sameCase(word, this.#mac(spelled(word, ':'), ':').replaceAll(':', ''))
    return word.replaceAll(/[A-Za-z0-9]+/g, (part) => this.#known(part) ?? this.#withKnownEnd(part))
  }

  /** A type of machine with its serial number behind it, as Lenovo names licences. */
  #withKnownEnd(part: string): string {
    if (part.length <= MIN_SERIAL_END || !/\d/.test(part)) return part
    for (let start = 1; start <= MAX_TYPE_LENGTH && part.length - start >= MIN_SERIAL_END; start++) {
      const known = this.#known(part.slice(start))
      if (known !== undefined) return part.slice(0, start) + known
    }
    return part
  }

  #mac(mac: string, sign: string): string {
    const plain = mac.replaceAll(sign, '').toLowerCase()
    if (/^(0{12}|f{12})$/.test(plain)) return mac
    const made = this.#made.mac(spelled(plain, ':'))
    return sameCase(mac, made.replaceAll(':', sign))
  }
}

/** Accounts that BMCs are delivered with. */
const COMMON_USER = /^(admin(istrator)?|root|adm|operator|user|anonymous)$/i

/** `Users.2.UserName`, as an iDRAC names its attributes. */
const lastName = (name: string): string => name.split('.').at(-1) ?? name

const identityKind = (name: string): IdentityKind | undefined => {
  const last = lastName(name)
  return IDENTITIES.find((each) => each.name.test(last))?.kind
}

const isMask = (text: string): boolean => isIPv4(text) && /^255\./.test(text)

const spelled = (digits: string, sign: string): string => digits.replaceAll(/..(?=.)/g, `$&${sign}`)

const sameCase = (like: string, text: string): string => (/[A-F]/.test(like) ? text.toUpperCase() : text)
