import { describe, expect, test } from 'vitest'
import type { AuthContext, ParsedKey } from 'ssh2'
import ssh2 from 'ssh2'
import { newKey, sshAgent, SshHost } from '../../test/kit/ssh-host.js'
import {
  asked,
  home,
  homeForEachTest,
  hosted,
  hostKey,
  print,
  publicOf,
  reach,
  replyAfterRetries,
  why,
} from '../../test/kit/ssh-scene.js'
import { parsePins } from './host-keys.js'

homeForEachTest()

describe('host keys', () => {
  const other = newKey().private
  const knownHosts = (line: (host: { port: number }) => string) => async (host: { port: number }) => {
    await home.write('known_hosts', `# a comment\n\nbroken line\n${line(host)}\n`)
    return reach(host, { pins: parsePins([]) })
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

  test('a host with a refused key gets no login attempt', async () => {
    const seen: string[] = []
    await using host = await hosted({
      authenticate: (context) => {
        seen.push(context.method)
        context.reject()
      },
    })
    await why(reach(host, { pins: parsePins([]), answers: { password: 'secret' } }))
    expect(seen).toEqual([])
  })

  test('a host is asked for a key of the known type', async () => {
    const ecdsa = newKey('ecdsa').private
    await using host = await SshHost.open({ hostKeys: [hostKey, ecdsa] })
    const line = `[127.0.0.1]:${host.port} ecdsa-sha2-nistp256 ${publicOf(ecdsa).toString('base64')}\n`
    await home.write('known_hosts', line)
    expect(await why(reach(host, { pins: parsePins([]) }))).toBe('it was reached')
  })

  test('a host that has yet to prove its identity gets no password', async () => {
    const seen: string[] = []
    await using host = await hosted({
      authenticate: (context) => {
        seen.push(context.method)
        context.reject(['password', 'keyboard-interactive'])
      },
    })
    const opening = reach(host, {
      phase: 'installed',
      pins: parsePins(['installed=proven']),
      answers: { password: 'secret' },
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
    expect(await why(reach(host, { answers: { passphrase: 'open sesame' } }))).toContain('it accepts publickey')
  })

  test('not with a key that other users can read', async () => {
    await using host = await hosted({ authenticate: takesKey })
    await home.write('id_ed25519', key.private, 0o644)
    expect(await why(reach(host))).toMatch(/can be read by others \(mode 644\)/)
  })

  test("with the agent's keys, all or only the configured ones", async () => {
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
    expect((await replyAfterRetries(shell, 'echo again')).stdout).toBe('again\n')
    expect(asked).toEqual([{ kind: 'password', about: 'password of core@127.0.0.1', echo: false }])
    const refused = await why(reach(host, { answers: { password: 'wr0ng' } }))
    expect(refused).toMatch(/ssh-authentication/)
    expect(refused).not.toContain('wr0ng')
    expect(await why(reach(host))).toContain('IRONSTAGE_SSH_PASSWORD')
  })

  test('keyboard-interactive: a password and other prompts', async () => {
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
    expect(await why(reach(host, { answers: { password: 'right' } }))).toContain('there was no answer to "Token code:"')
  })

  test('with a key and a password, when both are required', async () => {
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
