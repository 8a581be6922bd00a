import { expect, test } from 'vitest'
import { WholeShare } from './work-share.js'

const NODE = { uuid: '1be26c0b-03f2-4d2e-ae87-c02d7f33c123', driver: 'redfish', conductor_group: '' }

test('a node whose driver has been disabled, or that is of another group, has no conductor', () => {
  const share = new WholeShare({ host: 'only', group: '', drivers: ['redfish'], startedAt: 0 })
  expect(share.holderOf(NODE)).toBe('only')
  expect(share.holderOf({ ...NODE, driver: 'ipmi' })).toBeNull()
  expect(share.holderOf({ ...NODE, conductor_group: 'rack-1' })).toBeNull()
})
