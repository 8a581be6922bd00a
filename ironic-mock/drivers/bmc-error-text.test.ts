import { describe, expect, test } from 'vitest'
import { bmcErrorText } from './bmc-error-text.js'
import { BmcError } from './bmc-error.js'

describe('how a BMC that refuses is worded', () => {
  test.each([
    [
      'redfish',
      'unreachable',
      'Redfish connection failed for node u: Unable to connect to http://bmc/redfish/v1/. Error: refused',
    ],
    [
      'redfish',
      'unauthorized',
      'Redfish exception occurred. Error: HTTP GET http://bmc/redfish/v1/Systems returned code 401. Base.1.0.GeneralError: refused Extended information: None',
    ],
    ['ipmitool', 'unreachable', 'IPMI call failed: power status.'],
  ] as const)('a failure over %s by reason %s has the sentence of Ironic', (power_interface, why, sentence) => {
    const node = { uuid: 'u', power_interface, driver_info: { redfish_address: 'http://bmc/' } }
    expect(bmcErrorText(node, new BmcError(why, 'refused'))).toBe(sentence)
  })
})
