import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BMC_DIALECTS, type BmcDialect, type DialectName, type FurtherMember } from '../../../../bmc/dialects/index.js'
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

/** The reach of a client at a BMC. */
interface Walk {
  /** Classes of resources. */
  readonly kinds: readonly string[]
  /** Beginnings of errors, by the member of the class that ended with it. */
  readonly errors: Readonly<Record<string, string>>
}

/** Resources that each BMC has, as classes of both clients. */
const KINDS_OF_ALL = ['Bios', 'Chassis', 'Drive', 'Manager', 'NetworkAdapter', 'Power', 'Processor']
const MORE_KINDS_OF_ALL = ['SecureBoot', 'Session', 'SoftwareInventory', 'Storage', 'Task', 'Thermal', 'UpdateService']

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

/** Members of sushy that need a property. */
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
}

/** Resources that a BMC may not have, with the members of sushy that need them and the kinds that are met there. */
const ABSENT: Readonly<Record<string, { members: readonly string[]; kinds: readonly string[] }>> = {
  '/Systems/*/Bios': { members: ['System.bios'], kinds: ['Bios'] },
  '/Systems/*/SecureBoot': { members: ['System.secure_boot'], kinds: ['SecureBoot'] },
  '/UpdateService': {
    members: ['Sushy.get_update_service'],
    kinds: ['UpdateService', 'SoftwareInventory', 'Task'],
  },
  // Nothing starts a task.
  '/UpdateService/Actions/UpdateService.SimpleUpdate': { members: [], kinds: ['Task'] },
}

const absentIn = ({ resources }: BmcDialect) => resources.absent.flatMap((path) => ABSENT[path] ?? [])

/** Kinds of resources, without those that a BMC does not have. */
const presentKinds = (kinds: readonly string[], dialect: BmcDialect): string[] =>
  kinds.filter((kind) => !absentIn(dialect).some((each) => each.kinds.includes(kind)))

/** Members of sushy that a system, manager or chassis beside the machine's may lack, and those that take the only one. */
const FURTHER: Readonly<Record<FurtherMember['folder'], RegExp>> = {
  Systems: /^(System\.\w+|Sushy\.get_system|UpdateService\.get_\w+)$/,
  Managers: /^(Manager\.\w+|Sushy\.get_manager)$/,
  Chassis: /^(Chassis\.\w+|Sushy\.get_chassis)$/,
}

const isOfFurther = ({ resources }: BmcDialect, member: string): boolean =>
  resources.further.some(({ folder }) => FURTHER[folder].test(member))

/** Members of sushy that cannot be read of a BMC: its record says which properties it lacks, with their source. */
function lackingIn(dialect: BmcDialect): string[] {
  const { properties, media } = dialect
  const lacking = properties.leftOut.flatMap((property) => NEEDING[property] ?? [])
  lacking.push(...absentIn(dialect).flatMap(({ members }) => members))
  if (media.systemLink === 'absent') lacking.push('System.virtual_media')
  if (media.slots.some(({ drive }) => drive === null)) lacking.push('VirtualMedia.certificates')
  const optional = OPTIONAL_IN_SUSHY.filter((member) => presentKinds(member.split('.').slice(0, 1), dialect).length > 0)
  return [...new Set([...optional, ...lacking])]
}

const kindsOf = ({ properties, media, bios }: BmcDialect): Readonly<Record<string, boolean>> => ({
  // Slots of CfgCD are listed while they have an image only.
  VirtualMedia: media.slots.length > 0 && media.insertBy !== 'config',
  EthernetInterface: !properties.leftOut.includes('ComputerSystem.EthernetInterfaces'),
  AttributeRegistry: bios.registry !== null,
})

describe('a walk over all that a client reaches', () => {
  let opened: DialectBmcs
  let sushy: Record<string, Walk>
  let gofishes: Record<string, Walk>
  beforeAll(async () => {
    const names = Object.keys(BMC_DIALECTS) as DialectName[]
    opened = await openDialectBmcs(Object.fromEntries(names.map((name) => [name, name])))
    for (const { machine } of Object.values(opened.bmcs)) await machine.setPower('on')
    // Sushy first: it leaves a task.
    sushy = (await python('./sushy_walk.py', opened.urls)) as typeof sushy
    gofishes = (await gofish('walk', opened.urls)) as typeof gofishes
  }, INSTALLATION)
  afterAll(() => opened?.[Symbol.asyncDispose]())

  test.each(Object.entries(BMC_DIALECTS))(
    'of %s by sushy fails only where that BMC lacks something',
    (name, dialect) => {
      const { kinds, errors } = sushy[name]!
      const expected = [...KINDS_OF_ALL, ...MORE_KINDS_OF_ALL, 'System', 'EventDestination']
      const lacking = lackingIn(dialect)
      const isOwn = (member: string) => lacking.includes(member) || !isOfFurther(dialect, member)
      expect(kinds).toEqual(expect.arrayContaining(presentKinds(expected, dialect)))
      for (const [kind, isThere] of Object.entries(kindsOf(dialect)))
        expect({ kind, isThere: kinds.includes(kind) }).toEqual({ kind, isThere })
      const unlike = Object.entries(errors).filter(
        ([member, error]) => isOwn(member) && !error.startsWith('MissingAttributeError: '),
      )
      const failing = FAILING_IN_SUSHY.filter((member) => member.split('.')[0] !== 'Task' || kinds.includes('Task'))
      const controllers = dialect.properties.leftOut.includes('Storage.Controllers')
      expect(unlike.map(([member]) => member).sort()).toEqual(
        failing.filter((member) => !controllers || !member.startsWith('StorageController.')),
      )
      const missing = Object.keys(errors).filter((member) => !FAILING_IN_SUSHY.includes(member) && isOwn(member))
      expect(missing.sort()).toEqual(lacking.sort())
    },
  )

  test.each(Object.entries(BMC_DIALECTS))('of %s by gofish fails nowhere', (name, dialect) => {
    const { kinds, errors } = gofishes[name]!
    const expected = [...KINDS_OF_ALL, ...MORE_KINDS_OF_ALL, 'ComputerSystem', 'BootOption', 'LogEntry', 'Sensor']
    expect(kinds).toEqual(expect.arrayContaining(presentKinds(expected, dialect)))
    const { AttributeRegistry: _, ...others } = kindsOf(dialect)
    for (const [kind, isThere] of Object.entries(others))
      expect({ kind, isThere: kinds.includes(kind) }).toEqual({ kind, isThere })
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
