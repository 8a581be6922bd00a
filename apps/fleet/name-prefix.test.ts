import { expect, test } from 'vitest'
import { machineSpecs } from '../../lab/index.js'
import type { HardwareFleet, MachineSpec } from '../../machine/index.js'
import { identityOfPrefix } from './name-prefix.js'

const HARDWARE: HardwareFleet = [{ hardware: { nics: [{}, {}, {}, {}], disks: [{}, {}, {}] } }]

const specsOf = (prefix: string, count: number): MachineSpec[] =>
  Array.from({ length: count }, (_, index) =>
    machineSpecs({ hardware: HARDWARE }, identityOfPrefix(prefix, index + 1))(index + 1),
  )

test('fleets with prefixes of their own have no name, address or serial number in common', () => {
  const specs = ['machine-', 'rack-a-', 'rack-b-', 'rack-'].flatMap((prefix) => specsOf(prefix, 300))
  const values = specs.flatMap(({ id, serial, nics, disks }) => [
    id,
    serial,
    ...nics.map(({ mac }) => mac),
    ...disks.flatMap((disk) => [disk.serial, disk.wwn]),
  ])
  expect(values).toHaveLength(1200 * 12)
  expect(new Set(values).size).toBe(values.length)
  for (const { nics } of specs)
    // Locally administered, and of one station.
    for (const { mac } of nics) expect(mac).toMatch(/^[0-9a-f][26ae](:[0-9a-f]{2}){5}$/)
})

test('a prefix gives the same machines each time, and that of the default those of the default', () => {
  expect(specsOf('rack-a-', 3)).toEqual(specsOf('rack-a-', 3))
  expect(specsOf('rack-a-', 1)[0]).toMatchObject({ id: 'rack-a-1', bmc: { systemId: 'rack-a-1' } })
  expect(specsOf('machine-', 2)).toEqual([1, 2].map((number) => machineSpecs({ hardware: HARDWARE })(number)))
})
