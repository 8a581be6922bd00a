import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorChain, seededRandom, silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import {
  LinkLost,
  openSshShell,
  parsePins,
  parseSshTarget,
  type LoginShell,
  type SecretQuestion,
  type SshShellOptions,
} from '../../../targets/index.js'
import { runCommand } from '../../../steps/index.js'
import { SupervisedExecutor } from '../../../targets/supervised/supervised-executor.js'
import { cutAtRandom, runsOverCuts } from '../../kit/cut-shell.js'
import { quoted, tool } from '../peers.js'
import { cuttableLink } from '../../kit/cuttable-link.js'
import { MachineWithDisk } from '../machine-with-disk.js'
import { CORE_PASSWORD, SshMachine } from '../ssh-machine.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

const run = promisify(execFile)
const clock = systemClock()

let target: MachineWithDisk
let machine: SshMachine
let place: string
let pin: string

beforeAll(async () => {
  target = await MachineWithDisk.open({ size: '512M' })
  machine = target.machine
  place = target.home
  pin = await machine.hostKey()
})
afterAll(() => target?.[Symbol.asyncDispose]())

interface Scene extends Partial<SshShellOptions> {
  config?: string
  answers?: Partial<Record<SecretQuestion['kind'], string>>
  agent?: string
}

let homes = 0
async function reach(user: string, port: number, { config = '', answers = {}, agent, ...more }: Scene = {}) {
  const home = join(place, `home${homes++}`)
  await mkdir(join(home, '.ssh'), { recursive: true, mode: 0o700 })
  await symlink(machine.keys.key, join(home, '.ssh/id_ed25519'))
  await writeFile(join(home, '.ssh/config'), config)
  return openSshShell({
    address: parseSshTarget(`ssh://${user}@127.0.0.1:${port}`),
    surroundings: { home, userName: 'me', agentSocket: agent ?? null },
    pins: parsePins([pin]),
    secrets: { ask: ({ kind }) => Promise.resolve(answers[kind] ?? null) },
    clock,
    random: systemRandom,
    logger: silent,
    ...more,
  })
}

async function runLine(shell: LoginShell, line: string, stdin = '') {
  const channel = await shell.open(line, { stdin: Buffer.from(stdin) })
  const all = async (stream: AsyncIterable<Uint8Array>) => {
    let text = ''
    for await (const bytes of stream) text += Buffer.from(bytes).toString()
    return text
  }
  const [stdout, stderr, exit] = await Promise.all([all(channel.stdout), all(channel.stderr), channel.exit])
  return { stdout, stderr, exit }
}

async function why(opening: Promise<AsyncDisposable>): Promise<string> {
  try {
    await (await opening)[Symbol.asyncDispose]()
    return 'it was reached'
  } catch (error) {
    return [(error as { code?: string }).code, ...errorChain(error)].join(' | ')
  }
}

describe('a real sshd', () => {
  test('lets us in with a key, and says which machine it is', async () => {
    await using shell = await reach('root', machine.ports.any)
    expect(shell.identity).toMatchObject({
      machineId: '1'.repeat(32),
      bootId: '00000000-0000-4000-8000-000000000001',
      uid: 0,
    })
    expect(await runLine(shell, 'cat; id -un; exit 3', 'in\n')).toEqual({ stdout: 'in\nroot\n', stderr: '', exit: 3 })
  })

  test.each(['signed', 'signed-rsa', 'signed-ecdsa'])('lets us in with a certificate: %s', async (name) => {
    const config = `IdentityFile ${machine.keys.folder}/${name}\n`
    await using shell = await reach('root', machine.ports.any, { config })
    expect((await runLine(shell, 'id -un')).stdout).toBe('root\n')
    // The key alone is none that it knows.
    const alone = join(place, `alone-${name}`)
    await writeFile(alone, await readFile(join(machine.keys.folder, name)), { mode: 0o600 })
    expect(await why(reach('root', machine.ports.any, { config: `IdentityFile ${alone}\n` }))).toContain(
      'ssh-authentication',
    )
  })

  test('lets us in by ssh-agent', async () => {
    const socket = join(place, 'agent.sock')
    const { stdout } = await run('ssh-agent', ['-a', socket])
    try {
      await run('ssh-add', ['-q', machine.keys.key], { env: { ...process.env, SSH_AUTH_SOCK: socket } })
      await using _ = await reach('root', machine.ports.any, { agent: socket, config: 'IdentityFile none\n' })
    } finally {
      process.kill(Number(/SSH_AGENT_PID=(\d+)/.exec(stdout)![1]))
    }
  })

  test.each(['password', 'keyboard', 'both'] as const)('lets us in with a password: %s', async (kind) => {
    const answers = { password: CORE_PASSWORD, sudo: CORE_PASSWORD }
    await using shell = await reach('core', machine.ports[kind], { answers })
    expect((await runLine(shell, 'id -un')).stdout).toBe('root\n')
    expect(await why(reach('core', machine.ports[kind], { answers: { password: 'wrong' } }))).toContain(
      'ssh-authentication',
    )
  })

  test('is known by what ssh-keyscan and ssh-keygen wrote, hashed too', async () => {
    const { stdout } = await run('ssh-keyscan', ['-p', String(machine.ports.any), '127.0.0.1'])
    const known = join(place, 'known_hosts')
    await writeFile(known, stdout)
    const config = `UserKnownHostsFile ${known}\n`
    const pins = parsePins([])
    await using _plain = await reach('root', machine.ports.any, { config, pins })
    await run('ssh-keygen', ['-H', '-f', known])
    expect(await readFile(known, 'utf8')).toContain('|1|')
    await using _hashed = await reach('root', machine.ports.any, { config, pins })
    expect(await why(reach('root', machine.ports.password, { config, pins }))).toContain('host-key-unknown')
  })

  test('is known by the authority that has signed its key, over changes of the session’s keys', async () => {
    const known = join(place, 'known_authority')
    const authority = await readFile(join(machine.keys.folder, 'ca.pub'), 'utf8')
    const other = await readFile(`${machine.keys.key}.pub`, 'utf8')
    const config = `UserKnownHostsFile ${known}\n`
    const pins = parsePins([])
    await writeFile(known, `@cert-authority 127.0.0.* ${authority}`)
    await using shell = await reach('root', machine.ports.any, { config, pins })
    expect(shell.hostKey).toBe(pin)
    const { stdout } = await runLine(shell, 'head -c 12000000 /dev/zero; echo over')
    expect(stdout).toHaveLength(12_000_005)
    await writeFile(known, `@cert-authority * ${other}`)
    expect(await why(reach('root', machine.ports.any, { config, pins }))).toMatch(
      /host-key-unknown.*its certificate is signed by SHA256:\S+, an authority that is not known for this host/,
    )
    await writeFile(known, `@cert-authority * ${authority}@revoked * ${authority}`)
    expect(await why(reach('root', machine.ports.any, { config, pins }))).toMatch(/that is revoked in/)
  })

  test('is reached through itself', async () => {
    const known = join(place, 'known_jump')
    await writeFile(known, (await run('ssh-keyscan', ['-p', String(machine.ports.any), '127.0.0.1'])).stdout)
    const config = `UserKnownHostsFile ${known}\nHost 127.0.0.1\n  ProxyJump admin@localhost:${machine.ports.any}\nHost localhost\n  HostName 127.0.0.1\n`
    await using shell = await reach('root', machine.ports.few, { config })
    expect((await runLine(shell, 'id -un')).stdout).toBe('root\n')
  })

  test('with room for few sessions gets several connections', async () => {
    await using shell = await reach('root', machine.ports.few)
    const lines = Array.from({ length: 12 }, (_, n) => runLine(shell, `sleep 0.2; echo ${n}`))
    expect((await Promise.all(lines)).map(({ stdout }) => Number(stdout))).toEqual(lines.map((_, n) => n))
  })
})

describe('a real sudo', () => {
  test.each([
    ['admin', {}],
    ['core', { sudo: CORE_PASSWORD }],
  ])('makes %s root', async (user, answers) => {
    await using shell = await reach(user, machine.ports.any, { answers })
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom })
    expect((await runCommand(executor, ['id', '-un'], { effect: 'reads' })).stdout).toBe('root\n')
    const odd = ['a b', "it's", '$HOME', '`id`', '!', '\\n', 'x\ny', '', '*', 'é']
    expect((await runCommand(executor, ['printf', '%s|', ...odd], { effect: 'reads' })).stdout).toBe(
      `${odd.join('|')}|`,
    )
    const every = Uint8Array.from({ length: 600_000 }, (_, n) => n % 256)
    await executor.files.write('/run/big', every, { mode: 0o600 })
    expect(Buffer.compare(Buffer.from(await executor.files.read('/run/big')), every)).toBe(0)
  })

  test('that refuses the password', async () => {
    expect(await why(reach('core', machine.ports.any, { answers: { sudo: 'wrong' } }))).toMatch(
      /sudo-password.*refuses/,
    )
    expect(await why(reach('core', machine.ports.any))).toMatch(/sudo-password.*needs/)
  })
})

describe('many hosts', () => {
  test('50 at once, with a run on each, from one process in 200 MB', async () => {
    const home = join(place, 'many')
    await mkdir(join(home, '.ssh'), { recursive: true, mode: 0o700 })
    await symlink(machine.keys.key, join(home, '.ssh/id_ed25519'))
    const program = fileURLToPath(new URL('../peers/many-hosts.mjs', import.meta.url))
    const { stdout } = await run(process.execPath, [program, String(machine.ports.any), pin, home], {
      maxBuffer: 2 ** 24,
    })
    const { hosts, lines, peak } = JSON.parse(stdout) as { hosts: number; lines: number; peak: number }
    expect({ hosts, lines }).toEqual({ hosts: 50, lines: 50 * 200 })
    process.stdout.write(`50 hosts: ${Math.round(peak / 2 ** 20)} MiB\n`)
    expect(peak).toBeLessThan(200 * 2 ** 20)
  })
})

describe('runs', () => {
  test('100 cuts at random moments lose no outcome, and nothing runs twice', async () => {
    await using link = await cuttableLink(machine.ports.any)
    await using shell = await reach('root', link.port)
    const random = seededRandom(100)
    const cut: LoginShell = {
      name: shell.name,
      alive: () => shell.alive(),
      open: async (line, options) => {
        const opening = shell.open(line, options)
        if (random.next() < 0.3) setTimeout(() => link.cut(), random.next() * 150)
        return opening
      },
    }
    const cuts = cutAtRandom(cut, { clock, random, cuts: 100 })
    await runsOverCuts(cuts, { clock, random: systemRandom, folder: join(machine.shared, 'runs') })
  })

  test.each([
    ['are units of systemd where that runs, and outlive the login', 0],
    ['are sessions of their own where systemd takes no unit', 1],
  ])('%s', async (_, code) => {
    const [sshd] = await machine.processes(/sshd/)
    const inside = (text: string) => tool('nsenter', '-t', String(sshd), '-m', '-r', 'sh', '-c', text)
    // Nothing of the caller's surroundings reaches a unit: not its environment, streams or session.
    const standIn = `#!/bin/sh
printf '%s\\n' "$*" >>/run/units
[ ${code} = 0 ] || exit ${code}
words=
while case $1 in -*) ;; *) false ;; esac; do
  case $1 in --setenv=*) words="$words \${1#--setenv=}" ;; esac
  shift
done
setsid env -i $words "$@" </dev/null >/dev/null 2>&1 &
`
    await inside(
      `mkdir -p /run/systemd/system; rm -f /run/units; printf '%s' ${quoted(standIn)} >/usr/local/bin/systemd-run; chmod 755 /usr/local/bin/systemd-run`,
    )
    try {
      const id = `unit-${code}`
      await using shell = await reach('root', machine.ports.any)
      await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom })
      const argv = ['sh', '-c', 'echo out; echo err >&2; sleep 0.5; exit 6'] as const
      const { exit, output } = await executor.start({ argv, effect: 'writes', id })
      let out = ''
      for await (const { bytes } of output) out += Buffer.from(bytes).toString()
      expect([out.split('\n').sort(), await exit]).toEqual([['', 'err', 'out'], { kind: 'exited', code: 6 }])
      const { stdout } = await inside('cat /run/units')
      expect(stdout).toMatch(
        new RegExp(
          `^--quiet --collect --no-block --unit=ironstage-${id}-[0-9a-f]{16} --property=KillMode=process ` +
            `--property=TimeoutStopSec=5min --setenv=PATH=\\S+ --setenv=LC_ALL=C sh /run/ironstage/\\S+/run `,
        ),
      )
    } finally {
      await inside('rm -rf /run/systemd/system /usr/local/bin/systemd-run')
    }
  })

  test('go on while sshd is started again', async () => {
    await using shell = await reach('root', machine.ports.any)
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom })
    const started = await executor.start({
      argv: ['sh', '-c', 'for n in 1 2 3 4 5 6 7 8; do echo $n; sleep 0.3; done; exit 4'],
      effect: 'writes',
      id: 'over-a-restart',
    })
    let out = ''
    let killed = false
    for await (const { bytes } of started.output) {
      out += Buffer.from(bytes).toString()
      if (killed) continue
      killed = true
      for (const pid of await machine.processes(/sshd/)) process.kill(pid, 'SIGKILL')
    }
    expect(await started.exit).toEqual({ kind: 'exited', code: 4 })
    expect(out).toBe('1\n2\n3\n4\n5\n6\n7\n8\n')
  })

  test('have an unknown outcome after a boot', async () => {
    await using link = await cuttableLink(machine.ports.any)
    await using shell = await reach('root', link.port)
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom })
    const started = await executor.start({ argv: ['sleep', '2'], effect: 'writes', id: 'over-a-boot' })
    try {
      await machine.setBoot('00000000-0000-4000-8000-000000000002')
      link.cut()
      expect(await started.exit).toEqual({ kind: 'unknown', why: 'the target rebooted while it ran' })
    } finally {
      await machine.setBoot('00000000-0000-4000-8000-000000000001')
    }
  })

  test('are not looked for on another machine that has the address now', async () => {
    await using shell = await reach('root', machine.ports.any)
    await using executor = new SupervisedExecutor({ shell, clock, random: systemRandom, timeout: REAL_PEER_TIMEOUT })
    const started = await executor.start({ argv: ['sleep', '5'], effect: 'writes', id: 'elsewhere' })
    await machine.stop()
    try {
      await using other = await SshMachine.open({
        disk: target.disk.device,
        machineId: '2'.repeat(32),
        instead: machine,
      })
      const exit = await started.exit
      expect(exit).toMatchObject({ kind: 'unknown', why: expect.stringContaining('another machine answers') })
      await expect(shell.open('true')).rejects.toThrow(/another machine answers/)
      expect(await other.processes(/sleep/)).toEqual([])
    } finally {
      await machine.start()
    }
    expect(LinkLost.name).toBe('LinkLost')
  })
})
