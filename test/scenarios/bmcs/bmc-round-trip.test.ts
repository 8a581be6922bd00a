import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isObject, silent, systemClock } from '../../../base/runtime/index.js'
import { serveHttp } from '../../../base/wire/index.js'
import { BMC_DIALECTS, isDialectName, type DialectName } from '../../../bmc/dialects/index.js'
import { defaultMachineSpec, withHardware } from '../../../machine/index.js'
import { ADMIN, served, type Served } from '../../kit/redfish/served.js'
import { dumpFolder, importedFace } from '../../kit/bmc-dumps/dumped-faces.js'
import { takeDump, writeTaken, type TakeDumpOptions, type TakenDump } from '../../../apps/bmc-dumps/index.js'

const names = Object.keys(BMC_DIALECTS).filter(isDialectName)

/** The BMC of a machine at an address. */
async function addressOf(bmc: Served): Promise<string> {
  const server = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock: systemClock() })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

const taken = (url: string, more: Partial<TakeDumpOptions> = {}): Promise<TakenDump> =>
  takeDump({
    url,
    ...ADMIN,
    clock: systemClock(),
    logger: silent,
    signal: new AbortController().signal,
    pause: 0,
    ...more,
  })

/** A dump of a BMC, written. */
async function writtenDump(bmc: Served): Promise<{ folder: string; dump: TakenDump }> {
  const dump = await taken(await addressOf(bmc))
  const folder = join(await dumpFolder(), 'dump')
  await writeTaken(dump, folder)
  return { folder, dump }
}

/** Properties whose values are of a moment, or of the service. */
const OF_A_MOMENT =
  /^(@odata\.etag|DateTime|DateTimeLocalOffset|UUID|ServiceEntryPointUUID|Members|Members@odata\.count)$/

function lasting(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lasting)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (OF_A_MOMENT.test(name) ? [] : [[name, lasting(inner)]])),
  )
}

/** Records whose machines say nothing by which they differ from others. */
const NEAREST: Readonly<Partial<Record<DialectName, DialectName>>> = {
  'supermicro-x14': 'supermicro-x13',
}

describe.each(names)('a dump of the BMC %s', (dialect) => {
  test('makes a machine whose BMC answers alike', async () => {
    const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
    await using bmc = await served(1, {}, { dialect, manufacturer, product })
    // Some BMCs show their adapters only while the machine is on.
    await bmc.machine().setPower('on')
    const { folder, dump } = await writtenDump(bmc)
    expect(dump.unread).toEqual([])
    const { hardware, imported } = await importedFace(folder, { keepsIdentities: true })
    await using twin = await served(1, {}, withHardware(defaultMachineSpec(1), hardware))
    await twin.machine().setPower('on')
    expect(twin.machine().spec.nics.map(({ mac }) => mac)).toEqual(
      imported.record.base === 'nvidia-gb200' ? expect.any(Array) : bmc.machine().spec.nics.map(({ mac }) => mac),
    )
    for (const { path } of imported.dump.resources()) {
      const [own, other] = await Promise.all([bmc.call('GET', path), twin.call('GET', path)])
      expect({ path, status: other.status }).toEqual({ path, status: own.status })
      expect({ path, document: lasting(other.document) }).toEqual({ path, document: lasting(own.document) })
    }
  })

  test('is told by its maker, and refuses the same changes', async () => {
    const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
    await using bmc = await served(1, {}, { dialect, manufacturer, product })
    const { folder } = await writtenDump(bmc)
    const { hardware, imported } = await importedFace(folder, { keepsIdentities: true })
    await using twin = await served(1, {}, withHardware(defaultMachineSpec(1), hardware))
    expect(imported.record.base).toBe(NEAREST[dialect] ?? dialect)
    for (const [method, path, body] of await changesOf(bmc)) {
      const own = await bmc.call(method, path, body)
      const other = await twin.call(method, path, body)
      expect({ method, path, body, status: other.status }).toEqual({ method, path, body, status: own.status })
      expect({ path, ids: messageIds(other) }).toEqual({ path, ids: messageIds(own) })
    }
  })
})

const messageIds = ({ body = '' }: { body?: string | undefined }): string[] =>
  [...body.matchAll(/"MessageId":"([^"]+)"/g)].map(([, id]) => id!)

/** Changes that BMCs take or refuse, each in its own way: of power, boot, media, firmware, and of what there is not. */
async function changesOf(bmc: Served): Promise<[method: string, path: string, body: object][]> {
  const root = '/redfish/v1'
  const [system] = (await bmc.call('GET', `${root}/Systems`)).document.Members as { '@odata.id': string }[]
  const { document } = await bmc.call('GET', system!['@odata.id'])
  const manager = document.Links.ManagedBy?.[0] ?? document.Links.Managers[0]
  const own = document['@odata.id'] as string
  const target = document.Actions['#ComputerSystem.Reset'].target as string
  const settings = document['@Redfish.Settings']?.SettingsObject['@odata.id'] as string | undefined
  const firmware = document.Bios?.['@odata.id'] as string | undefined
  const bios = firmware === undefined ? {} : (await bmc.call('GET', firmware)).document
  const pending = bios['@Redfish.Settings']?.SettingsObject['@odata.id'] as string | undefined
  const ofManager = (await bmc.call('GET', manager['@odata.id'])).document.VirtualMedia
  const media = (ofManager ?? document.VirtualMedia)['@odata.id'] as string
  const members = (await bmc.call('GET', media)).document.Members as { '@odata.id': string }[] | null | undefined
  const slot = members?.[0]
  const boot = { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } }
  const image = { Image: 'http://images.test/boot.iso' }
  const ofSlot: [string, string, object][] =
    slot === undefined
      ? []
      : [
          ['PATCH', slot['@odata.id'], { ...image, Inserted: true }],
          ['POST', `${slot['@odata.id']}/Actions/VirtualMedia.InsertMedia`, image],
          ['POST', `${slot['@odata.id']}/Actions/VirtualMedia.InsertMedia`, image],
          ['POST', `${slot['@odata.id']}/Actions/VirtualMedia.EjectMedia`, {}],
        ]
  const ofFirmware: [string, string, object][] =
    pending === undefined
      ? []
      : [
          ['PATCH', pending, { Attributes: { Zork: 'Enabled' } }],
          ['PATCH', pending, { Attributes: {}, '@Redfish.SettingsApplyTime': { ApplyTime: 'OnReset' } }],
        ]
  return [
    ['POST', target, { ResetType: 'ForceOff' }],
    ['POST', target, { ResetType: 'Sideways' }],
    ['PATCH', own, boot],
    ['PATCH', own, { Boot: { BootSourceOverrideMode: 'UEFI' } }],
    ['PATCH', own, { Zork: 1 }],
    ...(settings === undefined ? [] : [['PATCH', settings, boot] as [string, string, object]]),
    ...ofSlot,
    ...ofFirmware,
    ['POST', target, { ResetType: 'On' }],
    ['POST', `${manager['@odata.id']}/Actions/Manager.Reset`, { ResetType: 'GracefulRestart' }],
    ['DELETE', own, {}],
    ['POST', `${root}/Systems`, {}],
    ['PATCH', `${root}/Nothing`, {}],
  ]
}
