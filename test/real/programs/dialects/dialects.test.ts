import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BMC_DIALECTS, type BmcDialect, type DialectName } from '../../../../bmc/dialects/index.js'
import { ADMIN, openDialectBmcs, type DialectBmcs } from './dialect-bmcs.js'
import { communityGeneral, dialectsGofish, operatorClients } from './peers.js'
import { QUIRK_ROWS } from './quirk-rows.js'

/** The clients of operators at BMCs of all records: what they reach, and what they work around. */

const run = promisify(execFile)
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** With a cold cache most of this is the installation of peers. */
const INSTALLATION = 900_000

async function python(program: string, table: object): Promise<unknown> {
  const [venv, collections] = await Promise.all([operatorClients(), communityGeneral()])
  const argv = [at(program), JSON.stringify(table), ADMIN.username, ADMIN.password]
  const env = { ...process.env, PYTHONPATH: collections, LC_ALL: 'C.UTF-8' }
  const { stdout } = await run(join(venv, 'bin/python'), argv, { env, maxBuffer: 2 ** 26 })
  return JSON.parse(stdout) as unknown
}

async function gofish(command: string, table: object): Promise<unknown> {
  const argv = [command, JSON.stringify(table), ADMIN.username, ADMIN.password]
  const { stdout } = await run(await dialectsGofish(), argv, { maxBuffer: 2 ** 26 })
  return JSON.parse(stdout) as unknown
}

/** The reach of sushy at a BMC: classes of resources, and each member that failed, with its resource and the error. */
interface SushyWalk {
  readonly kinds: readonly string[]
  readonly errors: readonly (readonly [member: string, path: string, error: string])[]
}

/** The reach of gofish at a BMC: types of resources, and errors by the method that ended with them. */
interface GofishWalk {
  readonly kinds: readonly string[]
  readonly errors: Readonly<Record<string, string>>
}

/** Resources of each BMC, as both clients call them, with the paths that some lack. */
const KINDS: Readonly<Record<string, string | null>> = {
  Bios: '/Systems/*/Bios',
  Chassis: null,
  Drive: null,
  Manager: null,
  NetworkAdapter: null,
  Power: null,
  Processor: null,
  SecureBoot: '/Systems/*/SecureBoot',
  Session: null,
  SoftwareInventory: '/UpdateService',
  Storage: null,
  Thermal: null,
  UpdateService: '/UpdateService',
}

/** Links that sushy's API has and no BMC here: they are optional. Sushy takes an empty list of certificates for a missing one. */
const OPTIONAL_IN_SUSHY = [
  'CertificateService.certificate_locations',
  'Drive.volumes',
  'Manager.ethernet_interfaces',
  'NetworkAdapter.network_ports',
  'NetworkDeviceFunction.assignable_physical_ports',
  'Processor.sub_processors',
  'Sushy.get_composition_service',
  'Sushy.get_fabric_collection',
  'UpdateService.software_inventory',
]

/** Members of sushy that fail by themselves: of a controller without settings, and by an attribute that a task lacks. */
const FAILING_IN_SUSHY = [
  'StorageController.pending_settings',
  'StorageController.supported_apply_times',
  'Task.is_processing',
]

/** Members of sushy that need a property, or a resource. */
const NEEDING: Readonly<Record<string, readonly string[]>> = {
  'ComputerSystem.EthernetInterfaces': ['System.ethernet_interfaces'],
  'ComputerSystem.SimpleStorage': ['System.simple_storage', 'System.simple_storage_expanded'],
  'Manager.VirtualMedia': ['Manager.virtual_media'],
  'Storage.Controllers': ['Storage.controllers'],
  'Storage.Volumes': [
    'Storage.volumes',
    'StorageCollection.max_volume_size_bytes',
    'StorageCollection.volumes_sizes_bytes',
  ],
  'VirtualMedia.Certificates': ['VirtualMedia.certificates'],
  '/Systems/*/Bios': ['System.bios'],
  '/Systems/*/SecureBoot': ['System.secure_boot'],
  '/UpdateService': ['Sushy.get_update_service'],
  '/UpdateService/Actions/UpdateService.SimpleUpdate': ['UpdateService.get_allowed_transfer_protocols'],
}

/** Members of sushy that take the only system, manager or chassis. */
const ONLY_MEMBERS = {
  Systems: 'Sushy.get_system',
  Managers: 'Sushy.get_manager',
  Chassis: 'Sushy.get_chassis',
} as const

/** Members of sushy that cannot be read of a BMC: its record says what it lacks, with the source. */
function lackingIn({ properties, media, resources }: BmcDialect): string[] {
  const lacking = [...properties.leftOut, ...resources.absent].flatMap((each) => NEEDING[each] ?? [])
  for (const { folder } of resources.further) lacking.push(ONLY_MEMBERS[folder])
  if (media.systemLink === 'absent') lacking.push('System.virtual_media')
  if (media.insertBy !== 'config' && media.slots.some(({ drive }) => drive === null))
    lacking.push('VirtualMedia.certificates')
  return [...new Set(lacking)].sort()
}

/** Kinds of resources by whether a BMC has them. */
function kindsOf({ properties, media, resources }: BmcDialect): Record<string, boolean> {
  const kinds = Object.entries(KINDS).map(([kind, path]) => [kind, path === null || !resources.absent.includes(path)])
  return {
    ...(Object.fromEntries(kinds) as Record<string, boolean>),
    VirtualMedia: media.slots.length > 0 && media.insertBy !== 'config',
    EthernetInterface: !properties.leftOut.includes('ComputerSystem.EthernetInterfaces'),
  }
}

/** True for a resource of a system, manager or chassis behind which there is no machine: it has what its record says. */
const isFurther = ({ resources }: BmcDialect, path: string): boolean =>
  resources.further.some(({ folder, id }) => `${path}/`.replace('?', '/').startsWith(`/redfish/v1/${folder}/${id}/`))

describe('a walk over all that a client reaches', () => {
  let opened: DialectBmcs
  let sushy: Record<string, SushyWalk>
  let gofishes: Record<string, GofishWalk>
  beforeAll(async () => {
    const names = Object.keys(BMC_DIALECTS) as DialectName[]
    opened = await openDialectBmcs(Object.fromEntries(names.map((name) => [name, name])))
    for (const { machine } of Object.values(opened.bmcs)) await machine.setPower('on')
    // Sushy first: it leaves a task.
    sushy = (await python('./sushy_walk.py', opened.urls)) as typeof sushy
    gofishes = (await gofish('walk', opened.urls)) as typeof gofishes
  }, INSTALLATION)
  afterAll(() => opened?.[Symbol.asyncDispose]())

  const hasKinds = (kinds: readonly string[], dialect: BmcDialect): void => {
    const expected = kindsOf(dialect)
    expect(Object.fromEntries(Object.keys(expected).map((kind) => [kind, kinds.includes(kind)]))).toEqual(expected)
  }

  test.each(Object.entries(BMC_DIALECTS))(
    'of %s by sushy fails only where that BMC lacks something',
    (name, dialect) => {
      const { kinds, errors } = sushy[name]!
      hasKinds(kinds, dialect)
      expect(kinds).toEqual(expect.arrayContaining(['System', 'EventDestination']))
      const members = new Set(errors.filter(([, path]) => !isFurther(dialect, path)).map(([member]) => member))
      for (const member of [...FAILING_IN_SUSHY, ...OPTIONAL_IN_SUSHY]) members.delete(member)
      expect([...members].sort()).toEqual(lackingIn(dialect))
    },
  )

  test.each(Object.entries(BMC_DIALECTS))('of %s by gofish fails nowhere', (name, dialect) => {
    const { kinds, errors } = gofishes[name]!
    hasKinds(kinds, dialect)
    expect(kinds).toEqual(expect.arrayContaining(['ComputerSystem', 'BootOption', 'LogEntry', 'Sensor']))
    // An action without ActionInfo is an error of gofish, and it takes the list Location of a schema file for an object.
    const failing = Object.keys(errors).filter((member) => !member.endsWith('ActionInfo'))
    expect(failing).toEqual(['Service.JSONSchemas'])
  })
})

describe('a workaround of a client', () => {
  const rows = Object.values(QUIRK_ROWS).flat()
  let opened: DialectBmcs
  let seen: Record<string, Record<'with' | 'without', { value?: unknown; error?: string }>>
  beforeAll(async () => {
    // Each call has a machine of its own.
    const choices = rows.flatMap(({ name, bmc }) => [[name, bmc] as const, [`${name} without`, bmc] as const])
    opened = await openDialectBmcs(Object.fromEntries(choices), (name) => /ansible|badfish/.test(name))
    const tableOf = (isMine: (name: string) => boolean) =>
      Object.fromEntries(
        rows
          .filter(({ name }) => isMine(name))
          .map(({ name }) => [name, [opened.urls[name], opened.urls[`${name} without`]]]),
      )
    const isGo = (name: string) => name.endsWith(' gofish')
    const results = await Promise.all([
      python(
        './quirks.py',
        tableOf((name) => !isGo(name)),
      ),
      gofish('quirks', tableOf(isGo)),
    ])
    seen = Object.assign({}, ...results) as typeof seen
  }, INSTALLATION)
  afterAll(() => opened?.[Symbol.asyncDispose]())

  for (const [part, rowsOfPart] of Object.entries(QUIRK_ROWS))
    describe(`around ${part}`, () => {
      test.each(rowsOfPart)('quirk $name: $call', ({ name, value, without }) => {
        expect(seen[name]!.with).toEqual({ value })
        const taken = seen[name]!.without
        if (without instanceof RegExp) expect(taken.error).toMatch(without)
        else expect(taken).toEqual(without)
      })
    })

  test('quirk 40: without it the disk is booted', async () => {
    const bootOf = (name: string) => opened.bmcs[name]!.machine.boot()?.source.kind
    await expect.poll(() => bootOf('40 sushy')).toBe('cdrom')
    await expect.poll(() => bootOf('40 sushy without')).toBe('disk')
  })

  test('there are twenty and more, at least three of each part', () => {
    expect(rows.length).toBeGreaterThan(20)
    for (const each of Object.values(QUIRK_ROWS)) expect(each.length).toBeGreaterThanOrEqual(3)
  })
})
