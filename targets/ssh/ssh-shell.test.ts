import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { cutAtRandom, runsOverCuts } from '../../test/kit/cut-shell.js'
import type { SshHost } from '../../test/kit/ssh-host.js'
import {
  clock,
  home,
  homeForEachTest,
  hosted,
  hostKey,
  publicOf,
  reach,
  reply,
  replyAfterRetries,
  why,
} from '../../test/kit/ssh-scene.js'
import { errorChain, seededRandom, systemRandom } from '../../base/runtime/index.js'
import { runCommand } from '../../steps/sdk/run-command.js'
import { LinkLost, type LoginShell } from '../supervised/login-shell.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { parseSshTarget } from './address.js'

homeForEachTest()

describe('a line on a host behind SSH', () => {
  test('gets its input, and delivers its outputs and its exit code', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    expect(shell.name).toBe(`core@127.0.0.1:${host.port}`)
    expect(shell.identity).toMatchObject({ bootId: 'boot-1', uid: 0 })
    expect(await reply(shell, 'cat; echo err >&2; exit 7', 'in\n')).toEqual({
      stdout: 'in\n',
      stderr: 'err\n',
      exit: 7,
    })
    expect((await reply(shell, 'kill -9 $$')).exit).toBeNull()
    expect(await shell.alive()).toBe(true)
  })

  test('may print much more than is read at once', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    const channel = await shell.open('head -c 5000000 /dev/zero; exit 3')
    await new Promise((resolve) => setTimeout(resolve, 50))
    let length = 0
    for await (const bytes of channel.stdout) length += bytes.length
    for await (const _ of channel.stderr);
    expect([length, await channel.exit]).toEqual([5_000_000, 3])
  })

  test('is cut by its caller, and by a lost link', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    const first = await shell.open('echo begun; sleep 60')
    for await (const bytes of first.stdout) {
      expect(Buffer.from(bytes).toString()).toBe('begun\n')
      break
    }
    first.cut()
    await expect(first.exit).rejects.toBeInstanceOf(LinkLost)

    const stop = new AbortController()
    const second = await shell.open('sleep 60', { signal: stop.signal })
    stop.abort()
    await expect(second.exit).rejects.toBeInstanceOf(LinkLost)

    const third = await shell.open('echo begun; sleep 60')
    let text = ''
    for await (const bytes of third.stdout) {
      text += Buffer.from(bytes).toString()
      host.cut()
    }
    expect(text).toBe('begun\n')
    await expect(third.exit).rejects.toBeInstanceOf(LinkLost)
    // The next line opens a new connection.
    expect((await replyAfterRetries(shell, 'echo again')).stdout).toBe('again\n')
    expect(host.connections).toBe(2)
  })

  test('shares its connection with others, and opens another when that is full', async () => {
    await using host = await hosted({ sessions: 3 })
    await using shell = await reach(host)
    const lines = Array.from({ length: 20 }, (_, n) => reply(shell, `sleep 0.02; echo ${n}`))
    expect((await Promise.all(lines)).map(({ stdout }) => stdout.trim())).toEqual(lines.map((_, n) => String(n)))
    expect(host.mostSessions).toBe(3)
    expect(host.mostConnections).toBeLessThanOrEqual(4)
  })
})

test('a server that counts a session for a while after its end is asked again', async () => {
  await using host = await hosted({ sessions: 1, refusalsAfterEnd: 3 })
  await using shell = await reach(host)
  for (const word of ['one', 'two', 'three']) expect((await reply(shell, `echo ${word}`)).stdout).toBe(`${word}\n`)
})

describe('the connection to a host', () => {
  test('passes the jump hosts of the configuration', async () => {
    const ways: string[] = []
    const station = (name: string) =>
      hosted({
        authenticate: (context) => {
          if (context.method === 'none') ways.push(`${name} as ${context.username}`)
          context.accept()
        },
      })
    await using first = await station('first')
    await using second = await station('second')
    await using last = await station('last')
    const known = [first, second].map(
      ({ port }) => `[127.0.0.1]:${port} ssh-ed25519 ${publicOf(hostKey).toString('base64')}`,
    )
    await home.write('known_hosts', known.join('\n'))
    await home.write(
      'config',
      [
        'Host one',
        'HostName 127.0.0.1',
        `Port ${first.port}`,
        'User jump',
        'Host lab',
        'HostName 127.0.0.1',
        `Port ${last.port}`,
        `ProxyJump one,other@127.0.0.1:${second.port}`,
      ].join('\n'),
    )
    await using shell = await reach(last, { address: parseSshTarget('ssh://core@lab') })
    expect((await reply(shell, 'echo here')).stdout).toBe('here\n')
    expect(ways).toEqual(['first as jump', 'second as other', 'last as core'])
    first.cut()
    await expect(shell.open('sleep 9').then((channel) => channel.exit)).rejects.toBeInstanceOf(LinkLost)
    expect((await replyAfterRetries(shell, 'echo again')).stdout).toBe('again\n')
  })

  test('fails when the port is closed, or the host does not answer', async () => {
    await using host = await hosted()
    const { port } = host
    await host[Symbol.asyncDispose]()
    expect(await why(reach({ port }))).toMatch(/ssh-unreachable.*ECONNREFUSED/)
    const net = await import('node:net')
    const silentServer = net.createServer((socket) => void socket.on('error', () => {}))
    await new Promise<void>((resolve) => silentServer.listen(0, '127.0.0.1', resolve))
    try {
      await home.write('config', 'ConnectTimeout 0.1\n')
      const address = silentServer.address() as { port: number }
      expect(await why(reach(address))).toMatch(/ssh-unreachable.*does not answer/)
    } finally {
      silentServer.close()
    }
  })
})

describe('the machine behind an address', () => {
  test.each<[string, Partial<SshHost['identity']>, Partial<SshHost['identity']>, string]>([
    ['is the same over a lost link', {}, {}, 'again\n'],
    ['is the same after a boot', {}, { boot: 'boot-2' }, 'again\n'],
    ['is the same with another live system', { dmi: 'd1' }, { dmi: 'd1', machine: 'b', boot: 'boot-2' }, 'again\n'],
    ['is another one', {}, { machine: 'b', boot: 'boot-2' }, 'ssh-other-host'],
    ['is another one on the same kernel', { dmi: 'd1' }, { dmi: 'd1', machine: 'b' }, 'ssh-other-host'],
    ['is a copy on other hardware', { dmi: 'd1' }, { dmi: 'd2', boot: 'boot-2' }, 'ssh-other-host'],
    ['has no identity', { machine: '' }, { machine: '', boot: 'boot-2' }, 'cannot be shown'],
  ])('%s', async (_, before, after, expected) => {
    await using host = await hosted({ identity: before })
    await using shell = await reach(host)
    Object.assign(host.identity, after)
    host.cut()
    host.lines.length = 0
    const outcome = await replyAfterRetries(shell, 'echo again').then(
      ({ stdout }) => stdout,
      (error: { code: string }) => [error.code, ...errorChain(error)].join(' | '),
    )
    expect(outcome).toContain(expected)
    expect(new Set(host.lines)).toEqual(new Set(expected === 'again\n' ? ['echo again'] : []))
  })
})

describe('a port of this host', () => {
  test('is reached from the target, also after a lost link', async () => {
    const served = createServer((_request, response) => void response.end('the image'))
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
    try {
      await using host = await hosted()
      await using shell = await reach(host)
      await using forwarded = await shell.forward((served.address() as { port: number }).port)
      const url = `http://127.0.0.1:${forwarded.port}/`
      const get = async () => (await fetch(url, { headers: { connection: 'close' } })).text()
      expect(await get()).toBe('the image')
      host.cut()
      await expect.poll(() => get().catch(String), { timeout: 10_000 }).toBe('the image')
    } finally {
      served.closeAllConnections()
      served.close()
    }
  })
})

describe('runs', () => {
  test('end once each over a link that is cut at any moment', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    const random = seededRandom(11)
    const cut: LoginShell = {
      name: shell.name,
      alive: () => shell.alive(),
      open: async (line, options) => {
        const channel = await shell.open(line, options)
        if (random.next() < 0.5) setTimeout(() => host.cut(), random.next() * 100)
        return channel
      },
    }
    const cuts = cutAtRandom(cut, { clock, random, cuts: 8 })
    await runsOverCuts(cuts, { clock, random: systemRandom, folder: `${home.path}/runs` })
  })

  test('get every argument unchanged', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom, folder: `${home.path}/runs` })
    const odd = ['a b', "it's", '$HOME', '`id`', '; reboot', '!', '\\n', 'x\ny', '', '*', 'é']
    expect((await runCommand(executor, ['printf', '%s|', ...odd], { effect: 'reads' })).stdout).toBe(
      `${odd.join('|')}|`,
    )
  })
})
