import { expect, test } from 'vitest'
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
