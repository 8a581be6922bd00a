import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { openFleet } from '../../../apps/fleet/index.js'
import { LabClock, Scope, silent, systemRandom } from '../../../base/runtime/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { NO_PACE } from '../../../machine/index.js'
import { FLEET_ACCOUNT } from '../../kit/fleet/fleet-and-ironic.js'
import { slowImage } from '../../kit/fleet/slow-image.js'
import { severalIronics } from '../several-ironics.js'
import { openstackClients } from '../programs/clients/baremetal.js'
import { FUNCTIONAL_TESTS, functionalTests } from '../programs/clients/functional.js'
import { HARDWARE_ANSWERS, lifecycleAnswers } from '../programs/clients/gophercloud-answers.js'
import { gophercloud, gophercloudProgram } from '../programs/clients/gophercloud.js'
import { INSTALLATION } from '../programs/clients/served.js'

/** Suites of real clients, each call of which goes to the next of several APIs of one database. */

beforeAll(async () => {
  await openstackClients()
  await gophercloudProgram()
}, INSTALLATION)

/** Machines of the scenarios. */
const NAMES = ['machine-1', 'machine-2'] as const

test('gophercloud takes a machine elsewhere through its life, and works its BMC, by two APIs and two conductors', async () => {
  await using scope = new Scope()
  const { proxy } = await severalIronics(scope, ['--speed', '10'])
  const fleet = scope.use(
    await openFleet({
      count: NAMES.length,
      redfish: { port: 0 },
      account: FLEET_ACCOUNT,
      machinePace: { ...NO_PACE, bootRamdisk: 2000 },
      clock: new LabClock({ mode: 10 }),
      random: systemRandom,
      logger: silent,
    }),
  )
  const [life, hardware] = fleet.hosts().map(({ bmc, system, account, bootMac }) => ({
    mac: bootMac,
    driver_info: {
      redfish_address: bmc,
      redfish_system_id: system,
      redfish_username: account.username,
      redfish_password: account.password,
      redfish_verify_ca: false,
    },
  }))
  const image = await slowImage(await readFile(REHEARSAL_IMAGE), scope)
  image.finish()
  const variables = {
    IRONIC_ENDPOINT: `${proxy.url}/v1/`,
    MACHINES: JSON.stringify({ life, hardware }),
    INSTALL: JSON.stringify({ image_url: image.url }),
  }
  const [lifeStates, hardwareStates] = await Promise.all([
    gophercloud(['lifecycle'], variables),
    gophercloud(['hardware'], variables),
  ])
  expect(lifeStates!.slice(1)).toMatchObject(lifecycleAnswers(life!.mac))
  expect(hardwareStates!.slice(1)).toMatchObject(HARDWARE_ANSWERS)
  expect(Math.min(...proxy.counts)).toBeGreaterThan(20)
})

test('all functional tests of openstacksdk pass against two APIs and two conductors behind a proxy', async () => {
  await using scope = new Scope()
  const { proxy } = await severalIronics(scope, ['--profile', 'upstream'])
  const outcomes = await functionalTests(proxy.url)
  expect(outcomes.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
  expect(outcomes).toHaveLength(FUNCTIONAL_TESTS)
  expect(Math.min(...proxy.counts)).toBeGreaterThan(FUNCTIONAL_TESTS)
})
