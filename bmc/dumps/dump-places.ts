import { linkAt, lastPartOf, objectAt, textAt, type DumpedDocument } from './dump-values.js'
import { membersOf, type DumpedSystem } from './dumped-system.js'
import { pathKey, type DumpedResource, type RedfishDump } from './redfish-dump.js'

/** Folders in which a BMC shows virtual media. */
type DumpedMediaFolder = 'Systems' | 'Managers'

/** A collection of slots for virtual media. */
export interface DumpedSlots {
  readonly folder: DumpedMediaFolder
  readonly collection: string
  readonly slots: readonly DumpedResource[]
}

/** A place that lives: the path in the dump, and that of the resource of a machine, with `{machine}` for its id. */
interface LivePlace {
  readonly path: string
  readonly model: string
  /** True for a collection, below which all resources live. */
  readonly isContainer: boolean
}

/** The slots of a system and of its manager; a collection that both link to is the manager's. */
export function dumpedSlots(dump: RedfishDump, { system, manager }: DumpedSystem): DumpedSlots[] {
  const ofManager = manager && linkAt(manager.document, 'VirtualMedia')
  const ofSystem = linkAt(system.document, 'VirtualMedia')
  const isShared = ofSystem !== undefined && ofManager !== undefined && pathKey(ofSystem) === pathKey(ofManager)
  const isManagers = isShared || (ofSystem !== undefined && /\/Managers\//i.test(ofSystem))
  const found: DumpedSlots[] = []
  const add = (folder: DumpedMediaFolder, collection: string | undefined) => {
    if (collection !== undefined) found.push({ folder, collection, slots: membersOf(dump, collection) })
  }
  if (!isManagers) add('Systems', ofSystem)
  add('Managers', ofManager ?? (isManagers ? ofSystem : undefined))
  return found
}

/** The target of an action. */
const actionTarget = (document: DumpedDocument | undefined, action: string): string | undefined =>
  textAt(document, 'Actions', `#${action}`, 'target')

/** The settings object of a resource. */
export const settingsObject = (document: DumpedDocument | undefined): string | undefined =>
  linkAt(document, '@Redfish.Settings', 'SettingsObject')

/** The log that shows what happens to a machine: one that can be cleared goes before others. */
function liveLog(dump: RedfishDump, { system, manager }: DumpedSystem): DumpedResource | undefined {
  const logs = [system, ...(manager ? [manager] : [])]
    .flatMap(({ document }) => membersOf(dump, linkAt(document, 'LogServices')))
    .filter(({ document }) => linkAt(document, 'Entries') !== undefined)
  const canBeCleared = ({ document }: DumpedResource) => actionTarget(document, 'LogService.ClearLog') !== undefined
  return logs.find((log) => canBeCleared(log) && /sel|event/i.test(log.path)) ?? logs.find(canBeCleared) ?? logs[0]
}

/** The account by which a machine's BMC is reached: an enabled one of an administrator, where there is one. */
function liveAccount(dump: RedfishDump, { root }: DumpedSystem): DumpedResource | undefined {
  const service = dump.document(linkAt(root.document, 'AccountService'))
  const accounts = membersOf(dump, linkAt(service, 'Accounts')).filter(
    ({ document }) => textAt(document, 'UserName') !== undefined && document['Enabled'] !== false,
  )
  return accounts.find(({ document }) => /admin/i.test(textAt(document, 'RoleId') ?? '')) ?? accounts[0]
}

/** The members of FirmwareInventory for BIOS and BMC. */
function liveFirmware(
  dump: RedfishDump,
  { root, system, manager }: DumpedSystem,
): { bios: DumpedResource | undefined; bmc: DumpedResource | undefined } {
  const service = dump.document(linkAt(root.document, 'UpdateService'))
  const all = membersOf(dump, linkAt(service, 'FirmwareInventory'))
  const ofVersion = (version: string | undefined, name: RegExp) => {
    const same = all.filter(({ document }) => version !== undefined && textAt(document, 'Version') === version)
    const isNamed = ({ path, document }: DumpedResource) =>
      name.test(lastPartOf(path)) || name.test(textAt(document, 'Name') ?? '')
    return same.find(isNamed) ?? same[0]
  }
  return {
    bios: ofVersion(textAt(system.document, 'BiosVersion'), /bios|uefi|system ?rom/i),
    bmc: ofVersion(textAt(manager?.document, 'FirmwareVersion'), /bmc|ilo|idrac|xcc|manager/i),
  }
}

/** Paths of a dump that live, with those of the resources that answer them. */
export class DumpPlaces {
  readonly #places = new Map<string, LivePlace>()
  readonly #containers: LivePlace[] = []

  constructor(dump: RedfishDump, machine: DumpedSystem) {
    this.#addService(dump, machine)
    this.#addSystem(dump, machine)
    this.#addManager(machine)
    const { chassis } = machine
    this.#add(chassis?.path, '/Chassis/{machine}')
    this.#add(actionTarget(chassis?.document, 'Chassis.Reset'), '/Chassis/{machine}/Actions/Chassis.Reset')
    for (const slots of dumpedSlots(dump, machine)) this.#addSlots(slots)
    this.#addLog(liveLog(dump, machine))
  }

  /** The model's path of a path in the dump; undefined for one that does not live. */
  model(path: string): string | undefined {
    const key = pathKey(path).toLowerCase()
    const place = this.#places.get(key)
    if (place) return place.model
    const container = this.#containers.find((each) => key.startsWith(`${each.path.toLowerCase()}/`))
    return container && `${container.model}${pathKey(path).slice(container.path.length)}`
  }

  /** The path in the dump of a model's path; undefined for one that the dump lacks. */
  shown(model: string): string | undefined {
    for (const place of this.#places.values()) if (place.model === model) return place.path
    const container = this.#containers.find((each) => model.startsWith(`${each.model}/`))
    return container && `${container.path}${model.slice(container.model.length)}`
  }

  #add(path: string | undefined, model: string, isContainer = false): void {
    if (path === undefined) return
    const place = { path: pathKey(path), model, isContainer }
    const key = place.path.toLowerCase()
    // The first one stays: a slot that is in two collections answers in both places alike.
    if (this.#places.has(key)) return
    this.#places.set(key, place)
    if (isContainer) this.#containers.push(place)
  }

  #addService(dump: RedfishDump, machine: DumpedSystem): void {
    const { root } = machine
    const link = (name: string) => linkAt(root.document, name)
    const sessions = linkAt(root.document, 'Links', 'Sessions')
    const sessionService = link('SessionService')
    const taskService = link('Tasks')
    const updateService = link('UpdateService')
    const eventService = link('EventService')
    this.#add(root.path, '/')
    this.#add(link('Systems'), '/Systems')
    this.#add(link('Managers'), '/Managers')
    this.#add(link('Chassis'), '/Chassis')
    this.#add(sessionService, '/SessionService')
    this.#add(sessions ?? linkAt(dump.document(sessionService), 'Sessions'), '/SessionService/Sessions', true)
    this.#add(taskService, '/TaskService')
    this.#add(linkAt(dump.document(taskService), 'Tasks'), '/TaskService/Tasks', true)
    this.#add(updateService, '/UpdateService')
    const simpleUpdate = 'UpdateService.SimpleUpdate'
    this.#add(actionTarget(dump.document(updateService), simpleUpdate), `/UpdateService/Actions/${simpleUpdate}`)
    this.#add(eventService, '/EventService')
    this.#add(linkAt(dump.document(eventService), 'Subscriptions'), '/EventService/Subscriptions', true)
    this.#add(
      actionTarget(dump.document(eventService), 'EventService.SubmitTestEvent'),
      '/EventService/Actions/EventService.SubmitTestEvent',
    )
    this.#add(liveAccount(dump, machine)?.path, '/AccountService/Accounts/{machine}')
    const { bios, bmc } = liveFirmware(dump, machine)
    this.#add(bios?.path, '/UpdateService/FirmwareInventory/{machine}-bios')
    this.#add(bmc?.path, '/UpdateService/FirmwareInventory/{machine}-bmc')
  }

  #addSystem(dump: RedfishDump, { system }: DumpedSystem): void {
    const { document } = system
    const own = '/Systems/{machine}'
    this.#add(system.path, own)
    this.#add(actionTarget(document, 'ComputerSystem.Reset'), `${own}/Actions/ComputerSystem.Reset`)
    this.#add(settingsObject(document), `${own}/Settings`)
    const bios = linkAt(document, 'Bios')
    const firmware = dump.document(bios)
    this.#add(bios, `${own}/Bios`)
    this.#add(settingsObject(firmware), `${own}/Bios/Settings`)
    this.#add(actionTarget(firmware, 'Bios.ResetBios'), `${own}/Bios/Actions/Bios.ResetBios`)
    const secureBoot = linkAt(document, 'SecureBoot')
    this.#add(secureBoot, `${own}/SecureBoot`)
    this.#add(
      actionTarget(dump.document(secureBoot), 'SecureBoot.ResetKeys'),
      `${own}/SecureBoot/Actions/SecureBoot.ResetKeys`,
    )
  }

  #addManager({ manager }: DumpedSystem): void {
    if (!manager) return
    const own = '/Managers/{machine}'
    this.#add(manager.path, own)
    this.#add(actionTarget(manager.document, 'Manager.Reset'), `${own}/Actions/Manager.Reset`)
    // An iDRAC writes the name of the schema before that of the action.
    for (const [name, action] of Object.entries(objectAt(manager.document, 'Actions', 'Oem') ?? {})) {
      const [, last] = /#(OemManager\.(?:Import|Export)SystemConfiguration)$/.exec(name) ?? []
      if (last !== undefined) this.#add(textAt(action, 'target'), `${own}/Actions/Oem/${last}`)
    }
  }

  #addSlots({ folder, collection, slots }: DumpedSlots): void {
    const own = `/${folder}/{machine}/VirtualMedia`
    this.#add(collection, own)
    this.#add(`${collection}/CfgCD`, `${own}/CfgCD`, true)
    for (const { path, document } of slots) {
      const slot = `${own}/${lastPartOf(path)}`
      this.#add(path, slot)
      for (const action of ['VirtualMedia.InsertMedia', 'VirtualMedia.EjectMedia']) {
        // A slot that lists only the action that can be carried out now has the other one beside it.
        const target = actionTarget(document, action) ?? `${path}/Actions/${action}`
        this.#add(target, `${slot}/Actions/${action}`)
      }
    }
  }

  #addLog(log: DumpedResource | undefined): void {
    if (!log) return
    const own = '/Systems/{machine}/LogServices/EventLog'
    this.#add(log.path, own)
    this.#add(linkAt(log.document, 'Entries'), `${own}/Entries`, true)
    this.#add(actionTarget(log.document, 'LogService.ClearLog'), `${own}/Actions/LogService.ClearLog`)
  }
}
