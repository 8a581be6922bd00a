import { describe, expect, test } from 'vitest'
import { served } from '../../../test/kit/redfish/served.js'

const SYSTEM = '/redfish/v1/Systems/machine-1'

describe('boot settings', () => {
  test.each([
    [{ BootOrder: [] }, 'PropertyValueError', 'BootOrder', /^Name boot options, each once: Disk\.1, /],
    [
      { BootSourceOverrideTarget: 'UefiTarget', UefiTargetBootSourceOverride: 'nonsense' },
      'PropertyValueNotInList',
      'UefiTargetBootSourceOverride',
      /^Name a boot option: Disk\.1, /,
    ],
    [
      { UefiTargetBootSourceOverride: 'NIC.2' },
      'PropertyValueNotInList',
      'UefiTargetBootSourceOverride',
      /^Name a boot option: Disk\.1, /,
    ],
    [{ BootOrder: ['Floppy.1'] }, 'PropertyValueNotInList', 'BootOrder', /^Name boot options, each once: Disk\.1, /],
  ])('that cannot work are refused: %j', async (Boot, key, property, resolution) => {
    await using bmc = await served()
    const before = (await bmc.call('GET', SYSTEM)).body
    const { status, document } = await bmc.call('PATCH', SYSTEM, { Boot })
    expect(status).toBe(400)
    expect(document.error['@Message.ExtendedInfo']).toMatchObject([
      {
        MessageId: `Base.1.22.${key}`,
        RelatedProperties: [`#/Boot/${property}`],
        Resolution: expect.stringMatching(resolution) as string,
      },
    ])
    expect((await bmc.call('GET', SYSTEM)).body).toBe(before)
  })

  test('name a boot option by its reference or its device path, as long as the target is one', async () => {
    await using bmc = await served()
    const set = async (Boot: object) => (await bmc.call('PATCH', SYSTEM, { Boot })).status
    const { document: option } = await bmc.call('GET', `${SYSTEM}/BootOptions/Disk.2`)
    expect(await set({ BootSourceOverrideTarget: 'UefiTarget', UefiTargetBootSourceOverride: 'CD.1' })).toBe(200)
    expect(await set({ UefiTargetBootSourceOverride: option.UefiDevicePath })).toBe(200)
    expect(await set({ UefiTargetBootSourceOverride: null })).toBe(400)
    expect(await set({ BootSourceOverrideTarget: 'None', UefiTargetBootSourceOverride: null })).toBe(200)
  })
})

test('the boot options of a request that changes the boot mode are those of the new one', async () => {
  await using bmc = await served(1, {}, { firmware: 'bios' })
  const set = async (Boot: object) => (await bmc.call('PATCH', SYSTEM, { Boot })).status
  const http = { BootSourceOverrideTarget: 'UefiTarget', UefiTargetBootSourceOverride: 'HTTP.1' }
  expect(await set({ BootOrder: ['HTTP.1'] })).toBe(400)
  expect(await set({ BootSourceOverrideMode: 'UEFI', BootOrder: ['HTTP.1'], ...http })).toBe(200)
})

test('the boot options are the devices that can boot: no floppy, and no NIC without network boot', async () => {
  await using bmc = await served()
  const { document } = await bmc.call('GET', `${SYSTEM}/BootOptions`)
  const references = document.Members.map((each: Record<string, string>) => each['@odata.id']!.split('/').at(-1))
  expect(references).toEqual(['Disk.1', 'Disk.2', 'CD.1', 'USB.1', 'NIC.1', 'HTTP.1'])
  expect((await bmc.call('GET', SYSTEM)).document.Boot.BootOrder).toEqual(references)
})
