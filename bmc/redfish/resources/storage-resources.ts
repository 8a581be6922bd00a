import { transportOf, type DiskSpec, type Machine } from '../../../machine/index.js'
import { defined, randomUuid, GIB } from '../../../base/runtime/index.js'
import { dellParts } from '../idrac/idrac-service.js'
import {
  anyObject,
  anythingCheck,
  checkAction,
  checkCreation,
  checkPatch,
  integerCheck,
  listCheck,
  objectCheck,
  choiceCheck,
  textCheck,
} from '../protocol/value-checks.js'
import {
  makeCollection,
  resourceHead,
  referenceTo,
  redfishPath,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { baseMessage } from '../protocol/redfish-messages.js'
import { messageRefusal, Refusal } from '../protocol/redfish-refusal.js'
import { indicatorCheck, indicatorOf, setIndicator } from './indicators.js'
import { ofMachine, type MachineCall, type RedfishOutcome, type RedfishResource } from '../protocol/resource.js'
import { drivesOf, MIN_RAID_DRIVES, mostOf, RAID_TYPES } from './raid-capacity.js'

interface Controller {
  id: string
  name: string
  disks: readonly DiskSpec[]
  hasVolumes: boolean
}

/** Most disks are behind a RAID controller, NVMe disks behind one that makes no volumes. */
function controllersOf({ spec: { disks } }: Machine): Controller[] {
  const nvme = disks.filter((disk) => !transportOf(disk).isBehindRaid)
  const others = disks.filter((disk) => transportOf(disk).isBehindRaid)
  return [
    ...(others.length > 0 ? [{ id: 'RAID.1', name: 'RAID controller', disks: others, hasVolumes: true }] : []),
    ...(nvme.length > 0 ? [{ id: 'NVMe.1', name: 'NVMe controller', disks: nvme, hasVolumes: false }] : []),
  ]
}

const controllerOf = ({ machine, params }: MachineCall): Controller | undefined =>
  controllersOf(machine).find(({ id }) => id === params['storage'])

const pathTo = ({ spec }: Machine, ...more: string[]): string[] => ['Systems', spec.id, 'Storage', ...more]

const abilitiesOf = ({ disks, hasVolumes }: Controller): RedfishDocument => ({
  SpeedGbps: 12,
  SupportedControllerProtocols: ['PCIe'],
  SupportedDeviceProtocols: [...new Set(disks.map((disk) => transportOf(disk).protocol))],
  ...defined({ SupportedRAIDTypes: hasVolumes ? Object.values(RAID_TYPES) : undefined }),
})

/** A controller of an iDRAC says by an extension that it makes volumes of its drives. */
const modeOf = (machine: Machine, { hasVolumes }: Controller): RedfishDocument =>
  hasVolumes ? dellParts(machine, { Oem: { Dell: { DellStorageController: { ControllerMode: 'RAID' } } } }) : {}

function controllerDocument(call: MachineCall): RedfishDocument | undefined {
  const found = controllerOf(call)
  if (!found || call.params['controller'] !== '0') return undefined
  return {
    ...resourceHead('StorageController', pathTo(call.machine, found.id, 'Controllers', '0'), found.name),
    ...abilitiesOf(found),
    ...modeOf(call.machine, found),
    Status: enabledStatus(),
  }
}

function storageOf(call: MachineCall): RedfishDocument | undefined {
  const found = controllerOf(call)
  if (!found) return undefined
  const { id, name, disks, hasVolumes } = found
  const path = pathTo(call.machine, id)
  return {
    ...resourceHead('Storage', path, name),
    Status: { ...enabledStatus(), HealthRollup: 'OK' },
    Controllers: referenceTo(...path, 'Controllers'),
    // Clients of older services look here for what is a resource of its own now.
    StorageControllers: [
      {
        '@odata.id': `${redfishPath(...path)}#/StorageControllers/0`,
        MemberId: '0',
        Name: name,
        Status: enabledStatus(),
        ...abilitiesOf(found),
        ...modeOf(call.machine, found),
      },
    ],
    Drives: disks.map((disk) => referenceTo(...path, 'Drives', disk.name)),
    'Drives@odata.count': disks.length,
    ...defined({ Volumes: hasVolumes ? referenceTo(...path, 'Volumes') : undefined }),
  }
}

function driveOf(call: MachineCall): RedfishDocument | undefined {
  const controller = controllerOf(call)
  const disk = controller?.disks.find(({ name }) => name === call.params['drive'])
  if (!controller || !disk) return undefined
  const naa = disk.wwn.replace(/^0x/, '').toUpperCase()
  return {
    ...resourceHead('Drive', pathTo(call.machine, controller.id, 'Drives', disk.name), disk.model),
    Manufacturer: disk.vendor,
    Model: disk.model,
    SerialNumber: disk.serial,
    CapacityBytes: disk.size,
    BlockSizeBytes: disk.sectorSize,
    MediaType: disk.rotational ? 'HDD' : 'SSD',
    Protocol: transportOf(disk).protocol,
    Identifiers: [{ DurableName: naa, DurableNameFormat: 'NAA' }],
    Revision: '1.0',
    IndicatorLED: indicatorOf(call.machine, 'drive', disk.name),
    Status: enabledStatus(),
    Links: {
      Volumes: controller.hasVolumes
        ? call.machine.firmware.volumes.flatMap((volume, index) =>
            drivesOf(volume).includes(disk.name)
              ? [referenceTo(...pathTo(call.machine, controller.id, 'Volumes', volumeId(volume, index)))]
              : [],
          )
        : [],
    },
  }
}

/** When volumes are made. */
const APPLY_TIMES = ['Immediate']

const volumeId = (volume: Readonly<Record<string, unknown>>, index: number): string => String(volume['id'] ?? index + 1)

/** Volumes are the machine's logical disks, whether they were made here or by a driver of Ironic. */
function volumeOf(call: MachineCall): RedfishDocument | undefined {
  const controller = controllerOf(call)
  if (!controller?.hasVolumes) return undefined
  const { machine, params } = call
  const index = machine.firmware.volumes.findIndex((each, at) => volumeId(each, at) === params['volume'])
  const volume = machine.firmware.volumes[index]
  if (!volume) return undefined
  return volumeDocument(machine, controller, volume, index)
}

function volumeDocument(
  machine: Machine,
  controller: Controller,
  volume: Readonly<Record<string, unknown>>,
  index: number,
): RedfishDocument {
  const path = pathTo(machine, controller.id, 'Volumes', volumeId(volume, index))
  const type = RAID_TYPES[String(volume['raid_level'])]
  return {
    ...resourceHead('Volume', path, String(volume['volume_name'] ?? `Volume ${index + 1}`)),
    ...defined({ RAIDType: type }),
    CapacityBytes: capacityOf(volume, controller),
    BlockSizeBytes: 512,
    Encrypted: false,
    Identifiers: [],
    Status: enabledStatus(),
    Links: { Drives: drivesOf(volume).map((name) => referenceTo(...pathTo(machine, controller.id, 'Drives', name))) },
    Actions: {
      '#Volume.Initialize': {
        target: redfishPath(...path, 'Actions', 'Volume.Initialize'),
        'InitializeType@Redfish.AllowableValues': ['Fast', 'Slow'],
      },
    },
  }
}

function capacityOf(volume: Readonly<Record<string, unknown>>, { disks }: Controller): number {
  const { size_bytes: bytes, size_gb: gigabytes } = volume
  if (typeof bytes === 'number') return bytes
  return typeof gigabytes === 'number' ? gigabytes * GIB : Math.min(...disks.map(({ size }) => size))
}

const DRIVE_LINKS = listCheck(objectCheck({ '@odata.id': textCheck() }))

/** Properties that a client may give a new volume. */
const VOLUME_FIELDS = {
  Name: textCheck({ most: 64 }),
  RAIDType: choiceCheck(Object.values(RAID_TYPES)),
  CapacityBytes: integerCheck(1, Number.MAX_SAFE_INTEGER),
  Links: objectCheck({ Drives: DRIVE_LINKS, DedicatedSpareDrives: anythingCheck }),
  Drives: DRIVE_LINKS,
  DisplayName: textCheck({ most: 64 }),
  VolumeUsage: textCheck(),
  VolumeType: textCheck(),
  Encrypted: anythingCheck,
  Oem: anyObject,
  OptimumIOSizeBytes: anythingCheck,
  InitializeMethod: anythingCheck,
  '@Redfish.OperationApplyTime': choiceCheck(APPLY_TIMES),
}

/** @throws Refusal for drives that the controller lacks, too few of them, or too little room on them */
async function createVolume(call: MachineCall): Promise<RedfishOutcome> {
  const controller = controllerOf(call)
  if (!controller?.hasVolumes) throw messageRefusal(404, 'ResourceNotFound', ['Storage', call.params['storage']!])
  const { machine, body, service } = call
  checkCreation(body, VOLUME_FIELDS, [])
  const drives = volumeDrives(call, controller)
  const type = String(body['RAIDType'] ?? 'RAID0')
  checkDriveSet(type, drives)
  const [level] = Object.entries(RAID_TYPES).find(([, name]) => name === type)!
  const id = randomUuid(service.random).slice(0, 8)
  const bytes = volumeBytes(call, type, drives)
  const volume = {
    id,
    raid_level: level,
    size_bytes: bytes,
    size_gb: Math.floor(bytes / GIB),
    volume_name: String(body['Name'] ?? body['DisplayName'] ?? `Volume ${id}`),
    physical_disks: drives.map(({ name }) => name),
  }
  const all = [...machine.firmware.volumes, volume]
  if (!call.isLie) await machine.firmware.setVolumes(all)
  const location = redfishPath(...pathTo(machine, controller.id, 'Volumes', id))
  return { status: 201, headers: { location }, document: volumeDocument(machine, controller, volume, all.length - 1) }
}

/** The drives that a request names, in the place of today's schema or of older ones; without any, all of the controller. */
function volumeDrives(call: MachineCall, controller: Controller): readonly DiskSpec[] {
  const { body } = call
  const links = body['Links'] as RedfishDocument | undefined
  const named = (links?.['Drives'] ?? body['Drives'] ?? []) as Record<string, string>[]
  if (named.length === 0) return controller.disks
  return named.map((each) => driveNamed(each['@odata.id'], call, controller))
}

/** @throws Refusal for a drive that is named twice, and for fewer drives than the RAID type needs */
function checkDriveSet(type: string, drives: readonly DiskSpec[]): void {
  if (new Set(drives).size < drives.length)
    throw new Refusal(400, [
      baseMessage('PropertyValueConflict', ['Links/Drives', 'Links/Drives'], {
        property: 'Links/Drives',
        resolution: 'Name each drive once.',
      }),
    ])
  if (drives.length < MIN_RAID_DRIVES[type]!)
    throw new Refusal(400, [
      baseMessage('PropertyValueConflict', ['RAIDType', 'Links/Drives'], {
        property: 'RAIDType',
        resolution: `${type} needs ${MIN_RAID_DRIVES[type]} drives; ${drives.length} were named.`,
      }),
    ])
}

/** Size of a new volume: the requested one, or all that its drives have room for. @throws Refusal for too little room */
function volumeBytes({ machine, body }: MachineCall, type: string, drives: readonly DiskSpec[]): number {
  const most = mostOf(type, drives, machine.firmware.volumes)
  if (most <= 0)
    throw messageRefusal(400, 'ResourceExhaustion', [drives.map(({ name }) => name).join(', ')], {
      resolution: 'Delete a volume of these drives, or name others.',
    })
  const bytes = (body['CapacityBytes'] as number | undefined) ?? most
  if (bytes > most)
    throw messageRefusal(400, 'PropertyValueOutOfRange', [String(bytes), 'CapacityBytes'], {
      property: 'CapacityBytes',
      resolution: `These drives have room for ${most} bytes of ${type}.`,
    })
  return bytes
}

function driveNamed(path: string | undefined, { machine }: MachineCall, { id, disks }: Controller): DiskSpec {
  const disk = disks.find(({ name }) => redfishPath(...pathTo(machine, id, 'Drives', name)) === path)
  if (disk) return disk
  throw new Refusal(400, [
    baseMessage('PropertyValueNotInList', [String(path), 'Links/Drives'], {
      property: 'Links/Drives',
      resolution: `Name drives of ${id}.`,
    }),
  ])
}

async function deleteVolume(call: MachineCall): Promise<void> {
  if (!volumeOf(call)) throw messageRefusal(404, 'ResourceNotFound', ['Volume', call.params['volume']!])
  const { firmware } = call.machine
  await firmware.setVolumes(firmware.volumes.filter((each, index) => volumeId(each, index) !== call.params['volume']))
}

function simpleStorageOf(call: MachineCall): RedfishDocument | undefined {
  const found = controllerOf(call)
  return (
    found && {
      ...resourceHead('SimpleStorage', ['Systems', call.machine.spec.id, 'SimpleStorage', found.id], found.name),
      Status: { ...enabledStatus(), HealthRollup: 'OK' },
      Devices: found.disks.map(({ name, vendor, model, size }) => ({
        Name: name,
        Manufacturer: vendor,
        Model: model,
        CapacityBytes: size,
        Status: enabledStatus(),
      })),
    }
  )
}

const volumeCollection = (call: MachineCall): RedfishDocument | undefined => {
  const controller = controllerOf(call)
  if (!controller?.hasVolumes) return undefined
  const path = pathTo(call.machine, controller.id, 'Volumes')
  const members = call.machine.firmware.volumes.map((each, index) => referenceTo(...path, volumeId(each, index)))
  return {
    ...makeCollection('VolumeCollection', path, 'Volumes', members),
    '@Redfish.OperationApplyTimeSupport': {
      '@odata.type': '#Settings.v1_3_5.OperationApplyTimeSupport',
      SupportedValues: APPLY_TIMES,
    },
  }
}

const STORAGE_ROOT = '/Systems/{machine}/Storage'

/** Disks, and the volumes of the RAID controller, which do not change the disks that programs see. */
export const STORAGE_RESOURCES: readonly RedfishResource[] = [
  ofMachine(STORAGE_ROOT, {
    reads: 'read hardware',
    get: ({ machine }) => {
      const members = controllersOf(machine).map(({ id }) => referenceTo(...pathTo(machine, id)))
      return makeCollection('StorageCollection', pathTo(machine), 'Storage', members)
    },
  }),
  ofMachine(`${STORAGE_ROOT}/{storage}`, { reads: 'read hardware', get: storageOf }),
  ofMachine(`${STORAGE_ROOT}/{storage}/Controllers`, {
    reads: 'read hardware',
    get: (call) => {
      const found = controllerOf(call)
      if (!found) return undefined
      const path = pathTo(call.machine, found.id, 'Controllers')
      return makeCollection('StorageControllerCollection', path, 'Storage Controllers', [referenceTo(...path, '0')])
    },
  }),
  ofMachine(`${STORAGE_ROOT}/{storage}/Controllers/{controller}`, { reads: 'read hardware', get: controllerDocument }),
  ofMachine(`${STORAGE_ROOT}/{storage}/Drives/{drive}`, {
    reads: 'read hardware',
    changes: 'change indicators',
    get: driveOf,
    patch: async (call) => {
      const drive = driveOf(call)
      if (!drive) throw messageRefusal(404, 'ResourceNotFound', ['Drive', call.params['drive']!])
      checkPatch(call.body, { IndicatorLED: indicatorCheck }, drive)
      await setIndicator(call.machine, 'drive', call.body['IndicatorLED'], call.params['drive']!)
    },
  }),
  ofMachine(`${STORAGE_ROOT}/{storage}/Volumes`, {
    reads: 'read hardware',
    changes: 'change firmware',
    get: volumeCollection,
    post: createVolume,
    liesItself: true,
  }),
  ofMachine(`${STORAGE_ROOT}/{storage}/Volumes/{volume}`, {
    reads: 'read hardware',
    changes: 'change firmware',
    get: volumeOf,
    delete: deleteVolume,
  }),
  ofMachine(`${STORAGE_ROOT}/{storage}/Volumes/{volume}/Actions/Volume.Initialize`, {
    reads: 'change firmware',
    post: (call) => {
      if (!volumeOf(call)) throw messageRefusal(404, 'ResourceNotFound', ['Volume', call.params['volume']!])
      checkAction('Volume.Initialize', call.body, { InitializeType: choiceCheck(['Fast', 'Slow']) })
    },
  }),
  ofMachine('/Systems/{machine}/SimpleStorage', {
    reads: 'read hardware',
    get: ({ machine }) =>
      makeCollection(
        'SimpleStorageCollection',
        ['Systems', machine.spec.id, 'SimpleStorage'],
        'Simple Storage',
        controllersOf(machine).map(({ id }) => referenceTo('Systems', machine.spec.id, 'SimpleStorage', id)),
      ),
  }),
  ofMachine('/Systems/{machine}/SimpleStorage/{storage}', { reads: 'read hardware', get: simpleStorageOf }),
]
