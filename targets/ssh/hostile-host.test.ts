import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import ssh2, { type ParsedKey } from 'ssh2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Home, newKey, SshHost, type SshHostOptions } from '../../test/kit/ssh-host.js'
import {
  errorChain,
  systemClock,
  systemRandom,
  UserError,
  VirtualClock,
  type Logger,
} from '../../base/runtime/index.js'
import { runToEnd } from '../../steps/sdk/run-command.js'
import { LinkLost, type LoginShell } from '../supervised/login-shell.js'
import { localShell } from '../supervised/local-shell.js'
import { SupervisedExecutor, type SupervisedOptions } from '../supervised/supervised-executor.js'
import { parseSshTarget } from './address.js'
import { openSshShell } from './ssh-shell.js'
import { sshDiskSelector } from './ssh-target.js'
import { asRoot } from './sudo.js'

/** Machines whose shells print too much, nothing, or anything but the answer. */

const MIB = 2 ** 20
const clock = systemClock()
const hostKey = newKey().private
let home: Home
beforeEach(async () => {
  home = await Home.make()
  const key = (ssh2.utils.parseKey(hostKey) as ParsedKey).getPublicSSH().toString('base64')
  await home.write('known_hosts', `* ssh-ed25519 ${key}\n`)
})
afterEach(() => home[Symbol.asyncDispose]())

const logged: string[] = []
const logger: Logger = (level, message) => void (level === 'warn' && logged.push(message))
beforeEach(() => void (logged.length = 0))

/** Message, causes and remedy of failed work on a host. */
async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('it went well'),
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(UserError)
  return [...errorChain(error), (error as UserError).remedy ?? ''].join(' | ')
}

async function opened(options: SshHostOptions, work: (shell: LoginShell & AsyncDisposable) => Promise<unknown>) {
  await using host = await SshHost.open({ hostKeys: [hostKey], ...options })
  await using shell = await openSshShell({
    address: parseSshTarget(`ssh://core@127.0.0.1:${host.port}`),
    surroundings: { home: home.path, userName: 'me', agentSocket: null },
    pins: { live: [], installed: [] },
    secrets: { ask: () => Promise.resolve(null) },
    clock,
    random: systemRandom,
    logger,
  })
  await work(shell)
}

const executorOn = (shell: LoginShell, more: Partial<SupervisedOptions> = {}) =>
  new SupervisedExecutor({ shell, clock, random: systemRandom, folder: `${home.path}/runs`, logger, ...more })

/** This host's shell behind a login script. */
const behind = (loginScript: string): LoginShell => {
  const plain = localShell(clock, process.env)
  return { ...plain, name: 'lab-7', open: (line, options) => plain.open(`${loginScript}\n${line}`, options) }
}

describe('a login shell that prints without an end', () => {
  const endless = 'while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'

  test('is cut off while its identity is read', async () => {
    const flood = { answer: (script: string) => (script.includes('identity') ? 'noise\n'.repeat(MIB) : null) }
    expect(await failure(opened(flood, async () => {}))).toMatch(
      /^core@127.0.0.1:\d+ sent more than 1 MiB instead of its identity \| look at what logging in there prints/,
    )
  })

  test.each([
    ['in lines', endless, 'lab-7 sent more than 1 MiB before it ran a script'],
    ['in one line', 'cat /dev/zero', 'lab-7 sent more than 1 MiB without a line break'],
  ])('is cut off after a script is sent: %s', async (_, loginScript, sentence) => {
    await using executor = executorOn(behind(loginScript))
    const before = process.memoryUsage().rss
    expect(await failure(executor.facts())).toContain(sentence)
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB)
  })

  test('as sudo', async () => {
    const bin = `${home.path}/bin`
    await mkdir(bin)
    await writeFile(`${bin}/sudo`, '#!/bin/sh\nexec cat /dev/zero >&2\n', { mode: 0o755 })
    expect(await failure(opened({ identity: { uid: 1000 }, path: bin }, async () => {}))).toContain(
      "sent more than 256 KiB before root's shell answered",
    )
  })
})

test('a program that prints without an end is ended, and the message names the target', async () => {
  await using executor = executorOn(behind(':'))
  const before = process.memoryUsage().rss
  expect(await failure(runToEnd(executor, ['cat', '/dev/zero'], { effect: 'reads' }))).toContain(
    'cat printed more than 32 MiB on lab-7',
  )
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * MIB)
})

test('a program with unread output still ends', async () => {
  await using executor = executorOn(behind(':'))
  const run = await executor.start({ argv: ['head', '-c', String(20 * MIB), '/dev/zero'], effect: 'reads' })
  expect(await run.exit).toEqual({ kind: 'exited', code: 0 })
})

test('a file that is larger than what is read of a target is refused', async () => {
  await using executor = executorOn(behind(':'))
  const path = join(home.path, 'large')
  await writeFile(path, '')
  await truncate(path, 2 ** 40)
  await expect(executor.files.read(path)).rejects.toMatchObject({ code: 'EFBIG', message: /on lab-7$/ })
})

test('a device in the place of a file is refused', async () => {
  await using executor = executorOn(behind(':'))
  await expect(executor.files.read('/dev/zero')).rejects.toMatchObject({ code: 'EINVAL', message: /on lab-7$/ })
})

test.each([
  ['binary bytes', `printf '\\377\\000\\033]0;x\\007\\n\\n\\200'`],
  ['words of our own', `echo ironstage-script; echo 'x 0'; echo 'f it is broken'; printf 'o 99999999\\n'`],
  ['text on both outputs, without a last line break', `echo motd; echo err >&2; printf 'more '`],
])('a login script that prints %s has no effect', async (_, loginScript) => {
  await using executor = executorOn(behind(loginScript))
  expect((await runToEnd(executor, ['echo', 'hello'], { effect: 'reads' })).stdout).toBe('hello\n')
})

test('a target without room for a run is reported, and runs no command', async () => {
  const plain = behind(':')
  // The file system stores folders, and files up to a size.
  const full: LoginShell = {
    ...plain,
    open: (line, options) => plain.open(`ulimit -f 1; trap '' XFSZ; ${line}`, options),
  }
  await using executor = executorOn(full)
  const stdin = Buffer.alloc(20_000, 'x')
  expect(await failure(executor.start({ argv: ['cat'], effect: 'reads', stdin }))).toMatch(
    /lab-7 cannot be used: there is no room for the run in .*\/runs \| make room there/,
  )
  expect(await failure(executor.start({ argv: ['cat'], effect: 'reads', stdin: Buffer.alloc(MIB) }))).toMatch(
    /lab-7 cannot store 1048576 bytes \| .+ \| make room there/,
  )
})

test('the wait on a frozen link is logged with its end, and ends then', async () => {
  const time = new VirtualClock()
  const frozen: LoginShell = {
    name: 'lab-7',
    alive: () => Promise.resolve(false),
    open: (_line, { signal } = {}) =>
      Promise.resolve({
        stdout: (async function* () {
          await new Promise((resolve) => signal?.addEventListener('abort', resolve))
        })(),
        stderr: (async function* () {})(),
        exit: new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(new LinkLost('the link was cut'))),
        ),
        cut: () => {},
      }),
  }
  await using executor = executorOn(frozen, { clock: time })
  const facts = failure(executor.facts())
  const since = time.now()
  await time.advance(12_000)
  const end = new Date(since + 600_000).toISOString().slice(11, 19)
  const sentence = (silent: number) =>
    `no answer from lab-7 for ${silent} s while reading its boot id; giving up at ${end} UTC`
  expect(logged).toEqual([sentence(10)])
  await time.advance(60_000)
  expect(logged).toEqual([sentence(10), sentence(70)])
  await time.advance(600_000)
  expect(await facts).toMatch(/^lab-7 has not answered for 10 minutes while reading its boot id/)
})

test('a sudo that never answers is cut off', async () => {
  const time = new VirtualClock()
  let cut = false
  const nothing = (): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
  })
  const channel = { stdout: nothing(), stderr: nothing(), exit: new Promise<never>(() => {}), write() {}, end() {} }
  const asked = failure(
    asRoot(
      {
        name: 'core@lab-7',
        clock: time,
        random: systemRandom,
        wrong: () => {},
        exec: () => Promise.resolve({ ...channel, cut: () => (cut = true) }),
        password: () => Promise.resolve(null),
      },
      'exec /bin/sh',
      new Uint8Array(),
    ),
  )
  await time.advance(60_000)
  expect(await asked).toBe('sudo on core@lab-7 has not answered for 60 s | see that sudo true works there')
  expect(cut).toBe(true)
})

test.each(['/a\nb', '/a\0b', '/a\\b', `/${'x'.repeat(5000)}`, 'A\nB', "it's", 'x'.repeat(300)])(
  'the disk name %j is refused at once',
  (text) => {
    expect(() => sshDiskSelector('/dev/loop0', text)).toThrow(UserError)
    try {
      sshDiskSelector('/dev/loop0', text)
    } catch (error) {
      expect((error as UserError).kind).toBe('usage')
      expect((error as UserError).message).not.toMatch(/[\n\0]/)
      expect((error as UserError).message.length).toBeLessThan(300)
    }
  },
)
