import { expect, test } from 'vitest'
import { maskInstanceInfo, maskSecrets } from './mask-answers.js'

test('values of secret-looking keys are hidden at any depth, of any type', () => {
  expect(
    maskSecrets({
      redfish_address: 'http://bmc',
      redfish_password: 'p',
      ipmi_PASSWORD: null,
      snmp_auth_key: 'k',
      agent_secret_token: 't',
      nested: { auth_token: 'x', plain: 1 },
      list: [{ password: 'lists are left as they are' }],
    }),
  ).toEqual({
    redfish_address: 'http://bmc',
    redfish_password: '******',
    ipmi_PASSWORD: '******',
    snmp_auth_key: '******',
    agent_secret_token: '******',
    nested: { auth_token: '******', plain: 1 },
    list: [{ password: 'lists are left as they are' }],
  })
})

test('the config drive and image URL of instance_info are hidden', () => {
  expect(
    maskInstanceInfo({ configdrive: { user_data: 'x' }, image_url: 'http://signed', image_source: 'http://i' }),
  ).toEqual({ configdrive: '******', image_url: '******', image_source: 'http://i' })
  expect(maskInstanceInfo({})).toEqual({})
})
