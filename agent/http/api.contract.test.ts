import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { HardwareManager, Step } from '../../steps/index.js'
import type { AdvertisedStep, GetStepsResult, Inventory, StepKind } from '../../base/wire/index.js'
import { AgentScene, PEERS_STEPS, testStep } from '../../test/kit/agent-scene.js'
import { ask, TOKEN } from '../../test/kit/fake-ironic.js'
import { exited } from '../../test/kit/fake-target.js'
import { findCommand, splitName } from '../extensions/index.js'

/** Answers of a real ironic-python-agent 13.0.0, distilled from the recording agent-api-direct. */
interface Exchange {
  seq: number
  step: string
  method: string
  path: string
  body: unknown
  status: number
  headers: Record<string, string>
  answer: Record<string, unknown> | string | null
}

const RECORDED = JSON.parse(
  readFileSync(new URL('../../test/fixtures/agent-api/agent-api-direct.json', import.meta.url), 'utf8'),
) as Exchange[]

const RECORDED_INVENTORY = (
  RECORDED.find(({ body }) => (body as { name?: string } | null)?.name === 'poll.get_hardware_info')!.answer as {
    command_result: Inventory
  }
).command_result

/** Intended differences: the expected answer by seq, in place of the recorded one. Rows of docs/fidelity/. */
const OTHERWISE: Record<number, { why: string; status: number; answer: unknown }> = {
  23: {
    why: 'the parser, and so its complaint, is not Python’s',
    status: 400,
    answer: {
      faultcode: 'Client',
      faultstring: expect.stringContaining('400 Bad Request: Failed to decode JSON object: '),
    },
  },
  28: {
    why: 'IPA fails to serialise its own TypeError; ours is a failed command',
    status: 200,
    answer: failed('clean.get_clean_steps', 'get_clean_steps needs the parameters node, ports'),
  },
  29: {
    why: 'the same',
    status: 200,
    answer: failed('clean.get_clean_steps', 'get_clean_steps needs the parameters node, ports'),
  },
  30: {
    why: 'the command is answered as RUNNING before it fails; IPA’s thread was quicker than its answer',
    status: 200,
    answer: { ...failed('execute_clean_step', ''), command_status: 'RUNNING', command_error: null },
  },
  31: {
    why: 'the unserialisable result has not poisoned our list',
    status: 200,
    answer: { commands: expect.any(Array) as unknown },
  },
}

function failed(command_name: string, details: string) {
  const error = { type: 'CommandExecutionError', code: 500, message: 'Command execution failed', details }
  return {
    id: expect.any(String) as unknown,
    command_name,
    command_status: 'FAILED',
    command_error: error,
    command_result: null,
  }
}

test('the agent answers as the recorded ironic-python-agent did', async () => {
  await using scene = new AgentScene({
    managers: recordedManagers(),
    hardware: async () => ({ inventory: RECORDED_INVENTORY, rootDisk: null, bootInterface: null }),
  })
  for (const program of ['sync', 'systemctl']) scene.target.programs[program] = () => exited(0)
  await scene.serving()
  await scene.command('clean.get_clean_steps', { node: {}, ports: [] })
  await scene.execute('peers_sleep', { seconds: 3600 }, 'clean')
  const ids = new Map([
    [idOf(12, 0), (await scene.commands())[0]!.id],
    [idOf(12, 1), (await scene.commands())[1]!.id],
  ])
  const ours = (text: string) => [...ids].reduce((path, [recorded, id]) => path.replace(recorded, id), text)

  for (const { seq, method, path, body, ...recorded } of RECORDED) {
    // Between these two the recorded agent became idle.
    if (seq === 26) await scene.clock.advance(3_600_000)
    const target = ours(path.replace('TOKEN', TOKEN))
    const answer = await scene.clock.until(ask(scene.agent.dispatch, method, target, body ?? undefined))
    await scene.clock.advance(0)

    const expected = OTHERWISE[seq] ?? { status: recorded.status, answer: expectedOf(recorded.answer) }
    const { allow, location } = answer.headers
    // Recordings leave out the header Server.
    expect.soft(answer.headers.server).toBe('ironic-python-agent')
    const ourAnswer = { seq, status: answer.status, type: answer.headers['content-type'], answer: answer.body }
    const { status, answer: answered } = expected
    const wantedAnswer = { seq, status, type: recorded.headers['content-type'], answer: answered }
    expect.soft(ourAnswer, OTHERWISE[seq]?.why).toEqual(wantedAnswer)
    expect.soft(location?.replace(TOKEN, 'TOKEN')).toBe(recorded.headers.location)
    expect.soft(allow?.split(', ').sort()).toEqual(recorded.headers.allow?.split(', ').sort())
    if (method === 'POST' && answer.status === 200 && isResult(recorded.answer))
      ids.set(recorded.answer.id, (answer.body as { id: string }).id)
  }
})

test.each([
  'clean.get_clean_steps clean.execute_clean_step deploy.get_deploy_steps deploy.execute_deploy_step',
  'service.get_service_steps service.execute_service_step standby.prepare_image standby.execute_bootc_install',
  'standby.run_image standby.power_off standby.sync standby.get_partition_uuids image.install_bootloader',
  'log.collect_system_logs rescue.finalize_rescue poll.get_hardware_info poll.set_node_info flow.start_flow system.lockdown',
])('knows the commands %s, as IPA does', (names) => {
  for (const name of names.split(' ')) {
    const { extension, command } = splitName(name)
    expect(findCommand(extension, command).kind, name).toMatch(/^a?sync$/)
  }
})

const isResult = (answer: Exchange['answer']): answer is Record<string, unknown> & { id: string } =>
  typeof answer === 'object' && answer !== null && typeof answer.id === 'string' && 'command_name' in answer

function idOf(seq: number, index: number): string {
  const { commands } = RECORDED.find((exchange) => exchange.seq === seq)!.answer as { commands: { id: string }[] }
  return commands[index]!.id
}

/** Recorded answer as a pattern, without what differs from run to run: ids, times, logs, the order of steps. */
function expectedOf(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(expectedOf)
  if (typeof answer === 'string') return answer.replaceAll('TOKEN', TOKEN)
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(
    Object.entries(answer).map(([key, value]): [string, unknown] => {
      if (key === 'id' && value !== 'v1')
        return [key, expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)]
      if (Array.isArray(value) && key.endsWith('Manager')) return [key, inAnyOrder(value)]
      if (key === 'started_at') return [key, expect.any(Number)]
      if (key === 'system_logs') return [key, expect.stringMatching(/^H4sI/)]
      return [key, expectedOf(value)]
    }),
  )
}

/** The recorded managers give each kind of steps in an order of its own; ours are put together from all three. */
const inAnyOrder = (steps: unknown[]): unknown => {
  const all = steps.map((step) => expect.objectContaining(step as object) as unknown)
  return expect.toSatisfy((actual: unknown[]) => {
    expect(actual).toHaveLength(all.length)
    expect(actual).toEqual(expect.arrayContaining(all))
    return true
  })
}

/** Managers of the recorded agent, from the steps that they advertised; the scene implements them. */
function recordedManagers(): HardwareManager[] {
  const kinds = { 38: 'clean', 39: 'deploy', 40: 'service' } as const satisfies Record<number, StepKind>
  const byClass = new Map<string, Map<string, Partial<Record<StepKind, AdvertisedStep>>>>()
  let versions: Record<string, string> = {}
  for (const { seq, answer } of RECORDED) {
    const kind = (kinds as Record<number, StepKind>)[seq]
    if (!kind) continue
    const result = (answer as { command_result: GetStepsResult<StepKind> }).command_result
    versions = result.hardware_manager_version
    for (const [className, steps] of Object.entries(result[`${kind}_steps`]))
      for (const step of steps) {
        const known = byClass.get(className) ?? new Map<string, Partial<Record<StepKind, AdvertisedStep>>>()
        byClass.set(className, known.set(step.step, { ...known.get(step.step), [kind]: step }))
      }
  }
  return Object.entries(versions).map(([name, version], index) => ({
    className: name,
    name,
    version,
    support: async () => 10 - index,
    steps: [...(byClass.get(name) ?? [])].map(([stepName, advertised]) => recordedStep(stepName, advertised)),
  }))
}

function recordedStep(name: string, advertised: Partial<Record<StepKind, AdvertisedStep>>): Step {
  const known = PEERS_STEPS.find((step) => step.name === name) ?? testStep(name, async () => null)
  return { ...known, on: Object.keys(advertised) as StepKind[], advertise: (kind) => advertised[kind]! }
}
