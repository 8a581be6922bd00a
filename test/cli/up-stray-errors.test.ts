import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { HttpTransport, IronicClient } from '../../base/wire/index.js'
import { UpProcess } from '../kit/commands/up-process.js'

/** A step whose error comes from an event handler, a timer or a promise, and one that works. */
const STEPS = `
import { EventEmitter } from 'node:events'
import { defineStep } from 'ironstage'

export const stray = defineStep({
  name: 'stray',
  interface: 'deploy',
  on: ['deploy'],
  args: { properties: { how: { type: 'string', description: 'Where the error is thrown.' } } },
  run: async (_, { how }) => {
    if (how === 'not at all') return {}
    if (how === 'promise') void Promise.reject(new Error('a promise was rejected'))
    else {
      const emitter = new EventEmitter().on('tick', () => { throw new Error('an event handler threw') })
      setTimeout(() => emitter.emit('tick'), 10)
    }
    return new Promise(() => {})
  },
})
`

let folder: string
let up: UpProcess
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-stray-'))
  await writeFile(join(folder, 'stray.ts'), STEPS)
  up = new UpProcess(['--port', '0', '--nodes', '3', '--speed', '60', '--steps', join(folder, 'stray.ts')])
})
afterAll(async () => {
  await up?.kill()
  await rm(folder, { recursive: true, force: true })
})

describe('an error that nothing caught', () => {
  test('fails the step of the node that it belongs to; the others go on, and the log names it once', async () => {
    const clock = systemClock()
    await using transport = new HttpTransport({ clock })
    const client = new IronicClient({ transport, endpoint: await up.ready, clock })
    const deployed = async (node: string, how: string) => {
      await client.provision(node, 'manage', {})
      await client.waitFor(node, ['manageable'], { every: 50 })
      await client.provision(node, 'provide', {})
      await client.waitFor(node, ['available'], { every: 50 })
      const step = { step: 'stray', interface: 'deploy', priority: 90, args: { how } } as const
      await client.provision(node, 'active', { deploy_steps: [step] })
      return client.waitFor(node, ['active', 'deploy failed'], { every: 50 })
    }
    const ended = await Promise.all([
      deployed('node-0', 'event handler'),
      deployed('node-1', 'promise'),
      deployed('node-2', 'not at all'),
    ])
    expect(ended.map(({ provision_state, last_error }) => [provision_state, last_error])).toEqual([
      ['deploy failed', expect.stringContaining('an event handler threw')],
      ['deploy failed', expect.stringContaining('a promise was rejected')],
      ['active', null],
    ])
    expect(up.alive).toBe(true)
    expect(up.log.filter(({ message }) => message.includes('threw an error that nothing caught'))).toHaveLength(2)
    expect(up.stray).toEqual([])
  }, 60_000)
})
