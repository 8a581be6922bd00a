import { expect, test } from 'vitest'
import { node as newNode } from '../../../test/kit/store-records.js'
import type { NodeRecord, ProvisionState } from '../../../base/wire/index.js'
import { UPSTREAM_CONF } from './conductor-conf.js'
import type { Job } from './effects.js'
import type { Reaction } from './node-task.js'
import { react } from './react.js'
import { STATES_OF_RESTART, restartable } from '../../../test/kit/conductor/restartable.js'

test.each(STATES_OF_RESTART)('a node found in %s goes to %s', async (state, after) => {
  const { found, deadlines } = await restartable({ provision_state: state, reservation: 'lab' }, { effect: true })
  expect(found).toMatchObject({ provision_state: after, reservation: null })
  if (state !== after)
    expect(found.last_error).toBe(`The ${state} state can't be resumed by conductor lab. Moving to fail state.`)
  expect(deadlines).toEqual([])
})

test('a pending power change is aborted', async () => {
  const { found } = await restartable(
    { provision_state: 'manageable', reservation: 'lab', target_power_state: 'power on' },
    { effect: true },
  )
  expect(found).toMatchObject({
    target_power_state: null,
    reservation: null,
    last_error: 'Pending power operation was aborted due to conductor restart',
  })
})

test('a node that waits for its agent keeps waiting, with the same time limit', async () => {
  const { found, deadlines } = await restartable(
    { provision_state: 'wait call-back', target_provision_state: 'active' },
    { deadline: true },
  )
  expect(found).toMatchObject({ provision_state: 'wait call-back', target_provision_state: 'active', last_error: null })
  expect(deadlines).toMatchObject([{ kind: 'deploy callback' }])
})

test('a reservation of another conductor stays', async () => {
  const { found } = await restartable({ provision_state: 'manageable', reservation: 'somebody else' }, {})
  expect(found.reservation).toBe('somebody else')
})

const POWER_ON: Job = {
  effect: { kind: 'power', target: 'power on' },
  rest: [],
  then: { flow: 'power', after: 'power-change' },
  memo: {},
}

/** The conductor `heir` takes over a node that `dead` had reserved. */
function takenOver(patch: Partial<NodeRecord>, { goesOn = false, job = null as Job | null } = {}): Reaction {
  const record = { ...newNode('u', { reservation: 'dead', ...patch }), id: 1 }
  const situation = { node: record, ports: [], at: 0, host: 'heir', conf: UPSTREAM_CONF, ironicUrl: 'http://ironic' }
  return react(situation, { kind: 'restarted', job, goesOn })
}

test.each(STATES_OF_RESTART.filter(([state, after]) => state !== after))(
  'a take-over from a dead conductor fails what cannot go on: %s to %s',
  (state, after) => {
    const { patch } = takenOver({ provision_state: state })
    expect(patch).toMatchObject({ provision_state: after, reservation: null })
    const isUpstreams = state === 'deploying' || state === 'cleaning'
    expect(patch.last_error).toBe(
      isUpstreams
        ? 'Operation was aborted due to conductor take over'
        : `The ${state} state can't be resumed by conductor heir. Moving to fail state.`,
    )
  },
)

test('a take-over in the middle of a cleaning step leaves the node to the operator', () => {
  const clean_step = { step: 'erase_devices', interface: 'deploy' }
  const { patch } = takenOver({ provision_state: 'cleaning', clean_step })
  expect(patch).toMatchObject({
    provision_state: 'clean failed',
    maintenance: true,
    fault: 'clean failure',
    maintenance_reason: 'Operation was aborted due to conductor take over',
  })
})

test('a take-over aborts a pending power change, in the history too', () => {
  const last_error = 'Pending power operation was aborted due to conductor take over'
  const { patch, history } = takenOver({ provision_state: 'active', target_power_state: 'power on' }, { job: POWER_ON })
  expect(patch).toMatchObject({ target_power_state: null, reservation: null, last_error })
  expect(history).toMatchObject([{ event: last_error, event_type: 'takeover' }])
})

test.each<ProvisionState>(['active', 'deploying'])(
  'work that is handed over in order goes on: %s',
  (provision_state) => {
    const { patch, job, dropJobs } = takenOver({ provision_state }, { goesOn: true, job: POWER_ON })
    expect({ job, dropJobs }).toEqual({ job: POWER_ON, dropJobs: true })
    expect(patch).toMatchObject({ reservation: 'heir' })
    expect(patch.provision_state).toBeUndefined()
  },
)
