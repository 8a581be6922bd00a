import { describe, expect, test } from 'vitest'
import { defined } from '../../../base/runtime/index.js'
import { dialectOf } from '../../../bmc/dialects/index.js'
import { dumpedSystem, textAt } from '../../../bmc/dumps/index.js'
import { createStagedLab, installCoreos } from '../../../lab/index.js'
import { defaultMachineSpec, withHardware } from '../../../machine/index.js'
import { DUMPED_FACES, dumpedFaces, importedFace, writtenFace } from '../../kit/bmc-dumps/dumped-faces.js'
import { ignition } from '../../kit/deployed.js'
import { crawled } from '../../kit/redfish/crawled.js'
import { served, type Served } from '../../kit/redfish/served.js'

const ROOT = '/redfish/v1'
const IMAGE = 'http://images.test/boot.iso'

const withMedia = dumpedFaces.filter((face) => DUMPED_FACES[face].hasVirtualMedia)

/** A machine that was made of a face, behind its service. */
async function servedFace(face: (typeof dumpedFaces)[number], count = 1): Promise<Served> {
  const { hardware } = await importedFace(await writtenFace(face))
  return served(count, {}, withHardware(defaultMachineSpec(1), hardware))
}

/** The first slot that takes CDs, where a client looks for it: below the system, or else below its manager. */
async function cdSlot(bmc: Served, system: string): Promise<string> {
  const { document } = await bmc.call('GET', system)
  const manager = document.Links.ManagedBy[0]['@odata.id'] as string
  const own = document.VirtualMedia?.['@odata.id'] as string | undefined
  const collection = own ?? (await bmc.call('GET', manager)).document.VirtualMedia['@odata.id']
  const { Members } = (await bmc.call('GET', collection)).document
  for (const { '@odata.id': path } of Members as { '@odata.id': string }[]) {
    const slot = await bmc.call('GET', path)
    if (slot.document.MediaTypes.some((type: string) => ['CD', 'DVD'].includes(type))) return path
  }
  throw new Error(`${system} has no slot for a CD`)
}

describe.each(withMedia)('a machine made of the dump of %s', (face) => {
  test('goes from enroll to active by virtual media', async () => {
    const { hardware } = await importedFace(await writtenFace(face))
    await using lab = await createStagedLab({ hardware: [{ hardware }] })
    const node = await lab.enroll({
      fields: { boot_interface: 'redfish-virtual-media', bios_interface: 'redfish' },
      deploySteps: [installCoreos({ ignition })],
    })
    await node.provision('manage')
    expect(await node.settled()).toMatchObject({ provision_state: 'manageable', last_error: null })
    await node.deploy()
    expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  })

  test('does over Redfish what a client of a deployment asks for', async () => {
    await using bmc = await servedFace(face)
    const system = `${ROOT}/Systems/${DUMPED_FACES[face].system}`.replace('437FAKE38R2', bmc.machine().spec.serial)
    const reset = (await bmc.call('GET', system)).document.Actions['#ComputerSystem.Reset'].target as string
    expect((await bmc.call('GET', system)).document.PowerState).toBe('Off')

    const path = await cdSlot(bmc, system)
    const slot = await bmc.call('GET', path)
    const insert = slot.document.Actions?.['#VirtualMedia.InsertMedia']?.target as string | undefined
    const inserted =
      insert === undefined
        ? await bmc.call('PATCH', path, { Image: IMAGE, Inserted: true })
        : await bmc.call('POST', insert, { Image: IMAGE })
    expect(inserted.status).toBeLessThan(300)
    const full = await bmc.call('GET', path)
    expect(full.document).toMatchObject({ Image: IMAGE, Inserted: true, ConnectedVia: 'URI' })
    expect(full.headers['etag']).not.toBe(slot.headers['etag'] ?? 'none')
    expect(bmc.machine().firmware.inserted('cdrom')).toBe(IMAGE)

    expect((await bmc.call('POST', reset, { ResetType: 'On' })).status).toBeLessThan(300)
    expect((await bmc.call('GET', system)).document.PowerState).toBe('On')
    expect(bmc.machine().power()).toBe('on')
  })
})

describe.each(dumpedFaces)('the service of a machine made of %s', (face) => {
  test('has each resource of the dump, and answers none that the dump lacks', async () => {
    const { imported, hardware } = await importedFace(await writtenFace(face))
    await using bmc = await served(1, {}, withHardware(defaultMachineSpec(1), hardware))
    for (const { path } of imported.dump.resources())
      expect([path, (await bmc.call('GET', path)).status]).toEqual([path, 200])
    const all = await crawled(bmc)
    for (const [path, { status }] of all)
      if (status !== 200) expect([path, imported.dump.find(path)]).toEqual([path, undefined])
    expect((await bmc.call('GET', `${ROOT}/Systems/1/Nothing`)).status).toBe(404)
  })

  test('of two machines shows each by its own id, with its own identities', async () => {
    const { imported, hardware } = await importedFace(await writtenFace(face))
    const { dialect, manufacturer, product } = withHardware(defaultMachineSpec(1), hardware)
    await using bmc = await served(2, {}, { ...defined({ dialect }), manufacturer, product })
    const { document } = await bmc.call('GET', `${ROOT}/Systems/machine-2`)
    expect(document.Links.ManagedBy).toEqual([{ '@odata.id': `${ROOT}/Managers/machine-2` }])
    expect(document.Actions['#ComputerSystem.Reset'].target).toContain(`${ROOT}/Systems/machine-2/`)
    const { system } = dumpedSystem(imported.dump, dialectOf(defined({ dialect })).dump?.system ?? undefined)
    if (textAt(system.document, 'SerialNumber') !== undefined)
      expect([document.SerialNumber, document.SKU]).toContain(bmc.machine(2).spec.serial)
    const { Members } = (await bmc.call('GET', `${ROOT}/Systems`)).document
    expect(Members).toEqual([1, 2].map((n) => ({ '@odata.id': `${ROOT}/Systems/machine-${n}` })))
  })
})
