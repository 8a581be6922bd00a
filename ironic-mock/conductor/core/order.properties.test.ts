import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minutes, seconds } from '../../../base/runtime/index.js'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import {
  CommandFailure,
  ERASE,
  INSTALL_COREOS,
  type ScriptedMachine,
} from '../../../test/kit/conductor/scripted-machine.js'
import { brokenInvariants } from '../../../test/kit/fuzz/invariants.js'
import { howMany } from '../../../test/kit/how-many.js'
import { IronicError, type JsonObject } from '../../../base/wire/index.js'
import type { ConductorConf } from './conductor-conf.js'
import { UNSTABLE_STATES, PROVISION_VERBS } from './transitions.js'

/** One thing that happens to a node and its machine. */
type Event =
  | { do: 'verb'; which: number; steps: number }
  | { do: 'heartbeat' }
  | { do: 'power'; target: string }
  | { do: 'maintenance'; on: boolean }
  /** The BMC, the agent's network, its heartbeats or its steps break or work again. */
  | { do: 'fail'; what: (typeof FAILURES)[number] }
  | { do: 'pass'; ms: number }
  | { do: 'full disk'; times: number }
  | { do: 'delete port' }

const FAILURES = [
  'bmc',
  'unreachable',
  'silent',
  'step',
  'hanging step',
  'rescue',
  'nothing',
  'nothing',
  'nothing',
] as const
const TRIED_PAUSES = [1, seconds(1), seconds(30), minutes(1), minutes(31)]

const events: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant('verb' as const), which: fc.nat(1000), steps: fc.nat(5) }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'heartbeat' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('power' as const),
      target: fc.constantFrom('power on', 'power off', 'rebooting', 'soft power off'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('maintenance' as const), on: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fail' as const), what: fc.constantFrom(...FAILURES) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(...TRIED_PAUSES) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('full disk' as const), times: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'delete port' as const }) },
)

const step = (name: string, more: JsonObject = {}): JsonObject => ({
  interface: 'deploy',
  step: name,
  args: {},
  ...more,
})
const STEPS = (priority: JsonObject): JsonObject[][] => [
  [],
  [step('install_coreos', priority)],
  [step('erase_devices_metadata', priority)],
  [step('hold', priority), step('install_coreos', priority)],
  [step('wait', { ...priority, args: { seconds: 5 } })],
  [step('nosuch', priority)],
]

const kinds: [string, JsonObject, Partial<ConductorConf>][] = [
  ['redfish', { rescue_interface: 'agent' }, {}],
  [
    'redfish, inspected by its BMC, in fast track',
    { rescue_interface: 'agent', inspect_interface: 'redfish' },
    { fastTrack: true, inspectionPowerOff: false },
  ],
  ['redfish that is never off', { rescue_interface: 'agent', disable_power_off: true }, { powerOffInCleanFail: true }],
  [
    'redfish with direct',
    { deploy_interface: 'direct', instance_info: { image_source: 'http://192.0.2.1/i', image_checksum: 'c' } },
    { allowProvisioningInMaintenance: false },
  ],
]

class Scene {
  readonly lab: ScriptedLab
  readonly uuid: string
  readonly machine: ScriptedMachine
  #full = 0

  private constructor(lab: ScriptedLab, { uuid, machine }: { uuid: string; machine: ScriptedMachine }) {
    this.lab = lab
    this.uuid = uuid
    this.machine = machine
    machine.script.deploySteps = [INSTALL_COREOS, ERASE]
    machine.script.serviceSteps = [ERASE, INSTALL_COREOS]
    machine.script.cleanSteps = [ERASE, { ...INSTALL_COREOS, abortable: true }]
    const commit = lab.store.commit.bind(lab.store)
    lab.store.commit = (change) => {
      this.check(`before ${JSON.stringify(change.patch).slice(0, 80)}`)
      return this.#full-- > 0 ? Promise.reject(new Error('database or disk is full')) : commit(change)
    }
  }

  static async open(fields: JsonObject, conf: Partial<ConductorConf>): Promise<Scene> {
    const lab = await ScriptedLab.open({ conf: { ...conf, powerSyncInterval: minutes(15) } })
    return new Scene(lab, await lab.enroll({ boot_interface: 'redfish-virtual-media', ...fields }))
  }

  check(when: string): void {
    expect(brokenInvariants(this.lab.store), when).toEqual([])
  }

  /** Ignores refusals and writes that the full disk prevents; rethrows all other errors. */
  async asked(call: Promise<unknown>): Promise<void> {
    try {
      await call
    } catch (error) {
      const full = error instanceof Error && error.name === 'WriteFailed'
      if (!full && !(error instanceof IronicError && error.status < 500)) throw error
    }
  }

  async happens(event: Event): Promise<void> {
    const { lab, uuid, machine } = this
    const { conductor } = lab
    switch (event.do) {
      case 'verb': {
        const { provision_state: state } = await lab.node(uuid)
        const known = Object.keys(PROVISION_VERBS).filter((verb) => PROVISION_VERBS[verb]!.from.includes(state))
        const all = event.which % 10 === 0 ? Object.keys(PROVISION_VERBS) : known
        const target = all[event.which % Math.max(1, all.length)] ?? 'manage'
        return this.asked(
          conductor.provision(uuid, {
            target,
            rescue_password: 'p',
            clean_steps: STEPS({})[event.steps]!,
            service_steps: STEPS({})[event.steps]!,
            deploy_steps: STEPS({ priority: 80 })[event.steps]!,
          }),
        )
      }
      case 'heartbeat':
        // Fails while the API is not reachable; the agent repeats it.
        void machine.heartbeat().catch(() => {})
        return
      case 'power':
        return this.asked(conductor.changePower(uuid, event.target))
      case 'maintenance':
        return this.asked(conductor.setMaintenance(uuid, event.on))
      case 'fail':
        return this.fail(event.what)
      case 'pass':
        return lab.clock.advance(event.ms)
      case 'full disk':
        this.#full = event.times
        return
      case 'delete port': {
        const [port] = lab.store.records.portsOf(uuid)
        return port ? this.asked(conductor.destroyPort(port.uuid)) : undefined
      }
    }
  }

  fail(what: (typeof FAILURES)[number]): void {
    const { machine } = this
    const { script } = machine
    machine.failing = what === 'bmc' ? 'no route to host' : undefined
    script.reachable = what !== 'unreachable'
    script.silent = what === 'silent'
    if (what === 'rescue') script.rescueFailure = 'no luck'
    else delete script.rescueFailure
    script.run = () => {
      if (what === 'step') throw new CommandFailure('no luck')
      return what === 'hanging step' ? new Promise(() => {}) : null
    }
  }

  /** Ends all failures, and expects that every flow ends. */
  async rests(): Promise<void> {
    const { lab, uuid } = this
    this.#full = 0
    this.fail('nothing')
    await this.asked(lab.conductor.setMaintenance(uuid, false))
    await lab.clock.advance(minutes(150))
    const node = await lab.node(uuid)
    expect(node).toMatchObject({ reservation: null, target_power_state: null })
    expect(UNSTABLE_STATES).not.toContain(node.provision_state)
    this.check('at rest')
  }
}

test.each(kinds)(
  'no order of events leaves a failure without a reason or a node reserved: %s',
  async (_, fields, conf) => {
    await fc.assert(
      fc.asyncProperty(fc.array(events, { minLength: 20, maxLength: 60, size: 'max' }), async (sequence) => {
        const scene = await Scene.open(fields, conf)
        await using _lab = scene.lab
        for (const event of sequence) {
          await scene.happens(event)
          scene.check(JSON.stringify(event))
          await scene.lab.clock.idle()
          scene.check(`after ${JSON.stringify(event)}`)
        }
        await scene.rests()
      }),
      { numRuns: howMany(2, 4) },
    )
  },
  30_000,
)
