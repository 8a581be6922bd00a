import { expect, test } from 'vitest'
import { IronicError } from './errors.js'
import { negotiate } from './microversion.js'

const OWN = { 'x-openstack-ironic-api-version': '1.9' }

test.each([
  ['no header', {}, 1],
  ['an empty one', { 'x-openstack-ironic-api-version': '' }, 1],
  ['a version', { 'x-openstack-ironic-api-version': '1.81' }, 81],
  ['latest', { 'x-openstack-ironic-api-version': 'latest' }, 115],
  ['the standard header', { 'openstack-api-version': 'baremetal 1.80' }, 80],
  ['the standard header among other services', { 'openstack-api-version': 'compute 2.1, baremetal 1.9' }, 9],
  ['another service only', { 'openstack-api-version': 'compute 2.1', 'x-openstack-ironic-api-version': '1.5' }, 5],
  ['one with a blank', { 'x-openstack-ironic-api-version': '1. 5' }, 5],
  ['one with blanks around the dot', { 'x-openstack-ironic-api-version': ' 1 .\t5 ' }, 5],
  ['one with a sign', { 'x-openstack-ironic-api-version': '+1.+5' }, 5],
  ['one with an underscore', { 'x-openstack-ironic-api-version': '1.1_0' }, 10],
  ['the last of two', { 'x-openstack-ironic-api-version': '1.5,1.6' }, 6],
  ['the last of two, which is empty', { 'x-openstack-ironic-api-version': '1.6 ,' }, 1],
  ['the last in the standard header', { 'openstack-api-version': 'baremetal 1.6, baremetal  1. 7,compute 2.1' }, 7],
  ['a standard header without a version', { 'openstack-api-version': 'baremetal', ...OWN }, 9],
  ['both', { 'openstack-api-version': 'baremetal 1.80', 'x-openstack-ironic-api-version': '1.5' }, 80],
])('%s is answered in the version it asks for', (_, headers, minor) => {
  expect(negotiate(headers)).toBe(minor)
})

const range = 'The supported version range is: [1.1, 1.115].'
test.each([
  ['1.116', `Version 1.116 was requested but the minor version is not supported by this service. ${range}`],
  ['1.0', `Version 1.0 was requested but the minor version is not supported by this service. ${range}`],
  ['2.0', `Mutually exclusive versions requested. Version 2.0 requested but not supported by this service. ${range}`],
  ['0.1', `Mutually exclusive versions requested. Version 0.1 requested but not supported by this service. ${range}`],
  ['abc', 'Invalid value for X-OpenStack-Ironic-API-Version header'],
  ['1', 'Invalid value for X-OpenStack-Ironic-API-Version header'],
  ['1. 200', `Version 1.200 was requested but the minor version is not supported by this service. ${range}`],
  ['1.-5', `Version 1.-5 was requested but the minor version is not supported by this service. ${range}`],
  ['1._5', 'Invalid value for X-OpenStack-Ironic-API-Version header'],
  ['1.0x5', 'Invalid value for X-OpenStack-Ironic-API-Version header'],
  ['1.5 x', 'Invalid value for X-OpenStack-Ironic-API-Version header'],
  ['1.2.3', 'Invalid value for X-OpenStack-Ironic-API-Version header'],
])('%s is refused in the recorded words', (asked, sentence) => {
  try {
    negotiate({ 'x-openstack-ironic-api-version': asked })
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(IronicError)
    expect(error).toMatchObject({ status: 406, shape: 'pecan', message: sentence })
    const ranged = sentence.includes('range')
    expect(Object.keys((error as IronicError).headers)).toHaveLength(ranged ? 2 : 0)
  }
})

test('an older release knows no newer version than its own', () => {
  expect(negotiate({ 'x-openstack-ironic-api-version': 'latest' }, 96)).toBe(96)
  expect(negotiate({ 'x-openstack-ironic-api-version': '1.96' }, 96)).toBe(96)
  expect(() => negotiate({ 'x-openstack-ironic-api-version': '1.97' }, 96)).toThrow('is: [1.1, 1.96].')
})
