import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../base/wire/index.js'
import type { InstallCoreosArgs } from './args.js'
import { resolveInput } from './install-input.js'

const resolve = (args: InstallCoreosArgs, user_data?: unknown, name?: string) =>
  resolveInput({
    args,
    node: { instance_info: { configdrive: { user_data, meta_data: name ? { name } : {} } as JsonObject } },
    environment: {},
    liveHostname: null,
  })

const config = (storage: object, version = '3.4.0') => ({ ignition: { version }, storage })
const twice = config({ files: [{ path: '/a' }, { path: '/a' }] })

describe('a config that Ignition would refuse at first boot is refused before a disk is changed', () => {
  test.each<[string, () => unknown, string]>([
    [
      'as text, with line and column',
      () => resolve({}, JSON.stringify(twice, null, 1)),
      'user_data of the configdrive cannot be used: Ignition would refuse it at first boot: error at $.storage.files.1, line 10 col 5: duplicate entry defined',
    ],
    [
      'as an object',
      () => resolve({ ignition: twice }),
      'the argument ignition cannot be used: Ignition would refuse it at first boot: error at $.storage.files.1: duplicate',
    ],
    [
      'only with the name that is added',
      () => resolve({ ignition: config({ links: [{ path: '/etc', target: '/x' }] }) }, undefined, 'node-0'),
      'would refuse it at first boot once /etc/hostname is added: error at $.storage.files.0: file path includes link',
    ],
    [
      'with the first of many errors',
      () => resolve({ ignition: config({ files: Array.from({ length: 9 }, () => ({ path: '/a' })) }) }),
      'duplicate entry defined; and 5 more. (check_ignition: false installs it all the same)',
    ],
  ])('%s', (_, resolving, sentence) => {
    expect(resolving).toThrow(sentence)
    expect(resolving).toThrow('Nothing was written to any disk')
  })

  test('without values that may be secrets', () => {
    const unit = { name: 'a.service', contents: '[Service] hunter2' }
    const bad = () => resolve({ ignition: { ignition: { version: '3.4.0' }, systemd: { units: [unit] } } })
    expect(bad).toThrow('found garbage after section name (not shown)')
    expect(bad).not.toThrow('hunter2')
  })

  test('unless the check is switched off', () => {
    expect(resolve({ ignition: twice, check_ignition: false }).ignition).toEqual(twice)
  })
})

test('warnings of Ignition are reported, and do not refuse the config', () => {
  expect(resolve({ ignition: JSON.stringify({ ...config({}), later: 1 }) }).ignitionWarnings).toEqual([
    'warning at $.later, line 1 col 46: unused key later',
  ])
  expect(resolve({ ignition: config({}, '3.7.0-experimental') }).ignitionWarnings).toEqual([
    'spec 3.7.0-experimental is experimental: a later Ignition will refuse it',
  ])
})
