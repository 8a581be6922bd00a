import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { command, type CommandOptions, type CommandRun } from '../kit/commands/command.js'

/** Sets the title, clears the screen, colours by C1, turns the direction, and begins a line of its own. */
const HOSTILE = 'x\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2028\u200b\r\nfault-9  forged'

/** Characters that a terminal would obey, or not show. */
const HARMFUL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

function expectHarmless({ stdout, stderr }: CommandRun): void {
  for (const text of [stdout, stderr]) {
    expect(text).not.toMatch(HARMFUL)
    expect(text).not.toMatch(/^fault-9/m)
  }
}

async function ended(argv: readonly string[], options: CommandOptions = {}): Promise<CommandRun> {
  const started = command(argv, options)
  await started.ended
  return started
}

describe('a lab whose clients are hostile', () => {
  let lab: CommandRun
  let url: string

  beforeAll(async () => {
    lab = command(['up', '--nodes', '1', '--port', '0', '--verbose', '--no-ui'])
    url = (await lab.printed(/Ironic is ready at (\S+)/))[1]!
    const send = (path: string, method: string, body?: unknown) =>
      fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.95' },
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      })
    await send(`/v1/${encodeURIComponent(HOSTILE)}`, 'GET')
    const added = await send('/_lab/faults', 'POST', {
      match: { node: 'node-0', phase: 'deploy' },
      effect: { kind: 'agent-silent' },
      label: HOSTILE,
    })
    expect(added.status, await added.text()).toBe(201)
    const address = `http://127.0.0.1:1/${HOSTILE}`
    const driverInfo = { redfish_address: address, redfish_username: 'a', redfish_password: 'b' }
    await send('/v1/nodes', 'POST', { name: 'hostile', driver: 'redfish', driver_info: driverInfo })
    await send('/v1/nodes/hostile/states/provision', 'PUT', { target: 'manage' })
    await lab.printed(/hostile {2}.*enroll/)
  })

  afterAll(async () => {
    lab.stop()
    await lab.ended
    expectHarmless(lab)
  })

  test.each([[['journal']], [['fault', 'list']], [['clock', 'show']]])('%s', async (argv) => {
    const shown = await ended([...argv, '--url', url])
    expect(await shown.ended).toBe(0)
    expectHarmless(shown)
  })

  test('their escapes are shown', async () => {
    const listed = await ended(['fault', 'list', '--url', url])
    expect(listed.stdout).toContain('x\\x1b]0;owned\\x07\\x1b[2J\\x9b31m\\u202e\\u2028\\u200b\\r\\nfault-9  forged')
    expect(listed.stdout.split('\n')).toHaveLength(2)
  })

  test('JSON is the same in a pipe, and means the same on a terminal', async () => {
    const argv = ['fault', 'list', '--json', '--url', url]
    const pipe = await ended(argv)
    const terminal = await ended(argv, { isTTY: true })
    expect(pipe.stdout).toContain('\x9b31m\u202e')
    expectHarmless(terminal)
    expect(JSON.parse(terminal.stdout)).toEqual(JSON.parse(pipe.stdout))
  })
})

test('a control API that answers with escapes reaches no terminal', async () => {
  const server = createServer((_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { code: 'x', message: HOSTILE, remedy: HOSTILE } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    for (const argv of [['clock', 'show'], ['journal'], ['fault', 'list']]) {
      const refused = await ended([...argv, '--url', url])
      expect(await refused.ended).not.toBe(0)
      expect(refused.stderr).toContain('\\x1b]0;owned')
      expectHarmless(refused)
    }
  } finally {
    server.close()
  }
})

test('neither arguments nor names of files forge a line', async () => {
  for (const argv of [
    [HOSTILE],
    ['up', `--${HOSTILE}`],
    ['ignition', 'validate', HOSTILE],
    ['bmh', 'explain', HOSTILE],
  ])
    expectHarmless(await ended(argv))
})

test('a file shown on a terminal is visible text, and in a pipe it is the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-hostile-'))
  try {
    const config = join(folder, 'c.ign')
    const source = `data:,${encodeURIComponent(HOSTILE)}`
    const files = [{ path: '/etc/motd', contents: { source } }]
    await writeFile(config, JSON.stringify({ ignition: { version: '3.4.0' }, storage: { files } }))
    const argv = ['ignition', 'show', config, '--cat', '/etc/motd']
    expect((await ended(argv)).stdout).toBe(HOSTILE)
    const shown = await ended(argv, { isTTY: true })
    expect(shown.stdout).not.toMatch(HARMFUL)
  } finally {
    await rm(folder, { recursive: true })
  }
})
