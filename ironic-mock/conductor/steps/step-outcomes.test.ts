import { expect, test } from 'vitest'
import { pythonRepr, type CommandResult, type NodeRecord, type StepKind } from '../../../wire/index.js'
import { chooseInterfaces, hardwareType } from '../../drivers/hardware-types.js'
import type { Continuation } from '../core/continuation.js'
import type { Job } from '../core/effects.js'
import { UPSTREAM_POLICY } from '../core/policy.js'
import { react } from '../core/react.js'
import { newNode } from '../records/new-records.js'

const UUID = '11111111-1111-4111-8111-111111111111'
const STEP = { interface: 'deploy', step: 'install_coreos', args: {}, priority: 50 }

/** Reacts to a command list whose last command has this status, in the middle of a step of the flow. */
function afterStatus(kind: StepKind, flow: 'cleaning' | 'deployment' | 'servicing', state: string, status: string) {
  const fields = { driver: 'redfish', deploy_interface: 'custom-agent' }
  const node = {
    ...newNode(fields, chooseInterfaces(hardwareType('redfish', ''), fields), '2026-01-02T03:04:05', UUID),
    id: 1,
    provision_state: state,
    reservation: 'h',
    [`${kind}_step`]: STEP,
    driver_internal_info: { agent_url: 'http://agent', [`${kind}_steps`]: [STEP], [`${kind}_step_index`]: 0 },
  } as NodeRecord
  const then: Continuation = { flow, after: 'agent-commands' }
  const job: Job = { effect: { kind: 'agent-commands' }, rest: [], then, memo: {} }
  const last = {
    ...{ id: '1', command_name: `execute_${kind}_step`, command_status: status },
    ...{ command_error: { details: 'details of the error' }, command_result: null },
  } as unknown as CommandResult
  const situation = { node, ports: [], at: 0, host: 'h', policy: UPSTREAM_POLICY, ironicUrl: 'http://ironic' }
  const value = { names: [last.command_name], last }
  return react(situation, { kind: 'outcome', job, outcome: { ok: true, kind: 'agent-commands', value } })
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
