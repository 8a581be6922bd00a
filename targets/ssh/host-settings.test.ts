import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { errorChain, systemClock } from '../../base/runtime/index.js'
import { Home } from '../../test/kit/ssh-host.js'
import { parseJump, parseSshTarget, shownAddress, type SshAddress } from './address.js'
import { parsePins } from './host-keys.js'
import { hostSettings } from './host-settings.js'

const clock = systemClock()
let home: Home
beforeEach(async () => {
  home = await Home.make()
})
afterEach(() => home[Symbol.asyncDispose]())

async function settings(config: string, target = 'ssh://lab') {
  const configFile = await home.write('config', config)
  const surroundings = { home: home.path, userName: 'me', agentSocket: '/agent', configFile }
  return hostSettings(parseSshTarget(target), surroundings, clock)
}

describe('an address', () => {
  test.each<[string, SshAddress]>([
    ['ssh://lab', { host: 'lab', user: null, port: null }],
    ['ssh://core@lab:2222/', { host: 'lab', user: 'core', port: 2222 }],
    ['ssh://core@[fe80::1]:22', { host: 'fe80::1', user: 'core', port: 22 }],
    ['ssh://a%40b@lab', { host: 'lab', user: 'a@b', port: null }],
  ])('%s', (text, expected) => expect(parseSshTarget(text)).toEqual(expected))

  test.each([
    ['ssh://core:s3cret@lab', /password on a command line/],
    ['ssh://', /cannot be used/],
    ['ssh://lab/path', /more or less/],
    ['http://lab', /more or less/],
    ['ssh://-oProxyCommand=x', /dash/],
    ['ssh://-x@lab', /dash/],
    ['ssh://lab:99999', /not a URL/],
  ])('%s is refused', (text, why) => {
    expect(() => parseSshTarget(text)).toThrow(why)
    expect(() => parseSshTarget(text)).not.toThrow(/s3cret/)
  })

  test('of a jump host may lack the scheme', () => {
    expect(parseJump('me@a:22')).toEqual({ host: 'a', user: 'me', port: 22 })
    expect(parseJump('[::1]:2')).toEqual({ host: '::1', user: null, port: 2 })
    expect(() => parseJump('-a')).toThrow(/dash/)
    expect(shownAddress({ host: '::1', user: 'me', port: 2 })).toBe('me@[::1]:2')
  })
})

describe('pins of host keys', () => {
  const print = `SHA256:${'a'.repeat(43)}`
  test('name their phase', () => {
    expect(parsePins([print, `live=${print}=`, `installed=${print}`])).toEqual({
      live: [print, print],
      installed: [print],
    })
    expect(parsePins(['installed=proven'])).toEqual({ live: [], installed: 'proven' })
  })
  test.each([['MD5:00'], ['later=SHA256:x'], ['live=proven'], ['SHA256:short']])('%s is refused', (text) => {
    expect(() => parsePins([text])).toThrow(/fingerprint|exclude/)
  })
})

describe('the settings of a host in ~/.ssh/config', () => {
  test('are the defaults in an empty file', async () => {
    expect(await settings('')).toMatchObject({
      host: 'lab',
      port: 22,
      user: 'me',
      agent: '/agent',
      jumps: [],
      onlyTheseKeys: false,
      knownAs: { host: 'lab', port: 22 },
      keepalive: { interval: 15_000, count: 3 },
      connectTimeout: 20_000,
      knownHostsFiles: [
        `${home.path}/.ssh/known_hosts`,
        `${home.path}/.ssh/known_hosts2`,
        '/etc/ssh/ssh_known_hosts',
        '/etc/ssh/ssh_known_hosts2',
      ],
      keyFiles: ['id_rsa', 'id_ecdsa', 'id_ed25519'].map((name) => ({
        path: `${home.path}/.ssh/${name}`,
        named: false,
      })),
    })
  })

  test('take the first value of a keyword, case-insensitive', async () => {
    const found = await settings(`
      hostname 10.0.0.7
      Host lab
        user=root
        Port 2200
        IDENTITYFILE "~/.ssh/my key"
        IdentityFile %d/.ssh/%h-%r
        IdentityAgent none
        UserKnownHostsFile ~/kh1 /kh2
        GlobalKnownHostsFile none
        ServerAliveInterval 5
        ServerAliveCountMax 2
        ConnectTimeout 3
        IdentitiesOnly yes
        PasswordAuthentication no
      Host *
        User nobody
        Port 1
    `)
    expect(found).toMatchObject({
      host: '10.0.0.7',
      port: 2200,
      user: 'root',
      agent: null,
      onlyTheseKeys: true,
      keyFiles: [
        { path: `${home.path}/.ssh/my key`, named: true },
        { path: `${home.path}/.ssh/10.0.0.7-root`, named: true },
      ],
      knownHostsFiles: [`${home.path}/kh1`, '/kh2'],
      keepalive: { interval: 5000, count: 2 },
      connectTimeout: 3000,
      methods: { publickey: true, keyboardInteractive: true, password: false },
    })
  })

  test('give way to the command line', async () => {
    const found = await settings('Host lab\n User root\n Port 2200\n', 'ssh://core@lab:22')
    expect(found).toMatchObject({ user: 'core', port: 22 })
  })

  test('include jump hosts, aliases and included files', async () => {
    await home.write('more.conf', 'Host lab\n  ProxyJump a,me@b:2200\n')
    await home.write('.hidden.conf', 'Host lab\n  User hidden\n')
    const found = await settings('Include *.conf\nHost lab\n  HostKeyAlias lab-7\n  Port 2222\n')
    expect(found.jumps).toEqual([
      { host: 'a', user: null, port: null },
      { host: 'b', user: 'me', port: 2200 },
    ])
    expect(found.knownAs).toEqual({ host: 'lab-7', port: 22 })
    expect(found.user).toBe('me')
    expect((await settings('Host lab\n  ProxyJump none\n')).jumps).toEqual([])
  })

  test('run no program', async () => {
    const found = await settings(`Match exec "touch ${home.path}/ran"\n  User root\nCanonicalizeHostname yes\n`)
    expect(found.user).toBe('me')
    const { access } = await import('node:fs/promises')
    await expect(access(`${home.path}/ran`)).rejects.toThrow()
    await expect(settings('ProxyCommand nc %h %p\n')).rejects.toThrow(/ProxyCommand/)
    expect((await settings('ProxyCommand none\n')).host).toBe('lab')
  })

  test('include algorithms, with SHA-1 only on request', async () => {
    const usual = (await settings('')).algorithms
    expect(JSON.stringify(usual)).not.toMatch(/sha1|"ssh-rsa"|ssh-dss/)
    expect((await settings('HostKeyAlgorithms +ssh-rsa\n')).algorithms.serverHostKey.at(-1)).toBe('ssh-rsa')
    expect((await settings('Ciphers aes256-ctr,unheard-of\n')).algorithms.cipher).toEqual(['aes256-ctr'])
    expect((await settings('MACs ^hmac-sha2-512\n')).algorithms.hmac[0]).toBe('hmac-sha2-512')
    expect((await settings('KexAlgorithms -ecdh-*\n')).algorithms.kex.join()).not.toContain('ecdh')
    await expect(settings('Ciphers unheard-of\n')).rejects.toThrow(/none of the configured Ciphers/)
  })

  test('are refused when a file includes itself', async () => {
    const error = await settings('Include config\n').catch((caught: unknown) => caught)
    expect(errorChain(error).join()).toMatch(/deep/)
  })
})
