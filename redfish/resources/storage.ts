import type { DiskSpec, Machine } from '../../machine/index.js'
import { defined, uuid } from '../../runtime/index.js'
import { dellParts } from '../idrac/idrac.js'
import {
  anyObject,
  anything,
  checkAction,
  checkCreation,
  checkPatch,
  integer,
  listOf,
  object,
  oneOf,
  text,
} from '../protocol/checks.js'
import { collection, head, link, pathOf, status, type Document } from '../protocol/document.js'
import { message } from '../protocol/messages.js'
import { refused, Refusal } from '../protocol/refusal.js'
import { indicator, indicatorOf, setIndicator } from './indicators.js'
import { ofMachine, type MachineCall, type Outcome, type Resource } from '../protocol/resource.js'
import { drivesOf, FEWEST, mostOf, RAID_TYPES } from './raid-capacity.js'

interface Controller {
  id: string
  name: string
  disks: readonly DiskSpec[]
  hasVolumes: boolean
}

/** SATA and SAS disks are behind a RAID controller, NVMe disks behind one that makes no volumes. */
function controllersOf({ spec: { disks } }: Machine): Controller[] {
  const nvme = disks.filter(({ transport }) => transport === 'nvme')
  const others = disks.filter(({ transport }) => transport !== 'nvme')
  return [
    ...(others.length > 0 ? [{ id: 'RAID.1', name: 'RAID controller', disks: others, hasVolumes: true }] : []),
    ...(nvme.length > 0 ? [{ id: 'NVMe.1', name: 'NVMe controller', disks: nvme, hasVolumes: false }] : []),
  ]
}

const controllerOf = ({ machine, params }: MachineCall): Controller | undefined =>
  controllersOf(machine).find(({ id }) => id === params['storage'])

const PROTOCOLS = { sata: 'SATA', sas: 'SAS', nvme: 'NVMe', usb: 'USB' } as const

const pathTo = ({ spec }: Machine, ...more: string[]): string[] => ['Systems', spec.id, 'Storage', ...more]

const abilitiesOf = ({ disks, hasVolumes }: Controller): Document => ({
  SpeedGbps: 12,
  SupportedControllerProtocols: ['PCIe'],
  SupportedDeviceProtocols: [...new Set(disks.map(({ transport }) => PROTOCOLS[transport]))],
  ...defined({ SupportedRAIDTypes: hasVolumes ? Object.values(RAID_TYPES) : undefined }),
})

/** A controller of an iDRAC says by an extension that it makes volumes of its drives. */
const modeOf = (machine: Machine, { hasVolumes }: Controller): Document =>
  hasVolumes ? dellParts(machine, { Oem: { Dell: { DellStorageController: { ControllerMode: 'RAID' } } } }) : {}

function controllerDocument(call: MachineCall): Document | undefined {
  const found = controllerOf(call)
  if (!found || call.params['controller'] !== '0') return undefined
  return {
    ...head('StorageController', pathTo(call.machine, found.id, 'Controllers', '0'), found.name),
    ...abilitiesOf(found),
    ...modeOf(call.machine, found),
    Status: status(),
  }
}

function storageOf(call: MachineCall): Document | undefined {
  const found = controllerOf(call)
  if (!found) return undefined
  const { id, name, disks, hasVolumes } = found
  const path = pathTo(call.machine, id)
  return {
    ...head('Storage', path, name),
    Status: { ...status(), HealthRollup: 'OK' },
    Controllers: link(...path, 'Controllers'),
    // Clients of older services look here for what is a resource of its own now.
    StorageControllers: [
      {
        '@odata.id': `${pathOf(...path)}#/StorageControllers/0`,
        MemberId: '0',
        Name: name,
        Status: status(),
        ...abilitiesOf(found),
        ...modeOf(call.machine, found),
      },
    ],
    Drives: disks.map((disk) => link(...path, 'Drives', disk.name)),
    'Drives@odata.count': disks.length,
    ...defined({ Volumes: hasVolumes ? link(...path, 'Volumes') : undefined }),
  }
}

function driveOf(call: MachineCall): Document | undefined {
  const controller = controllerOf(call)
  const disk = controller?.disks.find(({ name }) => name === call.params['drive'])
  if (!controller || !disk) return undefined
  const naa = disk.wwn.replace(/^0x/, '').toUpperCase()
  return {
    ...head('Drive', pathTo(call.machine, controller.id, 'Drives', disk.name), disk.model),
    Manufacturer: disk.vendor,
    Model: disk.model,
    SerialNumber: disk.serial,
    CapacityBytes: disk.size,
    BlockSizeBytes: disk.sectorSize,
    MediaType: disk.rotational ? 'HDD' : 'SSD',
    Protocol: PROTOCOLS[disk.transport],
    Identifiers: [{ DurableName: naa, DurableNameFormat: 'NAA' }],
    Revision: '1.0',
    IndicatorLED: indicatorOf(call.machine, 'drive', disk.name),
    Status: status(),
    Links: {
      Volumes: controller.hasVolumes
        ? call.machine.firmware.volumes.flatMap((volume, index) =>
            drivesOf(volume).includes(disk.name)
              ? [link(...pathTo(call.machine, controller.id, 'Volumes', volumeId(volume, index)))]
              : [],
          )
        : [],
    },
  }
}

const GIB = 1024 ** 3

/** When volumes are made. */
const APPLY_TIMES = ['Immediate']

const volumeId = (volume: Readonly<Record<string, unknown>>, index: number): string => String(volume['id'] ?? index + 1)

/** Volumes are the machine's logical disks, whether they were made here or by a driver of Ironic. */
function volumeOf(call: MachineCall): Document | undefined {
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
): Document {
  const path = pathTo(machine, controller.id, 'Volumes', volumeId(volume, index))
  const type = RAID_TYPES[String(volume['raid_level'])]
  return {
    ...head('Volume', path, String(volume['volume_name'] ?? `Volume ${index + 1}`)),
    ...defined({ RAIDType: type }),
    CapacityBytes: capacityOf(volume, controller),
    BlockSizeBytes: 512,
    Encrypted: false,
    Identifiers: [],
    Status: status(),
    Links: { Drives: drivesOf(volume).map((name) => link(...pathTo(machine, controller.id, 'Drives', name))) },
    Actions: {
      '#Volume.Initialize': {
        target: pathOf(...path, 'Actions', 'Volume.Initialize'),
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

/** @throws Refusal for drives that the controller lacks, or too few of them */
async function createVolume(call: MachineCall): Promise<Outcome> {
  const controller = controllerOf(call)
  if (!controller?.hasVolumes) throw refused(404, 'ResourceNotFound', ['Storage', call.params['storage']!])
  const { machine, body, service } = call
  const fields = {
    Name: text({ most: 64 }),
    RAIDType: oneOf(Object.values(RAID_TYPES)),
    CapacityBytes: integer(1, Number.MAX_SAFE_INTEGER),
    Links: object({ Drives: listOf(object({ '@odata.id': text() })), DedicatedSpareDrives: anything }),
    Drives: listOf(object({ '@odata.id': text() })),
    DisplayName: text({ most: 64 }),
    VolumeUsage: text(),
    VolumeType: text(),
    Encrypted: anything,
    Oem: anyObject,
    OptimumIOSizeBytes: anything,
    InitializeMethod: anything,
    '@Redfish.OperationApplyTime': oneOf(APPLY_TIMES),
  }
  checkCreation(body, fields, [])
  const wanted = ((body['Links'] as Document | undefined)?.['Drives'] ?? body['Drives'] ?? []) as Record<
    string,
    string
  >[]
  const drives =
    wanted.length > 0 ? wanted.map((each) => driveNamed(each['@odata.id'], call, controller)) : controller.disks
  const type = String(body['RAIDType'] ?? 'RAID0')
  if (new Set(drives).size < drives.length)
    throw new Refusal(400, [
      message('PropertyValueConflict', ['Links/Drives', 'Links/Drives'], {
        property: 'Links/Drives',
        resolution: 'Name each drive once.',
      }),
    ])
  if (drives.length < FEWEST[type]!)
    throw new Refusal(400, [
      message('PropertyValueConflict', ['RAIDType', 'Links/Drives'], {
        property: 'RAIDType',
        resolution: `${type} needs ${FEWEST[type]} drives; ${drives.length} were named.`,
      }),
    ])
  const [level] = Object.entries(RAID_TYPES).find(([, name]) => name === type)!
  const id = uuid(service.random).slice(0, 8)
  const most = mostOf(type, drives, machine.firmware.volumes)
  if (most <= 0)
    throw refused(400, 'ResourceExhaustion', [drives.map(({ name }) => name).join(', ')], {
      resolution: 'Delete a volume of these drives, or name others.',
    })
  const bytes = (body['CapacityBytes'] as number | undefined) ?? most
  if (bytes > most)
    throw refused(400, 'PropertyValueOutOfRange', [String(bytes), 'CapacityBytes'], {
      property: 'CapacityBytes',
      resolution: `These drives have room for ${most} bytes of ${type}.`,
    })
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
  const location = pathOf(...pathTo(machine, controller.id, 'Volumes', id))
  return { status: 201, headers: { location }, document: volumeDocument(machine, controller, volume, all.length - 1) }
}

function driveNamed(path: string | undefined, { machine }: MachineCall, { id, disks }: Controller): DiskSpec {
  const disk = disks.find(({ name }) => pathOf(...pathTo(machine, id, 'Drives', name)) === path)
  if (disk) return disk
  throw new Refusal(400, [
    message('PropertyValueNotInList', [String(path), 'Links/Drives'], {
      property: 'Links/Drives',
      resolution: `Name drives of ${id}.`,
    }),
  ])
}

async function deleteVolume(call: MachineCall): Promise<void> {
  if (!volumeOf(call)) throw refused(404, 'ResourceNotFound', ['Volume', call.params['volume']!])
  const { firmware } = call.machine
  await firmware.setVolumes(firmware.volumes.filter((each, index) => volumeId(each, index) !== call.params['volume']))
}

function simpleStorageOf(call: MachineCall): Document | undefined {
  const found = controllerOf(call)
  return (
    found && {
      ...head('SimpleStorage', ['Systems', call.machine.spec.id, 'SimpleStorage', found.id], found.name),
      Status: { ...status(), HealthRollup: 'OK' },
      Devices: found.disks.map(({ name, vendor, model, size }) => ({
        Name: name,
        Manufacturer: vendor,
        Model: model,
        CapacityBytes: size,
        Status: status(),
      })),
    }
  )
}

const volumeCollection = (call: MachineCall): Document | undefined => {
  const controller = controllerOf(call)
  if (!controller?.hasVolumes) return undefined
  const path = pathTo(call.machine, controller.id, 'Volumes')
  const members = call.machine.firmware.volumes.map((each, index) => link(...path, volumeId(each, index)))
  return {
    ...collection('VolumeCollection', path, 'Volumes', members),
    '@Redfish.OperationApplyTimeSupport': {
      '@odata.type': '#Settings.v1_3_5.OperationApplyTimeSupport',
      SupportedValues: APPLY_TIMES,
    },
  }
}

const ROOT = '/Systems/{machine}/Storage'

/** Disks, and the volumes of the RAID controller, which do not change the disks that programs see. */
export const STORAGE_RESOURCES: readonly Resource[] = [
  ofMachine(ROOT, {
    reads: 'read hardware',
    get: ({ machine }) => {
      const members = controllersOf(machine).map(({ id }) => link(...pathTo(machine, id)))
      return collection('StorageCollection', pathTo(machine), 'Storage', members)
    },
  }),
  ofMachine(`${ROOT}/{storage}`, { reads: 'read hardware', get: storageOf }),
  ofMachine(`${ROOT}/{storage}/Controllers`, {
    reads: 'read hardware',
    get: (call) => {
      const found = controllerOf(call)
      if (!found) return undefined
      const path = pathTo(call.machine, found.id, 'Controllers')
      return collection('StorageControllerCollection', path, 'Storage Controllers', [link(...path, '0')])
    },
  }),
  ofMachine(`${ROOT}/{storage}/Controllers/{controller}`, { reads: 'read hardware', get: controllerDocument }),
  ofMachine(`${ROOT}/{storage}/Drives/{drive}`, {
    reads: 'read hardware',
    changes: 'change indicators',
    get: driveOf,
    patch: async (call) => {
      const drive = driveOf(call)
      if (!drive) throw refused(404, 'ResourceNotFound', ['Drive', call.params['drive']!])
      checkPatch(call.body, { IndicatorLED: indicator }, drive)
      await setIndicator(call.machine, 'drive', call.body['IndicatorLED'], call.params['drive']!)
    },
  }),
  ofMachine(`${ROOT}/{storage}/Volumes`, {
    reads: 'read hardware',
    changes: 'change firmware',
    get: volumeCollection,
    post: createVolume,
    liesItself: true,
  }),
  ofMachine(`${ROOT}/{storage}/Volumes/{volume}`, {
    reads: 'read hardware',
    changes: 'change firmware',
    get: volumeOf,
    delete: deleteVolume,
  }),
  ofMachine(`${ROOT}/{storage}/Volumes/{volume}/Actions/Volume.Initialize`, {
    reads: 'change firmware',
    post: (call) => {
      if (!volumeOf(call)) throw refused(404, 'ResourceNotFound', ['Volume', call.params['volume']!])
      checkAction('Volume.Initialize', call.body, { InitializeType: oneOf(['Fast', 'Slow']) })
    },
  }),
  ofMachine('/Systems/{machine}/SimpleStorage', {
    reads: 'read hardware',
    get: ({ machine }) =>
      collection(
        'SimpleStorageCollection',
        ['Systems', machine.spec.id, 'SimpleStorage'],
        'Simple Storage',
        controllersOf(machine).map(({ id }) => link('Systems', machine.spec.id, 'SimpleStorage', id)),
      ),
  }),
  ofMachine('/Systems/{machine}/SimpleStorage/{storage}', { reads: 'read hardware', get: simpleStorageOf }),
]
