import { maskedAddress } from '../../../base/bytes/index.js'
import { firmwareComponents, type InstalledFirmware, type Machine } from '../../../machine/index.js'
import { defined, during } from '../../../base/runtime/index.js'
import {
  anythingCheck,
  boolCheck,
  checkAction,
  fetchedUrl,
  listCheck,
  nullableCheck,
  choiceCheck,
  textCheck,
} from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  linksBelow,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { baseMessage } from '../protocol/redfish-messages.js'
import { Refusal } from '../protocol/redfish-refusal.js'
import { ofService, type RedfishCall, type RedfishOutcome, type RedfishResource } from '../protocol/resource.js'
import { decodePathPart } from '../protocol/path-part.js'
import { acceptedTask } from './task-resources.js'

const ACTION = 'UpdateService.SimpleUpdate'
const INVENTORY = ['UpdateService', 'FirmwareInventory']

/** Id of a machine's firmware component among those of all machines. */
const inventoryId = (machine: Machine, component: string): string =>
  `${machine.spec.id}-${component.replace(/^nic:/, '')}`

interface UpdatedComponent {
  machine: Machine
  component: InstalledFirmware
}

const updatableComponents = (machine: Machine): UpdatedComponent[] =>
  machine.firmware.versions().map((component) => ({ machine, component }))

/** A component by its id: the part before one of the dashes names the machine. */
function componentNamed(call: RedfishCall, id: string): UpdatedComponent | undefined {
  for (let dash = id.indexOf('-'); dash >= 0; dash = id.indexOf('-', dash + 1)) {
    const machine = call.service.machines.get(id.slice(0, dash))
    if (!machine || !call.caller || !call.service.sees(machine, call.caller)) continue
    const found = updatableComponents(machine).find(({ component }) => inventoryId(machine, component.component) === id)
    if (found) return found
  }
  return undefined
}

const COMPONENT_NAMES: Readonly<Record<string, string>> = { bios: 'BIOS', bmc: 'BMC' }

function inventoryOf(call: RedfishCall): RedfishDocument | undefined {
  const found = componentNamed(call, call.params['component']!)
  if (!found) return undefined
  const { machine, component } = found
  return {
    ...resourceHead(
      'SoftwareInventory',
      [...INVENTORY, call.params['component']!],
      COMPONENT_NAMES[component.component] ?? component.component,
    ),
    Version: component.version,
    SoftwareId: component.component,
    Manufacturer: component.vendor ?? machine.spec.manufacturer,
    Updateable: true,
    RelatedItem: [
      component.component === 'bmc'
        ? referenceTo('Managers', machine.spec.id)
        : referenceTo('Systems', machine.spec.id),
    ],
    Status: enabledStatus(),
  }
}

/** A component that an update is for. */
function updateTargetOf(call: RedfishCall, target: string): UpdatedComponent | undefined {
  const [, parent, name] =
    /^\/redfish\/v1\/(UpdateService\/FirmwareInventory|Systems|Managers)\/([^/]+)$/.exec(target) ?? []
  if (name === undefined) return undefined
  const id = decodePathPart(name)
  if (id === undefined) return undefined
  if (parent!.startsWith('UpdateService')) return componentNamed(call, id)
  const machine = call.service.machines.get(id)
  if (!machine || !call.caller || !call.service.sees(machine, call.caller)) return undefined
  const wanted = parent === 'Managers' ? 'bmc' : guessed(String(call.body['ImageURI']))
  return updatableComponents(machine).find(({ component }) => component.component === wanted)
}

/** A real BMC reads from an image which component it is for; here only its name shows that. */
const guessed = (image: string): 'bios' | 'bmc' =>
  /bmc|idrac|ilo|xcc|manager/i.test(image.split(/[?#]/)[0]!.split('/').at(-1)!) ? 'bmc' : 'bios'

function simpleUpdate(call: RedfishCall): RedfishOutcome {
  const { body, service, caller } = call
  const fields = {
    ImageURI: fetchedUrl,
    TransferProtocol: choiceCheck(UPDATE_PROTOCOLS),
    Targets: listCheck(textCheck()),
    Username: nullableCheck(textCheck()),
    Password: nullableCheck(textCheck()),
    ForceUpdate: boolCheck,
    LocalImage: boolCheck,
    Stage: anythingCheck,
  }
  checkAction(ACTION, body, fields, ['ImageURI'])
  const image = String(body['ImageURI'])
  const targets = (body['Targets'] as string[] | undefined) ?? []
  const wrong = (value: string, resolution: string) =>
    new Refusal(400, [
      baseMessage('ActionParameterValueNotInList', [value, 'Targets', ACTION], { property: 'Targets', resolution }),
    ])
  const found = targets.map((target) => {
    const component = updateTargetOf(call, target)
    if (!component) throw wrong(target, 'Name a member of FirmwareInventory, a system or a manager.')
    return component
  })
  if (found.length === 0) {
    const [machine, ...others] = caller ? service.visible(caller) : []
    if (!machine || others.length > 0)
      throw new Refusal(400, [
        baseMessage('ActionParameterMissing', [ACTION, 'Targets'], {
          property: 'Targets',
          resolution: 'Several machines have this account: name the one to update.',
        }),
      ])
    found.push(updatableComponents(machine).find(({ component }) => component.component === guessed(image))!)
  }
  const { machine } = found[0]!
  if (found.some((each) => each.machine !== machine)) throw wrong(targets.join(', '), 'Update one machine at a time.')
  const task = service.tasks.start('Firmware update', machine, service.updateTime, async () => {
    if (call.isLie) return
    await transferred(call, image)
    for (const { component } of found) await machine.firmware.flash(component.component, image)
  })
  return acceptedTask(task)
}

/** Fetches the image, as a BMC does before it writes anything. */
async function transferred({ body, service }: RedfishCall, image: string): Promise<void> {
  const { fetchFirmware, closing } = service
  if (!fetchFirmware) return
  const username = body['Username']
  const password = body['Password']
  const account =
    typeof username === 'string' ? { username, password: typeof password === 'string' ? password : '' } : undefined
  await during(`fetching ${maskedAddress(image)}`, () =>
    fetchFirmware(image, { signal: closing, ...defined({ account }) }),
  )
}

const UPDATE_PROTOCOLS = ['HTTP', 'HTTPS', 'FTP', 'SFTP', 'TFTP', 'SCP', 'NFS', 'CIFS', 'NSF', 'OEM']

/** Versions of firmware, and their updates. */
export const UPDATE_RESOURCES: readonly RedfishResource[] = [
  ofService('/UpdateService', {
    reads: 'read firmware',
    get: () => ({
      ...resourceHead('UpdateService', ['UpdateService'], 'Update Service'),
      ServiceEnabled: true,
      Status: enabledStatus(),
      FirmwareInventory: referenceTo(...INVENTORY),
      Actions: {
        [`#${ACTION}`]: {
          target: redfishPath('UpdateService', 'Actions', ACTION),
          'TransferProtocol@Redfish.AllowableValues': UPDATE_PROTOCOLS.filter((each) => each !== 'NSF'),
        },
      },
    }),
  }),
  ofService(`/UpdateService/Actions/${ACTION}`, { reads: 'change firmware', post: simpleUpdate, liesItself: true }),
  ofService('/UpdateService/FirmwareInventory', {
    reads: 'read firmware',
    get: ({ service, caller }) => {
      const ids: string[] = []
      for (const machine of caller ? service.visible(caller) : [])
        for (const component of firmwareComponents(machine.spec)) ids.push(inventoryId(machine, component))
      return makeCollection('SoftwareInventoryCollection', INVENTORY, 'Firmware', linksBelow(INVENTORY, ids))
    },
  }),
  ofService('/UpdateService/FirmwareInventory/{component}', { reads: 'read firmware', get: inventoryOf }),
]
