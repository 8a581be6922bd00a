import { expect, test } from 'vitest'
import { bmcAccess } from './bmc-access.js'

const account = { username: 'admin', password: 'x' }

test.each([
  'redfsh+http://user:hid@den@10.0.0.5/redfish/v1/Systems/1',
  'user:hidden@10.0.0.5',
  'ipmi://user:hid/den@10.0.0.5',
])('the error for the BMC address %s does not show its password', (address) => {
  expect(() => bmcAccess(address, account)).toThrow(/\*\*\*\*\*\*@10\.0\.0\.5/)
  expect(() => bmcAccess(address, account)).not.toThrow(/hid/)
})
