import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BMC_DIALECTS, dialectOf, readOwnDialect } from '../../bmc/dialects/index.js'
import { defined } from '../../base/runtime/index.js'
import {
  DUMPED_FACES,
  dumpedFaces,
  dumpFolder,
  faceFile,
  importedFace,
  writtenFace,
  type DumpForm,
} from '../../test/kit/bmc-dumps/dumped-faces.js'
import { importDump, writeImport } from './import-dump.js'

const plainly = { system: undefined, keepsIdentities: false }

describe.each(dumpedFaces)('the dump of %s', (face) => {
  test('becomes a record of the nearest base, and of what the dump has otherwise', async () => {
    const { record } = await importDump(await writtenFace(face), plainly)
    const { base, system } = DUMPED_FACES[face]
    expect(record.base).toBe(base)
    const dialect = dialectOf({ dialect: readOwnDialect(record, 'the record') })
    expect(dialect.basis).toBe('dump')
    if (face !== 'dmtf-rackmount') expect(dialect.paths.system).toBe(system)
    expect(dialect.media.slots.some(({ drive }) => drive === 'cdrom')).toBe(DUMPED_FACES[face].hasVirtualMedia)
  })

  test('becomes the same machine in each form, and each time', async () => {
    const forms: readonly DumpForm[] =
      face === 'supermicro-x13' ? ['tree', 'zip', 'flat'] : ['tree', 'zip', 'short form', 'flat']
    const made = await Promise.all(forms.map(async (form) => importDump(await writtenFace(face, form), plainly)))
    const [first] = made
    for (const each of made) expect(each.hardware).toBe(first!.hardware)
    expect(made[1]!.dump.size).toBe(first!.dump.size)
  })

  test('keeps no identity of its machine, and all of them where they are wanted', async () => {
    const { resources } = await faceFile(face)
    const identities = identitiesIn(resources)
    expect(identities.length).toBeGreaterThan(4)
    const masked = await importDump(await writtenFace(face), plainly)
    const text = [masked.hardware, masked.bmc, JSON.stringify([...masked.dump.resources()])].join('\n').toLowerCase()
    expect(identities.filter((each) => text.includes(each.toLowerCase()))).toEqual([])
    expect(text).not.toMatch(/s3cr3t|signed in from|-----begin/)
    const open = await importDump(await writtenFace(face), { system: undefined, keepsIdentities: true })
    const openText = JSON.stringify([...open.dump.resources()])
    expect(identities.filter((each) => !openText.includes(each))).toEqual([])
  })
})

/** Serial numbers, UUIDs, MAC addresses and names of a dump's machine. */
function identitiesIn(resources: unknown): string[] {
  const text = JSON.stringify(resources)
  const named = /"(?:SerialNumber|UUID|MACAddress|HostName|ServiceTag)":"([^"]+)"/g
  return [...new Set([...text.matchAll(named)].map(([, value]) => value!))]
}

test('the hardware is what the dump shows: a volume of a RAID is one disk, and a drive behind it none', async () => {
  const { hardware } = await importedFace(await writtenFace('idrac9'), { keepsIdentities: true })
  expect(hardware).toMatchObject({
    firmware: 'uefi',
    architecture: 'x86_64',
    cpus: 64,
    memoryMib: 131_072,
    manufacturer: 'Dell Inc.',
    product: 'PowerEdge R650',
    serial: 'QX7TEST',
    nics: [
      { mac: 'b0:7b:25:00:11:22', carrier: false },
      { mac: 'b0:7b:25:00:11:24', carrier: true, pxe: true },
    ],
    disks: [
      { size: 960197124096, transport: 'sas', model: 'Virtual Disk' },
      { size: 960197124096, transport: 'sas', serial: 'S5XFAKE2002' },
    ],
  })
  expect(dialectOf(defined({ dialect: hardware.bmc })).versions).toEqual({ bios: '1.9.2', bmc: '6.10.30.00' })
})

test('what only a chassis shows of the NICs is taken from there, and the note says what Ironic lacks', async () => {
  const { hardware, imported } = await importedFace(await writtenFace('openbmc-gb200'), { keepsIdentities: true })
  expect(hardware).toMatchObject({ architecture: 'aarch64', cpus: 144, nics: [{ mac: 'b8:3f:d2:00:f7:4a' }] })
  expect(imported.notes).toContain('the system has no EthernetInterfaces: Ironic finds no ports by Redfish')
  expect(imported.notes.join('\n')).toContain('other systems of the dump are shown as they are: HGX_Baseboard_0')
})

test('a dump without a slot says that nothing is deployed by virtual media', async () => {
  const { notes } = await importDump(await writtenFace('ami-dgx'), plainly)
  expect(notes).toContain('the dump has no slot for a CD: nothing is deployed by virtual media; use PXE or HTTP boot')
  expect(notes).toContain("the dump shows no disk with a size: disks are the default machine's")
})

test('firmware settings come with the values of the registry, by their names for readers where the BIOS has those', async () => {
  const { record } = await importDump(await writtenFace('supermicro-x13'), plainly)
  expect(record.bios?.attributes).toEqual({
    QuietBoot_002D: { value: true },
    AES_NI_3C75: { value: 'Enable', allowed: ['Disable', 'Enable'] },
    TurboMode_3D06: { value: 'Enable', allowed: ['Disable', 'Enable'] },
  })
  const dell = await importDump(await writtenFace('idrac9'), { system: undefined, keepsIdentities: true })
  expect(dell.record.bios?.attributes).toMatchObject({
    AcPwrRcvryUserDelay: { value: 60, least: 60, most: 600 },
    SystemServiceTag: { value: 'QX7TEST', readOnly: true },
  })
})

test('a BMC that lists no way of inserting an image takes it by PATCH, as its Allow says', async () => {
  const { record } = await importDump(await writtenFace('xcc'), plainly)
  const dialect = dialectOf({ dialect: readOwnDialect(record, 'the record') })
  expect(dialect.media).toMatchObject({ insertBy: 'patch', systemLink: 'own' })
  expect(dialect.media.slots.find(({ id }) => id === 'RDOC1')).toMatchObject({ drive: null })
  expect(record.etags).toBeUndefined()
  expect(BMC_DIALECTS.xcc.etags.form).toBe('strong')
})

test('an import is written as a whole, and into a new folder only', async () => {
  const imported = await importDump(await writtenFace('ilo5'), plainly)
  const folder = join(await dumpFolder(), 'machine')
  await writeImport(imported, folder)
  expect((await readdir(folder)).sort()).toEqual(['bmc.yaml', 'dump', 'hardware.yaml'])
  expect(await readFile(join(folder, 'hardware.yaml'), 'utf8')).toContain('bmc: ./bmc.yaml')
  expect(await readFile(join(folder, 'bmc.yaml'), 'utf8')).toContain('base: ilo5\ndump:\n  folder: ./dump\n')
  await expect(writeImport(imported, folder)).rejects.toMatchObject({ code: 'bmc-dump' })
})
