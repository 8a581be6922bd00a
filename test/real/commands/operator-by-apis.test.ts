import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openFleet, type FleetHost } from '../../../apps/fleet/index.js'
import { runBareMetalOperator } from '../../../baremetal-operator/index.js'
import { Behaviours, openKube } from '../../../base/kubernetes/index.js'
import { LabClock, Scope, seededRandom, silent, systemRandom } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../../base/wire/index.js'
import { NO_PACE } from '../../../machine/index.js'
import type { OperatorCall } from '../../kit/operator/operator-calls.js'
import { OPERATOR_SCENES, SCENE_IRONIC } from '../../kit/operator/operator-scenes.js'
import { OperatorStage, sceneImages, type OperatorRecord, type SceneLab } from '../../kit/operator/operator-stage.js'
import { severalIronics } from '../several-ironics.js'

/**
 * BareMetal Operator's controllers, each call of which goes to the next of two APIs of one database. The records are those of
 * the real operator with one Ironic.
 */

/** Lab time runs so much faster, as it did for the records. */
const SPEED = 60
const RECORDS = new URL('../../fixtures/baremetal-operator/', import.meta.url)
const ACCOUNT = { username: 'admin', password: 'secret' }
const OPTIONS = [
  '--speed',
  String(SPEED),
  '--profile',
  SCENE_IRONIC.profile,
  ...SCENE_IRONIC.set.flatMap((option) => ['--set', option]),
]
const IMAGES = 'http://images.invalid/ironic-python-agent'

test.each(['custom', 'reboots', 'inspected again'])(
  '%s: calls and states behind two APIs and two conductors are those of the real operator with one Ironic',
  async (name) => {
    await using scope = new Scope()
    const { proxy } = await severalIronics(scope, OPTIONS)
    const clock = new LabClock({ mode: SPEED })
    const random = seededRandom(1)
    const host = await onlyHost(scope, clock)
    const transport = scope.use(new HttpTransport({ clock }))
    const lab: SceneLab = {
      client: new IronicClient({ transport, endpoint: proxy.url, clock }),
      clock,
      wait: (awaited) => awaited,
      ironic: { start: oneIronic, stop: oneIronic },
    }
    const { client: kube } = openKube({ clock, random })
    const machine = { address: `+${host.bmc}${host.system}`, bootMac: host.bootMac }
    const stage = scope.use(await OperatorStage.open({ lab, kube, images: await sceneImages(), machine }))
    const parts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
    scope.use(
      runBareMetalOperator({
        ...parts,
        ironic: { transport, url: proxy.url, headers: {} },
        settings: { ramdisk: { deployKernel: `${IMAGES}.kernel`, deployRamdisk: `${IMAGES}.initramfs` } },
        calls: { onCall: ({ method, path, body }) => stage.called({ method, path, body }) },
      }),
    )
    await OPERATOR_SCENES[name]!.play(stage)
    const { calls, states } = asRecorded(await stage.record(), host)
    const file = new URL(`${name.replaceAll(' ', '-')}.json`, RECORDS)
    const recorded = JSON.parse(await readFile(file, 'utf8')) as OperatorRecord
    expect(states).toEqual(recorded.states)
    expect(calls).toEqual(recorded.calls)
    expect(Math.min(...proxy.counts)).toBeGreaterThan(50)
  },
)

const oneIronic = (): Promise<never> => Promise.reject(new Error('the scene is one of a single Ironic'))

/** The machine of a fleet with one. */
async function onlyHost(scope: Scope, clock: LabClock): Promise<FleetHost> {
  const options = { count: 1, redfish: { port: 0 }, account: ACCOUNT, machinePace: NO_PACE }
  const fleet = scope.use(await openFleet({ ...options, clock, random: systemRandom, logger: silent }))
  return fleet.hosts()[0]!
}

/** The record as of the machine and the ramdisk of the real operator's. */
function asRecorded(record: OperatorRecord, { bmc, system, bootMac }: FleetHost): OperatorRecord {
  const text = JSON.stringify(record)
    .replaceAll(bmc, 'https://10.4.0.1:8000')
    .replaceAll(system, '/redfish/v1/Systems/1')
    .replaceAll(bootMac, '52:54:00:b0:00:01')
    .replaceAll(encodeURIComponent(bootMac), encodeURIComponent('52:54:00:b0:00:01'))
  const { calls, ...more } = JSON.parse(text) as OperatorRecord
  return { calls: calls.map(withIso), ...more }
}

/** A call that has an ISO where it has a kernel and its initramfs, of which Ironic makes the ISO for a machine elsewhere. */
function withIso(call: OperatorCall): OperatorCall {
  if (call.method !== 'PATCH' || !Array.isArray(call.body)) return call
  const operations = call.body as { path: string; value?: unknown }[]
  const body = operations
    .filter(({ path }) => path !== '/driver_info/deploy_ramdisk')
    .map((operation) =>
      operation.path === '/driver_info/deploy_kernel'
        ? { ...operation, path: '/driver_info/deploy_iso', value: `${IMAGES}.iso` }
        : operation,
    )
  return { ...call, body }
}
