import { expect, test } from 'vitest'
import {
  pythonRepr,
  type CommandResult,
  type JsonObject,
  type NodeRecord,
  type StepKind,
} from '../../../base/wire/index.js'
import { chooseInterfaces, hardwareType } from '../../drivers/hardware-types.js'
import type { Continuation } from '../core/continuation.js'
import type { EffectBody, EffectOutcome } from '../core/effects.js'
import { UPSTREAM_CONF } from '../core/conductor-conf.js'
import { react } from '../core/react.js'
import { makeNodeRecord } from '../records/new-records.js'

const UUID = '11111111-1111-4111-8111-111111111111'
const STEP = {
  interface: 'deploy',
  step: 'install_coreos',
  priority: 50,
  args: {
    append_karg: ['a=b'],
    root_password: 'hidden',
    proxy: { auth_token: 'hidden' },
    command: 'x --password shown',
  },
}
const MASKED = { ...STEP, args: { ...STEP.args, root_password: '***', proxy: { auth_token: '***' } } }

function after(node: NodeRecord, then: Continuation, outcome: EffectOutcome) {
  const situation = { node, ports: [], at: 0, host: 'h', conf: UPSTREAM_CONF, ironicUrl: 'http://ironic' }
  const effect = { kind: outcome.kind } as EffectBody
  return react(situation, { kind: 'outcome', job: { effect, rest: [], then, memo: {} }, outcome })
}

type Flow = 'cleaning' | 'deployment' | 'servicing'

/** A node in the middle of a step of the flow. */
function nodeIn(kind: StepKind, state: string, info: JsonObject = {}): NodeRecord {
  const fields = { driver: 'redfish', deploy_interface: 'custom-agent' }
  const node = {
    ...makeNodeRecord(fields, chooseInterfaces(hardwareType('redfish', ''), fields), '2026-01-02T03:04:05', UUID),
    id: 1,
    provision_state: state,
    reservation: 'h',
    [`${kind}_step`]: STEP,
    driver_internal_info: { agent_url: 'http://agent', [`${kind}_steps`]: [STEP], [`${kind}_step_index`]: 0, ...info },
  } as NodeRecord
  return node
}

/** Reacts to a command list whose last command has this status, in the middle of a step of the flow. */
function afterStatus(kind: StepKind, flow: Flow, state: string, status: string) {
  const last = {
    id: '1',
    command_name: `execute_${kind}_step`,
    command_status: status,
    command_error: { details: 'details of the error' },
    command_result: null,
  } as unknown as CommandResult
  const value = { names: [last.command_name], last }
  return after(nodeIn(kind, state), { flow, after: 'agent-commands' }, { ok: true, kind: 'agent-commands', value })
}

test.each([
  ['clean', 'cleaning', 'clean wait'],
  ['deploy', 'deployment', 'wait call-back'],
  ['service', 'servicing', 'service wait'],
] as const)(
  'an unknown status of a %s step fails in the sentence of Ironic, with the whole step',
  (kind, flow, state) => {
    const { job } = afterStatus(kind, flow, state, 'ODD')
    expect(job).toMatchObject({
      effect: { kind: 'agent-logs' },
      then: { flow, after: 'failure-logs' },
      memo: {
        error: `Agent returned unknown status for ${kind} step ${pythonRepr(STEP)} on node ${UUID} : ODD.`,
      },
    })
  },
)

test.each([
  ['clean', 'cleaning', 'clean wait'],
  ['deploy', 'deployment', 'wait call-back'],
  ['service', 'servicing', 'service wait'],
] as const)('a failed %s step fails in the sentence of Ironic, with the name of the step', (kind, flow, state) => {
  const { job } = afterStatus(kind, flow, state, 'FAILED')
  const name = kind.charAt(0).toUpperCase() + kind.slice(1)
  expect(job?.memo.error).toBe(`${name} step deploy.install_coreos failed on node ${UUID}. details of the error`)
})

const FLOWS = [
  ['clean', 'cleaning', 'cleaning', 'clean'],
  ['deploy', 'deployment', 'deploying', 'deployment'],
  ['service', 'servicing', 'servicing', 'servicing'],
] as const

test.each(FLOWS)(
  'a reboot for a %s step that fails ends the flow in the sentence of Ironic, with the whole step',
  (kind, flow, state) => {
    const node = nodeIn(kind, state, { [`${flow}_reboot`]: true })
    const error = 'Failed to set node power state to rebooting.'
    const { patch, history } = after(
      node,
      { flow, after: 'step-reboot' },
      { ok: false, kind: 'power', reason: 'bmc', error },
    )
    const sentence = `Reboot requested by ${kind} step ${pythonRepr(STEP)} failed for node ${UUID}: ${error}`
    expect(patch.last_error).toBe(sentence)
    expect(history.map(({ severity, event }) => [severity, event])).toContainEqual(['ERROR', sentence])
  },
)

test.each(FLOWS)(
  'a %s step that cannot be run is in the history as aborted, without its secrets',
  (kind, flow, state) => {
    const outcome = { ok: false, kind: 'agent-step', reason: 'agent error', error: 'no' } as const
    const { history } = after(nodeIn(kind, state), { flow, after: 'agent-step' }, outcome)
    expect(history[0]).toMatchObject({
      severity: 'ERROR',
      event: expect.stringMatching(/ aborted at step 'install_coreos' with steps=/) as string,
      event_type: expect.stringMatching(/_end$/) as string,
    })
    expect(history[0]!.event).toContain(`with steps=${pythonRepr([MASKED])}`)
    expect(history[0]!.event).not.toContain('hidden')
  },
)

test.each(FLOWS)('a %s step whose agent is not up yet after a reboot is no aborted one', (kind, flow, state) => {
  const node = nodeIn(kind, state, { [`${flow}_reboot`]: true })
  const outcome = { ok: false, kind: 'agent-step', reason: 'agent unreachable', error: 'no' } as const
  const { patch, history } = after(node, { flow, after: 'agent-step' }, outcome)
  expect(patch.provision_state).toMatch(/^(clean wait|wait call-back|service wait)$/)
  expect(patch.last_error ?? null).toBeNull()
  expect(history).toEqual([])
})
