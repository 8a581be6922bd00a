import { expect, test } from 'vitest'
import { maskValue } from './masking.js'

test.each([
  'password',
  'bmc_passphrase',
  'clientSecret',
  'agent_token',
  'privateKey',
  'private_key',
  'adminPass',
  'configdrive',
  'encrypted_key',
  'fernetkey',
  'new_pass',
  'snmp_auth_key',
  'sslkey',
  'sys_pswd',
])('the value of %s is masked in what a report shows, at any depth', (key) => {
  const shown = JSON.stringify(maskValue({ steps: [{ args: { [key]: 'canary' } }], name: 'shown' }))
  expect(shown).not.toContain('canary')
  expect(shown).toContain('shown')
})

test('a config drive that is an object is masked whole, and what only sounds like a secret is shown', () => {
  expect(maskValue({ configdrive: { user_data: 'canary' } })).not.toEqual({ configdrive: { user_data: 'canary' } })
  const shown = { agent_token_required: true, configdrive: null, secrets: { count: 2 } }
  expect(maskValue(shown)).toEqual(shown)
})
