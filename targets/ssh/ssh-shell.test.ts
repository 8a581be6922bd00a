import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AuthContext, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { cutAtRandom, runsOverCuts } from '../../test/kit/cut-shell.js'
import { Home, newKey, sshAgent, SshHost, type SshHostOptions } from '../../test/kit/ssh-host.js'
import { errorChain, seededRandom, silent, systemClock, systemRandom } from '../../runtime/index.js'
import { runCommand } from '../../steps/sdk/run-command.js'
import { LinkLost, type LoginShell } from '../supervised/login-shell.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { parseSshTarget } from './address.js'
import { NO_PINS, parsePins } from './host-keys.js'
import { fingerprint } from './known-hosts.js'
import type { SecretQuestion } from './secrets.js'
import { openSshShell, type SshShellOptions } from './ssh-shell.js'

const clock = systemClock()
const publicOf = (key: string) => (ssh2.utils.parseKey(key) as ParsedKey).getPublicSSH()
const print = (key: string) => fingerprint(publicOf(key))
const hostKey = newKey().private

let home: Home
beforeEach(async () => {
  home = await Home.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const asked: SecretQuestion[] = []
beforeEach(() => void (asked.length = 0))

interface Scene extends Partial<Omit<SshShellOptions, 'surroundings'>> {
  answers?: Partial<Record<SecretQuestion['kind'], string>>
  agent?: string
}

function reach(host: { port: number }, { answers = {}, agent, ...more }: Scene = {}) {
  return openSshShell({
    address: parseSshTarget(`ssh://core@127.0.0.1:${host.port}`),
    surroundings: { home: home.path, userName: 'me', agentSocket: agent ?? null },
    pins: parsePins([print(hostKey)]),
    secrets: {
      ask: (question) => {
        asked.push(question)
        return Promise.resolve(answers[question.kind] ?? null)
      },
    },
    ...{ clock, random: systemRandom, logger: silent },
    ...more,
  })
}

const hosted = (options: SshHostOptions = {}) => SshHost.open({ hostKeys: [hostKey], ...options })

async function said(shell: LoginShell, line: string, stdin?: string) {
  const channel = await shell.open(line, stdin === undefined ? {} : { stdin: Buffer.from(stdin) })
  const all = async (stream: AsyncIterable<Uint8Array>) => {
    let text = ''
    for await (const bytes of stream) text += Buffer.from(bytes).toString()
    return text
  }
  const [stdout, stderr, exit] = await Promise.all([all(channel.stdout), all(channel.stderr), channel.exit])
  return { stdout, stderr, exit }
}

/** The same over a link that was cut, which may show a moment later: as whoever sends scripts does. */
async function saidAgain(shell: LoginShell, line: string): ReturnType<typeof said> {
  for (let tries = 1; ; tries++) {
    try {
      return await said(shell, line)
    } catch (error) {
      if (!(error instanceof LinkLost) || tries === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

/** Why a host is not reached: everything that a person is told. */
async function why(opening: Promise<AsyncDisposable>): Promise<string> {
  try {
    await (await opening)[Symbol.asyncDispose]()
    return 'it was reached'
  } catch (error) {
    const { code, remedy } = error as { code?: string; remedy?: string }
    return [code, ...errorChain(error), remedy].join(' | ')
  }
}

describe('a line on a host behind SSH', () => {
  test('gets its input, and gives its outputs and its code', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    expect(shell.name).toBe(`core@127.0.0.1:${host.port}`)
    expect(shell.identity).toMatchObject({ bootId: 'boot-1', uid: 0 })
    expect(await said(shell, 'cat; echo err >&2; exit 7', 'in\n')).toEqual({ stdout: 'in\n', stderr: 'err\n', exit: 7 })
    expect((await said(shell, 'kill -9 $$')).exit).toBeNull()
    expect(await shell.alive()).toBe(true)
  })

  test('may say much more than is read at once', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    const channel = await shell.open('head -c 5000000 /dev/zero; exit 3')
    await new Promise((resolve) => setTimeout(resolve, 50))
    let length = 0
    for await (const bytes of channel.stdout) length += bytes.length
    for await (const _ of channel.stderr);
    expect([length, await channel.exit]).toEqual([5_000_000, 3])
  })

  test('is cut by whoever asked for it, and by the link', async () => {
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
    // The link is made anew.
    expect((await saidAgain(shell, 'echo again')).stdout).toBe('again\n')
    expect(host.connections).toBe(2)
  })

  test('shares its connection with others, and takes another where there is no more room', async () => {
    await using host = await hosted({ sessions: 3 })
    await using shell = await reach(host)
    const lines = Array.from({ length: 20 }, (_, n) => said(shell, `sleep 0.02; echo ${n}`))
    expect((await Promise.all(lines)).map(({ stdout }) => stdout.trim())).toEqual(lines.map((_, n) => String(n)))
    expect(host.mostSessions).toBe(3)
    expect(host.mostConnections).toBeLessThanOrEqual(4)
  })
})

describe('host keys', () => {
  const other = newKey().private
  const knownHosts = (line: (host: { port: number }) => string) => async (host: { port: number }) => {
    await home.write('known_hosts', `# a comment\n\nbroken line\n${line(host)}\n`)
    return reach(host, { pins: NO_PINS })
  }
  const entry = (key: string) => `ssh-ed25519 ${publicOf(key).toString('base64')}`

  test.each<[string, (host: { port: number }) => Promise<AsyncDisposable>, string]>([
    ['known', knownHosts(({ port }) => `[127.0.0.1]:${port} ${entry(hostKey)}`), 'it was reached'],
    ['one of several patterns', knownHosts(({ port }) => `a,[127.*]:${port} ${entry(hostKey)}`), 'it was reached'],
    [
      'unknown',
      knownHosts(() => `elsewhere ${entry(hostKey)}`),
      `host-key-unknown.*--host-key ${print(hostKey).replaceAll('+', '\\+')}`,
    ],
    ['known without its port', knownHosts(() => `127.0.0.1 ${entry(hostKey)}`), 'host-key-unknown'],
    ['excepted', knownHosts(({ port }) => `*,![127.0.0.1]:${port} ${entry(hostKey)}`), 'host-key-unknown'],
    [
      'changed',
      knownHosts(({ port }) => `[127.0.0.1]:${port} ${entry(other)}`),
      'host-key-changed.*known_hosts:4.*ssh-keygen -R',
    ],
    [
      'revoked',
      knownHosts(({ port }) => `[127.0.0.1]:${port} ${entry(hostKey)}\n@revoked * ${entry(hostKey)}`),
      'host-key-revoked.*known_hosts:5',
    ],
    [
      'known by an authority',
      knownHosts(({ port }) => `@cert-authority [127.0.0.1]:${port} ${entry(other)}`),
      'host-key-unknown.*certificate authority',
    ],
    ['pinned', (host) => reach(host), 'it was reached'],
    ['pinned otherwise', (host) => reach(host, { pins: parsePins([print(other)]) }), 'host-key-changed.*pinned'],
    [
      'pinned for another phase',
      (host) => reach(host, { pins: parsePins([`installed=${print(hostKey)}`]) }),
      'host-key-unknown',
    ],
    [
      'pinned for this phase',
      (host) => reach(host, { phase: 'installed', pins: parsePins([`installed=${print(hostKey)}`]) }),
      'it was reached',
    ],
  ])('a host whose key is %s', async (_, opening, expected) => {
    await using host = await hosted({ authenticate: (context) => context.accept() })
    expect(await why(opening(host))).toMatch(new RegExp(expected, 's'))
  })

  test('nothing is told to a host whose key is not right', async () => {
    const seen: string[] = []
    await using host = await hosted({
      authenticate: (context) => {
        seen.push(context.method)
        context.reject()
      },
    })
    await why(reach(host, { pins: NO_PINS, answers: { password: 'secret' } }))
    expect(seen).toEqual([])
  })

  test('a host is asked for a key of the type that is known', async () => {
    const ecdsa = newKey('ecdsa').private
    await using host = await SshHost.open({ hostKeys: [hostKey, ecdsa] })
    const line = `[127.0.0.1]:${host.port} ecdsa-sha2-nistp256 ${publicOf(ecdsa).toString('base64')}\n`
    await home.write('known_hosts', line)
    expect(await why(reach(host, { pins: NO_PINS }))).toBe('it was reached')
  })

  test('a host that will prove itself later gets no password', async () => {
    const seen: string[] = []
    await using host = await hosted({
      authenticate: (context) => {
        seen.push(context.method)
        context.reject(['password', 'keyboard-interactive'])
      },
    })
    const opening = reach(host, {
      ...{ phase: 'installed', pins: parsePins(['installed=proven']), answers: { password: 'secret' } },
    })
    expect(await why(opening)).toMatch(/ssh-authentication.*not proved/)
    expect(seen).toEqual(['none'])
    expect(asked).toEqual([])
  })
})

describe('logging in', () => {
  const key = newKey()
  const takesKey = (context: AuthContext) => {
    if (context.method !== 'publickey') return context.reject(['publickey'])
    const known = context.key.data.equals(publicOf(key.private))
    const allowed = ssh2.utils.parseKey(key.public) as ParsedKey
    if (!known) return context.reject(['publickey'])
    if (context.signature && allowed.verify(context.blob!, context.signature, context.hashAlgo) !== true)
      return context.reject(['publickey'])
    return context.accept()
  }
  const takesPassword = (context: AuthContext) => {
    if (context.method === 'password' && context.password === 'right') return context.accept()
    return context.reject(['password'])
  }

  test('with a key of a file', async () => {
    await using host = await hosted({ authenticate: takesKey })
    await home.write('id_ed25519', key.private)
    await using _ = await reach(host)
    expect(asked).toEqual([])
  })

  test('with an RSA key', async () => {
    const rsa = newKey('rsa')
    await using host = await hosted({
      authenticate: (context) =>
        context.method === 'publickey' && context.key.data.equals(publicOf(rsa.private))
          ? context.accept()
          : context.reject(['publickey']),
    })
    await home.write('id_rsa', rsa.private)
    expect(await why(reach(host))).toBe('it was reached')
  })

  test('with a key whose file is named in the configuration, and its passphrase', async () => {
    await using host = await hosted({ authenticate: takesKey })
    const locked = newKey('ed25519', 'open sesame')
    const allowed = publicOf(locked.public)
    await using own = await hosted({
      authenticate: (context) =>
        context.method === 'publickey' && context.key.data.equals(allowed)
          ? context.accept()
          : context.reject(['publickey']),
    })
    await home.write('lab', locked.private)
    await home.write('config', 'Host 127.*\n  IdentityFile ~/.ssh/lab\n')
    await using _ = await reach(own, { answers: { passphrase: 'open sesame' } })
    expect(asked).toMatchObject([{ kind: 'passphrase', echo: false }])
    expect(await why(reach(own, { answers: { passphrase: 'wrong' } }))).toContain('passphrase for')
    expect(await why(reach(own))).toContain('IRONSTAGE_SSH_PASSPHRASE')
    expect(await why(reach(host, { answers: { passphrase: 'open sesame' } }))).toContain('it takes publickey')
  })

  test('not with a key that others can read', async () => {
    await using host = await hosted({ authenticate: takesKey })
    await home.write('id_ed25519', key.private, 0o644)
    expect(await why(reach(host))).toMatch(/can be read by others \(mode 644\)/)
  })

  test("with the agent's keys, of which none or all may be wanted", async () => {
    await using agent = await sshAgent(home.path, [newKey().private, key.private])
    await using host = await hosted({ authenticate: takesKey })
    await using _ = await reach(host, { agent: agent.path })
    await home.write('other.pub', newKey().public)
    await home.write('config', 'IdentitiesOnly yes\nIdentityFile ~/.ssh/other\n')
    expect(await why(reach(host, { agent: agent.path }))).toMatch(/ssh-authentication/)
    await home.write('other.pub', key.public)
    await using _again = await reach(host, { agent: agent.path })
  })

  test('with a password, which is asked for once', async () => {
    await using host = await hosted({ authenticate: takesPassword })
    await using shell = await reach(host, { answers: { password: 'right' } })
    host.cut()
    expect((await saidAgain(shell, 'echo again')).stdout).toBe('again\n')
    expect(asked).toEqual([{ kind: 'password', about: 'password of core@127.0.0.1', echo: false }])
    const refused = await why(reach(host, { answers: { password: 'wr0ng' } }))
    expect(refused).toMatch(/ssh-authentication/)
    expect(refused).not.toContain('wr0ng')
    expect(await why(reach(host))).toContain('IRONSTAGE_SSH_PASSWORD')
  })

  test('keyboard-interactive: a password and whatever else is asked', async () => {
    await using host = await hosted({
      authenticate: (context) => {
        if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive'])
        context.prompt(
          [
            { prompt: 'Password: ', echo: false },
            { prompt: 'Token code: ', echo: false },
          ],
          (answers) =>
            String(answers) === 'right,123456' ? context.accept() : context.reject(['keyboard-interactive']),
        )
      },
    })
    await using _ = await reach(host, { answers: { password: 'right', answer: '123456' } })
    expect(await why(reach(host, { answers: { password: 'right' } }))).toContain('no answer was given to "Token code:"')
  })

  test('with a key and a password, where both are wanted', async () => {
    await using host = await hosted({
      authenticate: (() => {
        let first = false
        return (context: AuthContext) => {
          if (context.method === 'password' && first && context.password === 'right') return context.accept()
          if (context.method !== 'publickey') return context.reject([first ? 'password' : 'publickey'])
          if (!context.signature) return context.accept()
          first = true
          return context.reject(['password'], true)
        }
      })(),
    })
    await home.write('id_ed25519', key.private)
    expect(await why(reach(host, { answers: { password: 'right' } }))).toBe('it was reached')
  })
})

describe('the way to a host', () => {
  test('leads through others, as the configuration says', async () => {
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
        ...['Host one', 'HostName 127.0.0.1', `Port ${first.port}`, 'User jump'],
        ...['Host lab', 'HostName 127.0.0.1', `Port ${last.port}`, `ProxyJump one,other@127.0.0.1:${second.port}`],
      ].join('\n'),
    )
    await using shell = await reach(last, { address: parseSshTarget('ssh://core@lab') })
    expect((await said(shell, 'echo here')).stdout).toBe('here\n')
    expect(ways).toEqual(['first as jump', 'second as other', 'last as core'])
    first.cut()
    await expect(shell.open('sleep 9').then((channel) => channel.exit)).rejects.toBeInstanceOf(LinkLost)
    expect((await saidAgain(shell, 'echo again')).stdout).toBe('again\n')
  })

  test('ends where nobody listens, or nobody answers', async () => {
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
    ['says nothing of itself', { machine: '' }, { machine: '', boot: 'boot-2' }, 'cannot be shown'],
  ])('%s', async (_, before, after, expected) => {
    await using host = await hosted({ identity: before })
    await using shell = await reach(host)
    Object.assign(host.identity, after)
    host.cut()
    host.lines.length = 0
    const outcome = await saidAgain(shell, 'echo again').then(
      ({ stdout }) => stdout,
      (error: { code: string }) => [error.code, ...errorChain(error)].join(' | '),
    )
    expect(outcome).toContain(expected)
    expect(new Set(host.lines)).toEqual(new Set(expected === 'again\n' ? ['echo again'] : []))
  })
})

describe('a port of this host', () => {
  test('is reached from there, also after the link was made anew', async () => {
    const served = createServer((_request, response) => void response.end('the image'))
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve))
    try {
      await using host = await hosted()
      await using shell = await reach(host)
      await using lent = await shell.lend((served.address() as { port: number }).port)
      const url = `http://127.0.0.1:${lent.port}/`
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
  test('come to their end, once each, over a link that is cut at any moment', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    const random = seededRandom(11)
    const cut: LoginShell = {
      ...{ name: shell.name, alive: () => shell.alive() },
      open: async (line, options) => {
        const channel = await shell.open(line, options)
        if (random.next() < 0.5) setTimeout(() => host.cut(), random.next() * 100)
        return channel
      },
    }
    const cuts = cutAtRandom(cut, { clock, random, cuts: 8 })
    await runsOverCuts(cuts, { clock, random: systemRandom, folder: `${home.path}/runs` })
  })

  test('keep every argument as it is', async () => {
    await using host = await hosted()
    await using shell = await reach(host)
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom, folder: `${home.path}/runs` })
    const odd = ['a b', "it's", '$HOME', '`id`', '; reboot', '!', '\\n', 'x\ny', '', '*', 'é']
    expect((await runCommand(executor, ['printf', '%s|', ...odd], { effect: 'reads' })).stdout).toBe(
      `${odd.join('|')}|`,
    )
  })
})
