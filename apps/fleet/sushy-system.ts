import { isIPv4, isIPv6 } from 'node:net'
import type { NicSpec } from '../../machine/index.js'
import { isObject, type UserError } from '../../base/runtime/index.js'

/** A system of sushy-tools' fake driver (sushy-tools 2.2 emulator/resources/systems/fakedriver.py). */
export interface SushySystem {
  /** Its uuid in small letters, which is the id of its machine. */
  id: string
  nics: NicSpec[]
}

/** Makes the error for a key of a system, `nics[0].mac`. */
export type WrongSystem = (key: string, what: string, remedy: string) => UserError

/** @throws what `wrong` makes */
export function readSystem(system: unknown, wrong: WrongSystem): SushySystem {
  if (!isObject(system)) throw wrong('', 'is no object', 'write {"uuid": ..., "name": ..., "nics": [{"mac": ...}]}')
  const { uuid, nics } = system
  if (typeof uuid !== 'string' || uuid === '') throw wrong('uuid', 'is missing', 'give each system a uuid: uuidgen')
  const id = uuid.toLowerCase()
  if (!isMachineId(id))
    throw wrong(
      'uuid',
      'cannot name a machine',
      `use a UUID, or letters, digits, - and . within, ${MAX_SYSTEM_ID_LENGTH} at most`,
    )
  return { id, nics: readNics(nics ?? [], wrong) }
}

/** The longest name of a BareMetalHost whose Secret, `NAME-bmc`, has a name too. */
const MAX_SYSTEM_ID_LENGTH = 249

/** Whether Kubernetes takes the name for a BareMetalHost: subdomains of RFC 1123. */
export const isMachineId = (id: string): boolean =>
  id.length <= MAX_SYSTEM_ID_LENGTH && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(id)

function readNics(nics: unknown, wrong: WrongSystem): NicSpec[] {
  const remedy = 'list each NIC as {"mac": "02:00:00:00:00:01", "ip": "192.0.2.1"}; the ip may be left out'
  if (!Array.isArray(nics)) throw wrong('nics', 'is no list of {mac, ip}', remedy)
  return nics.map((nic: unknown, index) => {
    const key = `nics[${index}]`
    if (!isObject(nic)) throw wrong(key, 'is no {mac, ip}', remedy)
    const { mac, ip = null } = nic
    if (typeof mac !== 'string' || !SYSTEM_MAC_PATTERN.test(mac))
      throw wrong(
        `${key}.mac`,
        mac === undefined ? 'is missing' : `is ${shortenValue(mac)}, which is no MAC address`,
        remedy,
      )
    if (ip !== null && !(typeof ip === 'string' && (isIPv4(ip) || isIPv6(ip))))
      throw wrong(`${key}.ip`, `is ${shortenValue(ip)}, which is no IP address`, remedy)
    return {
      name: `eno${index + 1}`,
      mac: mac.toLowerCase().replaceAll('-', ':'),
      ipv4: ip !== null && isIPv4(ip) ? ip : null,
      carrier: true,
      pxe: index === 0,
    }
  })
}

const SYSTEM_MAC_PATTERN = /^[0-9a-f]{2}(?:(:[0-9a-f]{2}){5}|(-[0-9a-f]{2}){5})$/i

/** A value of a file in an error, cut to a length that can be read. */
export const shortenValue = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}...` : text
}
