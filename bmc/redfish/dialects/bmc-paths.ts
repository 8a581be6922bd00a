import { dialectOf, type BmcDialect, type FurtherMember } from '../../dialects/index.js'
import type { Machine } from '../../../machine/index.js'
import { redfishPath } from '../protocol/redfish-document.js'
import { decodePathPart } from '../protocol/path-part.js'
import { presentView } from '../dumps/dump-views.js'
import type { DumpView } from '../dumps/dump-view.js'
import type { ServedMachines } from '../served-machines.js'

type MachineFolder = 'Systems' | 'Managers' | 'Chassis'

/** Name, below a machine, of the members that its BMC has beside it: they have paths of their own to clients. */
export const FURTHER_FOLDER = 'FurtherMembers'

const MACHINE_FOLDERS: readonly MachineFolder[] = ['Systems', 'Managers', 'Chassis']

const ownId = ({ paths }: BmcDialect, folder: MachineFolder): string | null => {
  switch (folder) {
    case 'Systems':
      return paths.system
    case 'Managers':
      return paths.manager
    case 'Chassis':
      return paths.chassis
  }
}

/** A path below the folder of a machine. */
export interface MachinePath {
  readonly machine: Machine
  readonly dialect: BmcDialect
  /** The same path with the names that resources have, below `/redfish/v1`; undefined for one that this BMC lacks. */
  readonly model: string | undefined
}

/**
 * Paths of BMCs with ids of their own, for one request. Resources have a machine's own id and the names of DMTF. A BMC's id
 * (`System.Embedded.1`) names a machine where no other machine of the service has it; else, and as well, its own does.
 */
export class BmcPaths {
  readonly #machines: ServedMachines
  readonly #shown = new Map<string, string>()
  readonly #furtherCounts = new Map<string, number>()
  /** Null where several machines are served, or the only one has no dump. */
  #alone: DumpView | null | undefined

  constructor(machines: ServedMachines) {
    this.#machines = machines
  }

  /** @param path below `/redfish/v1`, percent-encoded */
  find(path: string): MachinePath | undefined {
    const { folder, written, encoded, rest } = machinePathParts(path)
    const id = decodePathPart(encoded)
    if (folder === undefined || id === undefined) return undefined
    const machine = this.#machines.get(id) ?? this.#named(folder, id)
    if (!machine) return this.#findFurther(folder, id, rest)
    const dialect = dialectOf(machine.spec)
    const isWritten = folder === written || dialect.paths.ignoresCase
    const below = isWritten ? modelRest(dialect, folder, rest) : undefined
    const model = below === undefined ? undefined : `/${folder}/${encodeURIComponent(machine.spec.id)}${below}`
    return { machine, dialect, model }
  }

  /** A member of a collection behind which there is no machine, of the BMC of one. Nothing is below it. */
  #findFurther(folder: MachineFolder, id: string, rest: string): MachinePath | undefined {
    for (const machine of this.#machines.list()) {
      if (machine.spec.dialect === undefined) continue
      const dialect = dialectOf(machine.spec)
      const found = dialect.resources.further.find(
        (each) => each.folder === folder && this.#furtherId(machine, each) === id,
      )
      if (!found) continue
      const model = `/${folder}/${encodeURIComponent(machine.spec.id)}/${FURTHER_FOLDER}/${encodeURIComponent(found.id)}`
      return { machine, dialect, model: /^\/*$/.test(rest) ? model : undefined }
    }
    return undefined
  }

  /** Its id alone where no other machine of the service has it, else with that of its machine. */
  #furtherId(machine: Machine, { folder, id }: FurtherMember): string {
    const isIts = ({ spec }: Machine) =>
      dialectOf(spec).resources.further.some((each) => each.folder === folder && each.id === id)
    const key = `${folder} ${id}`
    const count = this.#furtherCounts.get(key) ?? this.#machines.list().filter(isIts).length
    this.#furtherCounts.set(key, count)
    return count === 1 ? id : `${machine.spec.id}-${id}`
  }

  /** The only machine whose BMC has this id. */
  #named(folder: MachineFolder, id: string): Machine | undefined {
    let found: Machine | undefined
    for (const machine of this.#machines.list()) {
      if (machine.spec.dialect === undefined) continue
      const dialect = dialectOf(machine.spec)
      const own = ownId(dialect, folder)
      const isIt = dialect.paths.ignoresCase ? own?.toLowerCase() === id.toLowerCase() : own === id
      if (!isIt) continue
      if (found) return undefined
      found = machine
    }
    return found
  }

  /** A path of a document as the BMC writes it; also one with a fragment. */
  shown(path: string): string {
    const alone = this.#aloneView()
    if (alone) return alone.shown(path)
    const [, folder, id, rest = ''] = /^\/redfish\/v1\/(Systems|Managers|Chassis)\/([^/#]+)(.*)$/s.exec(path) ?? []
    if (folder === undefined || id === undefined) return path
    const machine = this.#machines.get(decodePathPart(id) ?? '')
    if (machine?.spec.dialect === undefined) return path
    const view = presentView(machine, false)
    if (view) return view.shown(path)
    const dialect = dialectOf(machine.spec)
    const [, further = ''] = new RegExp(`^/${FURTHER_FOLDER}/([^/#]+)`).exec(rest) ?? []
    const member = dialect.resources.further.find(
      (each) => each.folder === folder && encodeURIComponent(each.id) === further,
    )
    if (member) return redfishPath(folder, this.#furtherId(machine, member))
    const below = shownRest(dialect, folder as MachineFolder, rest)
    const whole = `${redfishPath(folder, this.#idOf(machine, dialect, folder as MachineFolder))}${below}`
    return dialect.paths.lowerCaseBios && /^\/bios\b/i.test(below) ? lowerCased(whole) : whole
  }

  #idOf(machine: Machine, dialect: BmcDialect, folder: MachineFolder): string {
    const key = `${folder} ${machine.spec.id}`
    const known = this.#shown.get(key)
    if (known !== undefined) return known
    const own = ownId(dialect, folder)
    const isOnly = own !== null && this.#machines.get(own) === undefined && this.#named(folder, own) === machine
    const id = isOnly ? own : machine.spec.id
    this.#shown.set(key, id)
    return id
  }

  /** The dump of the only machine of a service: all paths are its. */
  #aloneView(): DumpView | undefined {
    if (this.#alone === undefined) {
      const all = this.#machines.list()
      const [only] = all
      this.#alone = (only && all.length === 1 ? presentView(only, true) : undefined) ?? null
    }
    return this.#alone ?? undefined
  }

  #dumpedModel(path: string): string | undefined {
    if (!path.startsWith('/redfish/v1/')) return undefined
    const machine = this.find(path.slice('/redfish/v1'.length))?.machine
    const view = this.#aloneView() ?? (machine && presentView(machine, false))
    return view?.find(path).model
  }

  /** A path of a request's body, with the names that resources have. */
  modelled(path: string): string {
    const dumped = this.#dumpedModel(path)
    if (dumped !== undefined) return `/redfish/v1${dumped}`
    const model = path.startsWith('/redfish/v1/') ? this.find(path.slice('/redfish/v1'.length))?.model : undefined
    return model === undefined ? path : `/redfish/v1${model.replace(/\/$/, '')}`
  }
}

function machinePathParts(path: string) {
  const [, written = '', encoded = '', rest = ''] = /^\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? []
  const folder = MACHINE_FOLDERS.find((each) => each.toLowerCase() === written.toLowerCase())
  return { folder, written, encoded, rest }
}

/** A path of any machine with the names that resources have; undefined for one that this BMC does not have. */
export function modelPath(dialect: BmcDialect, path: string): string | undefined {
  const { folder, written, encoded, rest } = machinePathParts(path)
  if (folder === undefined || (folder !== written && !dialect.paths.ignoresCase)) return undefined
  const below = modelRest(dialect, folder, rest)
  return below === undefined ? undefined : `/${folder}/${encoded}${below}`
}

/** A name that a BMC has otherwise than the resources. */
interface OwnName {
  /** Path below the machine's folder, with what is below it where `isFolder`. */
  readonly model: string
  /** Null for a resource that this BMC does not have. */
  readonly own: string | null
  readonly isFolder: boolean
}

/** Names of settings objects, and of the folder of slots. */
function ownNames({ bios, boot, media }: BmcDialect, folder: MachineFolder): readonly OwnName[] {
  switch (folder) {
    case 'Systems':
      return [
        { model: '/Bios/Settings', own: `/Bios/${bios.settings}`, isFolder: false },
        { model: '/Settings', own: boot.settings === null ? null : `/${boot.settings}`, isFolder: false },
        { model: `/${FURTHER_FOLDER}`, own: null, isFolder: true },
      ]
    case 'Managers':
      return [
        { model: '/VirtualMedia', own: `/${media.folder}`, isFolder: true },
        { model: `/${FURTHER_FOLDER}`, own: null, isFolder: true },
      ]
    case 'Chassis':
      return [{ model: `/${FURTHER_FOLDER}`, own: null, isFolder: true }]
  }
}

/** The rest of a path behind a name; undefined for a path that does not begin with it. */
function restBehind(path: string, name: string, isFolder: boolean): string | undefined {
  if (path === name) return ''
  return isFolder && path.startsWith(`${name}/`) ? path.slice(name.length) : undefined
}

function modelRest(dialect: BmcDialect, folder: MachineFolder, rest: string): string | undefined {
  const { ignoresCase } = dialect.paths
  const compared = (text: string) => (ignoresCase ? text.toLowerCase() : text)
  const asked = rest.replace(/\/+$/, '')
  for (const { model, own, isFolder } of ownNames(dialect, folder)) {
    const behind = own === null ? undefined : restBehind(compared(asked), compared(own), isFolder)
    if (own !== null && behind !== undefined) return `${model}${asked.slice(own.length)}`
    if (restBehind(compared(asked), compared(model), isFolder) !== undefined) return undefined
  }
  return rest
}

function shownRest(dialect: BmcDialect, folder: MachineFolder, rest: string): string {
  for (const { model, own, isFolder } of ownNames(dialect, folder)) {
    const behind = restBehind(rest, model, isFolder)
    if (own !== null && behind !== undefined) return `${own}${behind}`
  }
  return rest
}

/** Lower case up to the name of an action, and a slash at the end. */
function lowerCased(path: string): string {
  const action = path.indexOf('/Actions/')
  const place = action < 0 ? path.length : action
  return `${path.slice(0, place).toLowerCase()}${path.slice(place)}/`
}
