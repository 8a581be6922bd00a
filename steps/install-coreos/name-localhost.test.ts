import { describe, expect, test } from 'vitest'
import { silent, type LogLevel } from '../../base/runtime/index.js'
import { scriptedTarget, type ScriptedOptions } from '../../test/kit/scripted-target.js'
import { nameLocalhost } from './name-localhost.js'

const SET = 'hostnamectl set-hostname --static --transient worker-1'
const environment = { IPA_DEFAULT_HOSTNAME: 'worker-1' }
const called = (name: string, options: ScriptedOptions = {}, answer: string | { code: number; stderr: string } = '') =>
  scriptedTarget(
    { 'hostnamectl set-hostname': answer },
    { files: { '/proc/sys/kernel/hostname': `${name}\n` }, ...options },
  )

describe('the name that the agent gives its live system', () => {
  test.each(['localhost', 'localhost.localdomain'])('%s becomes that of IPA_DEFAULT_HOSTNAME', async (name) => {
    const target = called(name)
    await nameLocalhost(target, { environment, logger: silent })
    expect(target.commands).toEqual([SET])
  })

  test.each(['node-7.example', 'localhost.example', 'localhost4'])('%s stays', async (name) => {
    const target = called(name)
    await nameLocalhost(target, { environment, logger: silent })
    expect(target.commands).toEqual([])
  })

  test('is read in /etc/hostname where the kernel says none', async () => {
    const target = scriptedTarget({ 'hostnamectl set-hostname': '' }, { files: { '/etc/hostname': 'localhost\n' } })
    await nameLocalhost(target, { environment, logger: silent })
    expect(target.commands).toEqual([SET])
  })

  test.each([
    ['without IPA_DEFAULT_HOSTNAME', {}, {}, 'IPA_DEFAULT_HOSTNAME has no name for it'],
    ['with an empty one', { IPA_DEFAULT_HOSTNAME: '' }, {}, 'IPA_DEFAULT_HOSTNAME has no name for it'],
    ['on a target that forbids it', environment, { capabilities: [] }, 'scripted does not allow setting a host name'],
  ])('stays localhost %s, with a warning', async (_, own, options, sentence) => {
    const target = called('localhost', options)
    const lines: [LogLevel, string][] = []
    await nameLocalhost(target, { environment: own, logger: (level, line) => lines.push([level, line]) })
    expect(target.commands).toEqual([])
    expect(lines).toEqual([['warn', expect.stringContaining(sentence)]])
  })

  test('that cannot be set is an error, as in the agent of OpenShift', async () => {
    const target = called('localhost', {}, { code: 1, stderr: 'Could not set property: Access denied\n' })
    await expect(nameLocalhost(target, { environment, logger: silent })).rejects.toThrow(
      'Failed to update hostname: Could not set property: Access denied',
    )
  })
})
