import { createHash, createHmac } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { defined } from '../../base/runtime/index.js'
import type { DiskSpec, LldpNeighbour, MachineHardware, NicSpec } from '../../machine/index.js'

/** Attempts for a value of the same form that no other one has; a form of few characters has few values. */
const MAX_ATTEMPTS = 200

/** A serial number that says it is none: such a one identifies nothing. */
const PLACEHOLDER =
  /^(to be filled.*|default string|not (specified|applicable|available)|none|n\/a|unknown|system serial number|[0.-]+)$/i

/** True for a serial number that says it is none. */
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text)

/** A text that names a port of a switch, as in `ge-0/0/17`, and no person or place. */
const PORT_NAME = /^[A-Za-z-]{0,24}\d*(?:[/:.]\d+)*$/

/**
 * Replaces the identities of machines by made ones of the same form. The same identity of the same description always
 * becomes the same made one, wherever it stands, and different ones become different ones.
 */
export class MadeIdentities {
  readonly #key: Buffer
  readonly #made = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** @param description that decides what is made */
  constructor(description: Uint8Array) {
    this.#key = createHash('sha256').update(description).digest()
  }

  /** The hardware with made identities, and without the names that people gave. */
  replaceIn(hardware: MachineHardware): MachineHardware {
    const { hostname: _hostname, ...rest } = hardware
    const { serial, nics, disks } = rest
    return defined({
      ...rest,
      serial: serial === undefined ? undefined : this.serial(serial),
      nics: nics?.map((nic) => this.#nic(nic)),
      disks: disks?.map((disk) => this.#disk(disk)),
    })
  }

  #nic(nic: Partial<NicSpec>): Partial<NicSpec> {
    const { mac, ipv4, lldp } = nic
    return defined({
      ...nic,
      mac: mac === undefined ? undefined : this.mac(mac),
      ipv4: typeof ipv4 === 'string' ? this.address(ipv4) : ipv4,
      lldp: lldp ? this.#neighbour(lldp) : lldp,
    })
  }

  #neighbour(neighbour: LldpNeighbour): LldpNeighbour {
    const { name, chassis, port, portDescription, vlans, managementAddresses } = neighbour
    return defined({
      ...neighbour,
      name: name === undefined ? undefined : this.#switchName(name),
      chassis: chassis === undefined ? undefined : this.mac(chassis),
      port: port === undefined ? undefined : this.#port(port),
      portDescription: portDescription !== undefined && PORT_NAME.test(portDescription) ? portDescription : undefined,
      vlans: vlans?.map(({ id }) => ({ id })),
      managementAddresses: managementAddresses?.map((address) => this.address(address)),
    })
  }

  #disk(disk: Partial<Omit<DiskSpec, 'backing'>>): Partial<Omit<DiskSpec, 'backing'>> {
    const { serial, wwn, wwnExtension, byPath } = disk
    return defined({
      ...disk,
      serial: serial === undefined ? undefined : this.serial(serial),
      wwn: wwn === undefined ? undefined : this.#wwn(wwn),
      wwnExtension: wwnExtension === undefined ? undefined : this.#wwn(wwnExtension),
      byPath: byPath === undefined ? undefined : this.#path(byPath),
    })
  }

  /** A serial number of the same form; one that says it is none stays. */
  serial(text: string): string {
    return PLACEHOLDER.test(text) ? text : this.#replaced('serial', text, (bytes) => sameForm(text, bytes))
  }

  /** A locally administered address that no machine has by default. */
  mac(text: string): string {
    return this.#replaced('mac', text, (bytes) => `52:54:f0:${hexOf(bytes, 3).replace(/..(?=.)/g, '$&:')}`)
  }

  /** An address of RFC 2544's range for tests, or of RFC 3849's for documentation. */
  address(text: string): string {
    if (!isIPv4(text)) return this.#replaced('address', text, (bytes) => `2001:db8::${hexOf(bytes, 2)}`)
    return this.#replaced(
      'address',
      text,
      ([first = 0, second = 0]) => `198.18.${128 + (first % 128)}.${(second % 254) + 1}`,
    )
  }

  /** The first digit says what kind of number it is. */
  #wwn(text: string): string {
    return this.#replaced('wwn', text, (bytes) => `${text.slice(0, 3)}${sameForm(text.slice(3), bytes, HEX_DIGITS)}`)
  }

  /** Paths of SAS and Fibre Channel have WWNs in them. */
  #path(text: string): string | undefined {
    // A path over a network has addresses and names of servers.
    return /iscsi|ip-/.test(text) ? undefined : text.replaceAll(/0x[0-9a-f]{8,}/g, (wwn) => this.#wwn(wwn))
  }

  /** A number of hexadecimal digits in the same form, as a UUID. */
  hexadecimal(text: string): string {
    const plain = text.toLowerCase()
    return this.#replaced('hexadecimal', plain, (bytes) => hexadecimalForm(plain, bytes))
  }

  /** True if a MAC address has a made one already. */
  knowsMac(text: string): boolean {
    return this.#made.has(`mac ${text}`)
  }

  #port(text: string): string {
    if (/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(text)) return this.mac(text.toLowerCase())
    return PORT_NAME.test(text) ? text : this.serial(text)
  }

  /** `switch-1`, `switch-2` ... in the order of the description. */
  #switchName(text: string): string {
    const known = this.#made.get(`switch ${text}`)
    if (known !== undefined) return known
    const number = [...this.#made.keys()].filter((key) => key.startsWith('switch ')).length + 1
    this.#made.set(`switch ${text}`, `switch-${number}`)
    return `switch-${number}`
  }

  #replaced(kind: string, text: string, make: (bytes: Uint8Array) => string): string {
    const key = `${kind} ${text}`
    const known = this.#made.get(key)
    if (known !== undefined) return known
    const isFree = (value: string): boolean =>
      value !== text && !PLACEHOLDER.test(value) && !this.#taken.has(`${kind} ${value}`)
    let made = text
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !isFree(made); attempt++)
      made = make(createHmac('sha512', this.#key).update(`${key} ${attempt}`).digest())
    while (!isFree(made)) made += '0'
    this.#made.set(key, made)
    this.#taken.add(`${kind} ${made}`)
    return made
  }
}

const hexOf = (bytes: Uint8Array, length: number): string => Buffer.from(bytes.subarray(0, length)).toString('hex')

const hexadecimalForm = (text: string, bytes: Uint8Array): string =>
  [...text].map((digit, at) => (digit === '-' ? digit : HEX_DIGITS[bytes[at % bytes.length]! % 16]!)).join('')

const HEX_DIGITS = '0123456789abcdef'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'

/** A letter for a letter and a digit for a digit; other characters stay. */
function sameForm(text: string, bytes: Uint8Array, hexadecimal?: string): string {
  return [...text]
    .map((character, at) => {
      const set = hexadecimal ?? [UPPER, LOWER, DIGITS].find((characters) => characters.includes(character))
      return set === undefined ? character : set[bytes[at % bytes.length]! % set.length]!
    })
    .join('')
}
