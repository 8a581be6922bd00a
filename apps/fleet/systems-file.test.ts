import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readSystems } from './systems-file.js'

const FILE = new URL('../../test/fixtures/systems/nodes.json', import.meta.url.replace('/dist/apps/', '/apps/'))
const UUID = '27946b59-9e44-4fa7-8e91-f3527a1ef094'
const MAC = '00:5c:52:31:3a:9c'
const ONE = { uuid: UUID, name: 'test1', nics: [{ mac: MAC }] }

const read = (...systems: unknown[]) => readSystems(JSON.stringify(systems), 'nodes.json')

test("the list that Metal3's generate_unique_nodes.sh writes is read", async () => {
  const systems = readSystems(await readFile(FILE, 'utf8'), 'nodes.json')
  expect(systems.map(({ name }) => name)).toEqual(['test1', 'test2', 'test3'])
  expect(systems[0]).toEqual({
    id: 'c1d0b3a6-5c1e-4f5e-9d3a-0a6f5e1b7a01',
    name: 'test1',
    isOn: false,
    bootDevice: 'Hdd',
    firmware: undefined,
    nics: [{ name: 'eno1', mac: '92:1f:0c:5a:11:01', ipv4: '192.168.0.100', carrier: true, pxe: true }],
  })
})

test('a byte order mark, large letters, dashes in MAC addresses and keys of other use are read', () => {
  const other = { external_notifier: true, pending_power: null, boot_image: {}, secure_boot: false }
  const text = JSON.stringify([
    { ...ONE, ...other, uuid: UUID.toUpperCase(), nics: [{ mac: '00-5C-52-31-3A-9C', ip: 'fd00::1' }] },
  ])
  expect(readSystems(`\uFEFF${text}`, 'nodes.json')).toMatchObject([{ id: UUID, nics: [{ mac: MAC, ipv4: null }] }])
})

test('what is left out is as with sushy-tools, and a name is the uuid', () => {
  expect(read({ uuid: UUID })).toEqual([
    { id: UUID, name: UUID, isOn: false, bootDevice: 'Hdd', firmware: undefined, nics: [] },
  ])
  expect(read({ ...ONE, power_state: 'On', boot_device: 'Pxe', boot_mode: 'Legacy' })).toMatchObject([
    { isOn: true, bootDevice: 'Pxe', firmware: 'bios' },
  ])
})

test.each<[string, unknown, RegExp]>([
  ['no list', ONE, /it is no list/],
  ['an empty list', [], /it is empty/],
  ['a text', ['test1'], /\.\[0\] is no object/],
  ['no uuid', [ONE, { name: 'test2' }], /\.\[1\]\.uuid is missing/],
  ['a uuid that is a path', [{ uuid: '../x' }], /\.\[0\]\.uuid cannot name a machine/],
  ['a name with quotes', [{ ...ONE, name: 'a "rack"' }], /\.\[0\]\.name is "a \\"rack\\"", which cannot name a node/],
  ['a power state that is none', [{ ...ONE, power_state: 'on' }], /\.\[0\]\.power_state is "on"/],
  ['a boot device that is none', [{ ...ONE, boot_device: 'Tape' }], /\.\[0\]\.boot_device is "Tape"/],
  ['a boot mode that is none', [{ ...ONE, boot_mode: 'uefi' }], /\.\[0\]\.boot_mode is "uefi"/],
  ['NICs that are no list', [{ ...ONE, nics: {} }], /\.\[0\]\.nics is no list of \{mac, ip\}/],
  ['a NIC without a MAC address', [{ ...ONE, nics: [{ ip: '192.0.2.1' }] }], /\.\[0\]\.nics\[0\]\.mac is missing/],
  ['a short MAC address', [{ ...ONE, nics: [{ mac: '00:5c' }] }], /nics\[0\]\.mac is "00:5c", which is no MAC address/],
  ['an address that is none', [{ ...ONE, nics: [{ mac: MAC, ip: '1.2.3' }] }], /nics\[0\]\.ip is "1\.2\.3"/],
  ['a uuid twice', [ONE, { uuid: UUID.toUpperCase() }], /\.\[1\] has the uuid .* of \.\[0\]/],
  ['a name twice', [ONE, { uuid: 'b', name: 'test1' }], /\.\[1\] has the name test1 of \.\[0\]/],
  ['a MAC address twice', [ONE, { uuid: 'b', nics: ONE.nics }], /\.\[1\] has the MAC address 00:5c:.* of \.\[0\]/],
  ['a MAC address twice in a system', [{ ...ONE, nics: [{ mac: MAC }, { mac: MAC }] }], /has the MAC address .* twice/],
  ['too many systems', Array.from({ length: 10_001 }, (_, n) => ({ uuid: `${n}` })), /it has 10001 systems/],
])('%s is refused with the file, the entry and a remedy', (_, list, why) => {
  const refused = () => readSystems(JSON.stringify(list), 'nodes.json')
  expect(refused).toThrow(why)
  expect(refused).toThrow(
    expect.objectContaining({
      code: 'systems-file',
      kind: 'usage',
      remedy: expect.stringMatching(/./) as string,
      message: expect.stringMatching(/^the list of systems nodes\.json cannot be used: /) as string,
    }),
  )
})

test('what is not JSON is refused with what to write', () => {
  for (const text of ['', "SUSHY_EMULATOR_FAKE_SYSTEMS = [{'uuid': 'x'}]", '[{"uuid": "x"'])
    expect(() => readSystems(text, 'conf.py')).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('as JSON') as string }),
    )
})
