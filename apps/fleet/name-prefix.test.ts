import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { LabClock, systemRandom } from '../../base/runtime/index.js'
import { machineSpecs, openStateFolder } from '../../lab/index.js'
import type { HardwareFleet, MachineSpec } from '../../machine/index.js'
import { fixedPort } from '../../test/kit/commands/up-process.js'
import { identityOfPrefix } from './name-prefix.js'
import { openFleet } from './open-fleet.js'

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

/** Starts fleets in one state folder, one after another; each tells its machines and its warnings. */
async function fleetsOfFolder(ipmiPort: number) {
  const path = await mkdtemp(join(tmpdir(), 'ironstage-prefix-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return async (namePrefix: string, count: number) => {
    const warnings: string[] = []
    using folder = await openStateFolder(path)
    await using fleet = await openFleet({
      count,
      namePrefix,
      folder,
      redfish: { port: 0 },
      ipmi: { port: ipmiPort },
      clock: new LabClock({ mode: 1 }),
      random: systemRandom,
      logger: (level, message) => void (level === 'warn' && warnings.push(message)),
    })
    const hosts = fleet.hosts().map(({ name, bmc, macs, ipmi }) => ({ name, bmc, macs, ipmi }))
    return { hosts: hosts.sort((one, other) => one.name.localeCompare(other.name)), warnings }
  }
}

test('machines keep their IPMI ports from the first one on, also beside those of another prefix', async () => {
  // TCP and UDP ports are apart: what is free for the one is so for the other, but for other tests of UDP.
  const port = await fixedPort(() => systemRandom.next())
  const started = await fleetsOfFolder(port)
  const portsOf = async (prefix: string, count: number) =>
    (await started(prefix, count)).hosts.map(({ name, ipmi }) => `${name} ${ipmi!.port - port}`)
  expect(await portsOf('rack-b-', 2)).toEqual(['rack-b-1 0', 'rack-b-2 1'])
  expect(await portsOf('rack-a-', 1)).toEqual(['rack-a-1 2', 'rack-b-1 0', 'rack-b-2 1'])
  expect(await portsOf('rack-b-', 3)).toEqual(['rack-a-1 2', 'rack-b-1 0', 'rack-b-2 1', 'rack-b-3 3'])
  expect(await portsOf('rack-a-', 1)).toEqual(['rack-a-1 2', 'rack-b-1 0', 'rack-b-2 1', 'rack-b-3 3'])
})

test('a state folder has its machines again, and says which names it has besides those of another prefix', async () => {
  const started = await fleetsOfFolder(0)
  const first = await started('rack-a-', 11)
  expect(await started('rack-a-', 11)).toEqual(first)
  expect(first.warnings).toEqual([])
  const other = await started('rack-b-', 1)
  expect(other.warnings).toEqual([
    'the state folder has 11 machines of other names, as rack-a-1; they stay beside rack-b-1 and those after it',
  ])
  expect(other.hosts).toEqual(expect.arrayContaining(first.hosts))
  expect(other.hosts).toHaveLength(12)
})
