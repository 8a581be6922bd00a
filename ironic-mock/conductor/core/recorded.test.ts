import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ScriptedLab } from '../../../test/kit/conductor/scripted-lab.js'
import { CommandFailure, INSTALL_COREOS } from '../../../test/kit/conductor/scripted-machine.js'
import { IronicError, type JsonObject, type NodeRecord, type ProvisionState } from '../../../base/wire/index.js'

/**
 * Recording of a real Ironic with a `fake-hardware` node and a real agent, reduced to what is the same in every run: the
 * client's requests, the commands to the agent, and the node in between (`rest` while it was not reserved).
 */
interface Line {
  ask?: string
  path?: string
  body?: unknown
  status?: number
  why?: string
  agent?: string
  busy?: JsonObject
  rest?: JsonObject & { provision_state: ProvisionState; last_error: string | null }
}

const recorded = (name: string): Line[] =>
  readFileSync(new URL(`../../../test/fixtures/conductor/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

const step = (name: string, more: JsonObject = {}): JsonObject => ({
  step: name,
  interface: 'deploy',
  priority: 0,
  reboot_requested: false,
  abortable: true,
  ...more,
})
const CLEAN = [
  step('erase_devices', { priority: 10 }),
  step('erase_devices_metadata', { priority: 99 }),
  step('peers_noop'),
  step('peers_sleep', { argsinfo: { seconds: { description: 'How long to sleep.', required: true } } }),
  step('peers_fail', { argsinfo: { message: { description: 'Error message.', required: false } } }),
  step('peers_reboot', { reboot_requested: true }),
]

/** A node's record as the recordings have it. */
function atRest(node: NodeRecord) {
  const { provision_state, target_provision_state, power_state, last_error, maintenance, fault } = node
  return {
    provision_state,
    clean_step: node.clean_step.step ?? null,
    deploy_step: node.deploy_step.step ?? null,
    target_provision_state,
    power_state,
    last_error: last_error?.replaceAll(node.uuid, 'NODE') ?? null,
    maintenance,
    fault,
    info: Object.keys(node.driver_internal_info).sort(),
  }
}

/** In sections that begin with an ask. */
function sections(lines: Line[]): Line[][] {
  const starts = lines.flatMap((line, index) => (line.ask ? [index] : []))
  return starts.map((start, n) => lines.slice(start, starts[n + 1]))
}

async function lab(from: ProvisionState) {
  const made = await ScriptedLab.open({
    conf: { fakeHardwareMachines: true, eraseDevicesPriority: 0, eraseDevicesMetadataPriority: 10 },
  })
  const fields = {
    driver: 'fake-hardware',
    driver_info: { machine: 'http://bmc-525400000001' },
    deploy_interface: 'custom-agent',
  }
  const { uuid, machine } = await made.enroll({ ...fields, automated_clean: from === 'enroll' ? null : false })
  machine.script.cleanSteps = CLEAN
  machine.script.deploySteps = [{ ...INSTALL_COREOS, argsinfo: {} }]
  if (from !== 'enroll') await made.provision(uuid, 'manage', 'manageable')
  if (from === 'available') await made.provision(uuid, 'provide', 'available')
  machine.sent = []
  made.seen.length = 0
  return { lab: made, uuid, machine }
}

test.each<[string, ProvisionState]>([
  ['full-lifecycle', 'enroll'],
  ['manual-clean', 'manageable'],
  ['deploy-failures', 'available'],
])('%s, as recorded', async (name, from) => {
  const made = await lab(from)
  const { uuid, machine } = made
  const history = sections(recorded(name))
  for (const [index, section] of history.entries()) {
    const [ask, ...then] = section as [Line, ...Line[]]
    const rests = then.flatMap((line) => line.rest ?? [])
    const end = rests.at(-1)
    const later = history.slice(index + 1).filter(([next]) => next?.why === ask.why)
    const aborted =
      later.some(([next]) => ['abort', 'deleted'].includes(target(next))) && end?.provision_state.includes('wait')
    // The agent is as lucky as it was then.
    const details = /failed on node NODE\. (.*)/s.exec(end?.last_error ?? '')?.[1]
    machine.script.run = () => {
      if (details !== undefined) throw new CommandFailure(details)
      return aborted ? new Promise(() => {}) : null
    }
    machine.script.silent = aborted === true && !then.some((line) => line.agent)
    machine.sent = []
    made.lab.seen.length = 0

    const status = await made.lab.clock.until(perform(made.lab, uuid, ask))
    expect(status, `${ask.why}: ${JSON.stringify(ask)}`).toBe(ask.status)
    if (!end) continue
    const goal = atRestGoal(end)
    await made.lab.until(uuid, (node) => node.reservation === null && goal(node))
    const seen = made.lab.seen.map(({ node }) => node)

    const sent = then.flatMap((line) => (line.agent && line.agent !== 'list' ? [line.agent] : []))
    expect(
      machine.sent.map((command) => command.name),
      ask.why,
    ).toEqual(sent)
    const ours = [await made.lab.node(uuid), ...seen].filter((node) => node.reservation === null).map(atRest)
    for (const rest of rests) {
      // A real fake node has no power state before the first power request; ours has a machine.
      const { power_state, info, ...wanted } = rest as ReturnType<typeof atRest>
      const power = power_state === null ? {} : { power_state }
      expect(ours, `${ask.why}: ${JSON.stringify(rest)}`).toContainEqual(
        expect.objectContaining({ ...wanted, ...power, info: known(info) }),
      )
    }
    const states = seen.map((node) =>
      [node.provision_state, node.clean_step.step ?? null, node.deploy_step.step ?? null].join(),
    )
    for (const { busy } of then)
      if (busy && !fleeting(busy))
        expect(states, `${ask.why}: ${JSON.stringify(busy)}`).toContain(
          [busy.provision_state, busy.clean_step, busy.deploy_step].join(),
        )
  }
})

const target = (line: Line | undefined): string => String((line?.body as JsonObject | undefined)?.target)

/** Marks of a boot that the real agent's start-up left and ours does not have, or the other way round. */
const known = (info: string[]): unknown => {
  const wanted = info.filter((key) => key !== 'agent_start_attempted')
  return expect.toSatisfy(
    (ours: string[]) =>
      JSON.stringify(ours.filter((key) => key !== 'last_power_state_change')) ===
      JSON.stringify(wanted.filter((key) => key !== 'last_power_state_change')),
  )
}

/** Ironic lets go of a node a moment after it has reached a state; ours in the same transaction. */
const fleeting = ({ provision_state, clean_step, deploy_step }: JsonObject): boolean =>
  clean_step === null && deploy_step === null && !String(provision_state).endsWith('ing')

const atRestGoal =
  (end: NonNullable<Line['rest']>) =>
  (node: NodeRecord): boolean =>
    node.provision_state === end.provision_state &&
    (end.clean_step === null) === (node.clean_step.step === undefined) &&
    (end.deploy_step === null || node.deploy_step.step === end.deploy_step)

async function perform(made: ScriptedLab, uuid: string, { ask, path, body, status }: Line): Promise<number> {
  const { conductor } = made
  try {
    if (path === 'states/provision') await conductor.provision(uuid, body as { target: string })
    else if (path === 'maintenance') await conductor.setMaintenance(uuid, ask === 'PUT')
    else if (ask === 'PATCH') {
      if (status === 409) return 409
      for (const { path: field, value } of body as { path: string; value?: unknown }[])
        await conductor.updateNode(uuid, (node) => {
          const [, root, key] = field.split('/') as [string, keyof NodeRecord, string?]
          return { [root]: key === undefined ? value : { ...(node[root] as JsonObject), [key]: value } }
        })
    } else if (ask === 'DELETE') await conductor.destroyNode(uuid)
  } catch (error) {
    if (error instanceof IronicError) return error.status
    throw error
  }
  return status!
}
