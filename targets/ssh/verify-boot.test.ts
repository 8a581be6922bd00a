import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import ssh2, { type AuthContext, type ParsedKey } from 'ssh2'
import { errorChain, silent, systemClock, systemRandom } from '../../base/runtime/index.js'
import { Home, newKey, SshHost } from '../../test/kit/ssh-host.js'
import { parseSshTarget } from './address.js'
import { parsePins } from './host-keys.js'
import { formatFingerprint } from './known-hosts.js'
import { openSshShell, type SshShellOptions } from './ssh-shell.js'
import { verifyBoot, type ExpectedBoot, type VerifyBootOptions } from './verify-boot.js'

const clock = systemClock()
const liveKey = newKey().private
const installedKey = newKey().private
const print = (key: string) => formatFingerprint((ssh2.utils.parseKey(key) as ParsedKey).getPublicSSH())
const SECRET = 'n0nce'

let home: Home
beforeEach(async () => {
  home = await Home.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const EXPECTED: ExpectedBoot = {
  nonce: { path: '/etc/ironstage/boot-nonce', secret: SECRET },
  disk: { serial: 'S1', wwn: '0xABC' },
  hostname: 'node-1',
  appendKargs: ['a=b'],
  deleteKargs: ['quiet'],
}

const installed = (more: Record<string, string> = {}) => {
  const lines = {
    nonce: SECRET,
    hostname: 'node-1',
    cmdline: 'ro a=b',
    system: 'Fedora CoreOS',
    root: '/dev/sdb4',
    disk: 'NAME="sdb" TYPE="disk" SERIAL="S1" WWN="0xabc"',
    end: 'yes',
    ...more,
  }
  return Object.entries(lines)
    .map(([name, value]) => `ironstage-boot ${name} ${value}\n`)
    .join('')
}

const ssh = (port: number, more: Partial<SshShellOptions> = {}): VerifyBootOptions['ssh'] => ({
  address: parseSshTarget(`ssh://core@127.0.0.1:${port}`),
  surroundings: { home: home.path, userName: 'me', agentSocket: null },
  pins: parsePins([print(liveKey)]),
  secrets: { ask: () => Promise.resolve('password') },
  clock,
  random: systemRandom,
  logger: silent,
  ...more,
})

/** A machine that reboots into another system a moment after the first login. */
async function rebooted(after: Parameters<typeof SshHost.open>[0] | null, more: Partial<VerifyBootOptions> = {}) {
  await using live = await SshHost.open({ hostKeys: [liveKey], identity: { dmi: 'd1' } })
  const { port } = live
  await using shell = await openSshShell(ssh(port))
  const before = { identity: shell.identity, hostKey: shell.hostKey }
  const verified = verifyBoot({
    ssh: ssh(port),
    before,
    expected: EXPECTED,
    every: 10,
    timeout: 15_000,
    clock,
    logger: silent,
    signal: new AbortController().signal,
    ...more,
  })
  verified.catch(() => {})
  if (after === null) return await verified
  await new Promise((resolve) => setTimeout(resolve, 50))
  await live[Symbol.asyncDispose]()
  await new Promise((resolve) => setTimeout(resolve, 30))
  await using _ = await SshHost.open({
    hostKeys: [installedKey],
    port,
    answer: (script) => (script.includes('ironstage-boot') ? installed() : null),
    ...after,
    identity: { machine: 'b'.repeat(32), boot: 'boot-2', dmi: 'd1', ...after?.identity },
  })
  return await verified
}

const answering = (more: Record<string, string>) => ({
  answer: (script: string) => (script.includes('ironstage-boot') ? installed(more) : null),
})

async function why(verifying: Promise<unknown>): Promise<string> {
  try {
    await verifying
    return 'it was verified'
  } catch (error) {
    return [(error as { code?: string }).code, ...errorChain(error)].join(' | ')
  }
}

describe('after a reboot', () => {
  test('the installed system is awaited and checked', async () => {
    const { bootId, system, checks } = await rebooted({})
    expect({ bootId, system }).toEqual({ bootId: 'boot-2', system: 'Fedora CoreOS, root on /dev/sdb4' })
    expect(checks.map(({ what, ok }) => [what, ok])).toEqual([
      ['nonce', true],
      ['hardware', true],
      ['root', true],
      ['hostname', true],
      ['kernel arguments', true],
      ['kernel arguments', true],
    ])
  })

  test.each<[string, Parameters<typeof SshHost.open>[0], string]>([
    [
      'the old system',
      answering({ nonce: '' }),
      'there is no /etc/ironstage/boot-nonce, so the running system is not the installed one but Fedora CoreOS, root on /dev/sdb4',
    ],
    ['an earlier installation', answering({ nonce: 'other' }), 'boot-nonce is from another installation'],
    [
      'another disk',
      answering({ disk: 'NAME="sda" TYPE="disk" SERIAL="S0" WWN="0xdef"' }),
      'root /dev/sdb4 is on sda (serial S0, WWN 0xdef) instead of the disk that was chosen (serial S1, WWN 0xABC)',
    ],
    ['another name', answering({ hostname: 'localhost' }), 'the hostname is localhost instead of node-1'],
    [
      'other kernel arguments',
      answering({ cmdline: 'ro quiet' }),
      'the kernel argument a=b is missing; the kernel argument quiet is still present',
    ],
    ['another machine', { identity: { dmi: 'd2' } }, 'it is the machine d2 instead of d1'],
  ])('%s is reported exactly', async (_, after, expected) => {
    const message = await why(rebooted(after))
    expect(message).toContain('boot-not-verified')
    expect(message).toContain(expected)
    expect(message).not.toContain(SECRET)
  })

  test('a machine that did not reboot is a failure', async () => {
    const message = await why(rebooted(null, { timeout: 500 }))
    expect(message).toContain('the system from before still answers (boot id boot-1)')
  })

  test('a machine that booted the live system again is a failure', async () => {
    const message = await why(rebooted({ hostKeys: [liveKey], identity: { boot: 'boot-1' } }, { timeout: 1500 }))
    expect(message).toContain('the system from before still answers')
  })

  test('a machine that does not come back is a failure', async () => {
    const message = await why(rebooted({ authenticate: (context: AuthContext) => context.reject() }, { timeout: 1500 }))
    expect(message).toContain('did not answer within')
    expect(message).toContain('refuses the login')
  })

  test('a system with another key than the pinned one gets no login attempt', async () => {
    const pins = parsePins([print(liveKey), `installed=${print(newKey().private)}`])
    const message = await why(
      (async () => {
        await using live = await SshHost.open({ hostKeys: [installedKey] })
        const before = {
          identity: { machineId: 'x', dmiUuid: null, bootId: 'b', hostname: null, uid: 0 },
          hostKey: print(liveKey),
        }
        await verifyBoot({
          ssh: ssh(live.port, { pins }),
          before,
          expected: EXPECTED,
          clock,
          logger: silent,
          signal: new AbortController().signal,
        })
      })(),
    )
    expect(message).toContain('host-key-changed')
  })

  test('a system gets no password before it has proved its identity', async () => {
    const methods: string[] = []
    await rebooted(
      {
        authenticate: (context) => {
          methods.push(context.method)
          context.reject(['password', 'keyboard-interactive'])
        },
      },
      { timeout: 300 },
    ).catch(() => {})
    expect([...new Set(methods)]).toEqual(['none'])
  })
})
