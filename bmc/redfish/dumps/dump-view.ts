import {
  dumpedDrives,
  dumpedNics,
  dumpedSerial,
  textAt,
  type DumpedResource,
  type OpenDump,
} from '../../dumps/index.js'
import { isObject } from '../../../base/runtime/index.js'
import { systemUuid, type Machine } from '../../../machine/index.js'
import type { RedfishDocument } from '../protocol/redfish-document.js'

const VERSION_ROOT = '/redfish/v1'

/** A path in a dump. */
export interface DumpedPlace {
  /** Resource that answers, with the machine's id, below `/redfish/v1`; undefined where nothing lives. */
  readonly model: string | undefined
  /** The resource as it was dumped; undefined for one that the dump lacks. */
  readonly dumped: DumpedResource | undefined
}

/** A folder of a machine: its path in the dump, and that by its own id. */
interface OwnPath {
  readonly dumped: string
  readonly own: string
}

/**
 * A dump as a machine's BMC shows it: with the machine's serial numbers and MAC addresses, and, beside other machines, with
 * its id in the place of that of the dump.
 */
export class DumpView {
  readonly #open: OpenDump
  readonly #id: string
  readonly #isAlone: boolean
  readonly #own: readonly OwnPath[]
  readonly #texts: ReadonlyMap<string, string>
  readonly #macs: ReadonlyMap<string, string>

  /** @param isAlone true where the machine is the only one of its service */
  constructor(open: OpenDump, machine: Machine, isAlone: boolean) {
    this.#open = open
    this.#id = machine.spec.id
    this.#isAlone = isAlone
    const { system, manager, chassis } = open.machine
    const pathOf = (folder: string) => `${VERSION_ROOT}/${folder}/${encodeURIComponent(machine.spec.id)}`
    this.#own = [
      { dumped: system.path, own: pathOf('Systems') },
      ...(manager ? [{ dumped: manager.path, own: pathOf('Managers') }] : []),
      ...(chassis ? [{ dumped: chassis.path, own: pathOf('Chassis') }] : []),
    ]
    this.#texts = textIdentities(open, machine)
    this.#macs = macIdentities(open, machine)
  }

  /** @param path with `/redfish/v1`, as a client writes it */
  find(path: string): DumpedPlace {
    const dumpPath = this.#fromOwn(path)
    const model = this.#open.places.model(dumpPath)
    return { model: model?.replaceAll('{machine}', this.#id), dumped: this.#open.dump.find(dumpPath) }
  }

  /** A path of a resource as this BMC writes it. @param path with `/redfish/v1` and the machine's id */
  shown(path: string): string {
    const [, plain = path, fragment = ''] = /^([^#]*)(#.*)?$/s.exec(path) ?? []
    const template = this.#template(decoded(plain.slice(VERSION_ROOT.length)))
    const known = this.#open.places.shown(template)
    const found = known?.replaceAll('{machine}', this.#id)
    return `${this.#toOwn(found ?? (this.#isAlone ? this.#fromOwn(plain) : plain))}${fragment}`
  }

  /** A resource's path with a placeholder for the machine's id. */
  #template(path: string): string {
    const parts = path.split('/')
    const [, folder, item = ''] = parts
    if (folder === 'UpdateService' && parts.length === 4) return path.replace(`/${this.#id}-`, '/{machine}-')
    if (item === this.#id) parts[2] = '{machine}'
    if (folder === 'AccountService' && parts[3] === this.#id) parts[3] = '{machine}'
    return parts.join('/')
  }

  /** A dumped document as this BMC shows it. Its ETag is left out: it is that of an earlier state. */
  document({ document }: DumpedResource): RedfishDocument {
    const { '@odata.etag': _, ...rest } = document
    if (this.#isAlone && this.#texts.size === 0 && this.#macs.size === 0) return rest
    return this.#shownValue(rest) as RedfishDocument
  }

  #shownValue(value: unknown): unknown {
    if (typeof value === 'string') return this.#shownText(value)
    if (Array.isArray(value)) return value.map((item: unknown) => this.#shownValue(item))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#shownValue(item)]))
  }

  #shownText(text: string): string {
    if (text.startsWith('/')) return this.#toOwn(text)
    return this.#texts.get(text) ?? (this.#macs.size === 0 ? text : withMacs(text, this.#macs))
  }

  #fromOwn(path: string): string {
    for (const { dumped, own } of this.#own) {
      const isIts = path.toLowerCase().startsWith(own.toLowerCase()) && /^(\/|$)/.test(path.slice(own.length))
      if (isIts) return `${dumped}${path.slice(own.length)}`
    }
    return path
  }

  #toOwn(path: string): string {
    if (this.#isAlone) return path
    for (const { dumped, own } of this.#own) {
      const isIts = path.startsWith(dumped) && /^([/#]|$)/.test(path.slice(dumped.length))
      if (isIts) return `${own}${path.slice(dumped.length)}`
    }
    return path
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Serial numbers and UUIDs of the dump, with those of the machine. */
function textIdentities({ dump, machine }: OpenDump, { spec }: Machine): Map<string, string> {
  const found = new Map<string, string>()
  const add = (dumped: string | undefined, own: string | undefined) => {
    if (dumped !== undefined && own !== undefined && dumped !== own) found.set(dumped, own)
  }
  add(dumpedSerial(machine), spec.serial)
  add(textAt(machine.system.document, 'UUID'), systemUuid(spec))
  for (const [index, { document, isVolume }] of dumpedDrives(dump, machine).entries())
    if (!isVolume) add(textAt(document, 'SerialNumber'), spec.disks[index]?.serial)
  return found
}

/** MAC addresses of the dump, with those of the machine: twelve digits in lower case. */
function macIdentities({ dump, machine }: OpenDump, { spec }: Machine): Map<string, string> {
  const found = new Map<string, string>()
  for (const [index, { mac }] of dumpedNics(dump, machine).entries()) {
    const own = spec.nics[index]?.mac
    const digits = macDigits(mac)
    if (own !== undefined && digits !== macDigits(own)) found.set(digits, macDigits(own))
  }
  return found
}

const macDigits = (mac: string): string => mac.replaceAll(/[:-]/g, '').toLowerCase()

const MAC_TEXT = /(?<![0-9a-f])[0-9a-f]{2}([:-]?)(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![0-9a-f])/gi

/** A text with other MAC addresses in the same form: with the same signs between digits, in the same case. */
function withMacs(text: string, macs: ReadonlyMap<string, string>): string {
  return text.replaceAll(MAC_TEXT, (written: string, sign: string) => {
    const own = macs.get(macDigits(written))
    if (own === undefined) return written
    const joined = own.replaceAll(/..(?=.)/g, `$&${sign}`)
    return /[A-F]/.test(written) || !/[a-f]/.test(written) ? joined.toUpperCase() : joined
  })
}
