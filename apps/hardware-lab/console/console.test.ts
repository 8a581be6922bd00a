import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hostsYaml } from '../../../test/kit/hardware-lab/hosts-yaml.js'
import { RehearsedRuns } from '../../../test/kit/hardware-lab/rehearsed-run.js'
import { StrangeBmc } from '../../../test/kit/hardware-lab/strange-bmc.js'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { parseHosts } from '../hosts/read-hosts.js'
import { KnownSecrets } from '../hosts/known-secrets.js'
import type { ConsoleFinding } from '../pipeline/run-state.js'
import { ConsoleCapture } from './capture.js'
import { programLines } from './console-process.js'
import { consoleProgram } from './console-source.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-console-'))
  // They print how they were called, and with which password.
  for (const name of ['ssh', 'ipmitool']) {
    const asks = '[ -z "$SSH_ASKPASS" ] || echo "password $("$SSH_ASKPASS")"'
    const lines = ['#!/bin/sh', `echo ${name} "$@"`, '[ -z "$IPMI_PASSWORD" ] || echo "password $IPMI_PASSWORD"', asks]
    await writeFile(join(folder, name), `${lines.join('\n')}\n`)
    await chmod(join(folder, name), 0o755)
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Output of the program that shows the console of a host with these settings. */
async function printed(...settings: string[]): Promise<string[]> {
  const common = ['    live: {booted: true}', '    ssh: {address: 192.0.2.1}', '    disk: {serial: S1}']
  const text = ['hosts:', '  a:', ...common, ...settings.map((line) => `    ${line}`)].join('\n')
  const [host] = parseHosts(text, join(folder, 'hosts.yaml')).hosts
  const signal = AbortSignal.timeout(10_000)
  const program = await consoleProgram(host!, {
    folder,
    scratch: folder,
    known: new KnownSecrets(),
    signal,
    variables: { PATH: `${folder}:${process.env['PATH']}`, BMC_PASSWORD: 's3cret' },
    clock: systemClock(),
    random: systemRandom,
    logger: silent,
  })
  if (!program) return []
  expect(program.argv.join(' ')).not.toContain('s3cret')
  const lines: string[] = []
  for await (const line of programLines(program, systemClock(), signal)) lines.push(line)
  return lines
}

const ACCOUNT = 'username: admin, password: {env: BMC_PASSWORD}'

describe('the console of a host is shown', () => {
  test('by no program where none is named', async () => {
    expect(await printed()).toEqual([])
    expect(await printed(`bmc: {redfish: "http://192.0.2.9", ${ACCOUNT}, console: log}`)).toEqual([])
  })

  test('by IPMI, whose password no process list shows', async () => {
    expect(await printed(`bmc: {ipmi: "192.0.2.9:6230", ${ACCOUNT}, console: sol}`)).toEqual([
      'ipmitool -I lanplus -H 192.0.2.9 -p 6230 -U admin -E sol activate',
      'password s3cret',
    ])
  })

  test('by SSH on a console server, with the key of the file', async () => {
    expect(await printed('console: {ssh: "ops@consoles:2200", line: host-7, key: ops.key, config: none}')).toEqual([
      `ssh -tt -o BatchMode=yes -o ServerAliveInterval=30 -F none -i ${join(folder, 'ops.key')} -o IdentitiesOnly=yes -p 2200 -l ops consoles host-7`,
    ])
  })

  test('by a command, without the escape sequences that it prints', async () => {
    const shown = await printed(String.raw`console: {command: [printf, '\033[1;31mred\033[0m\r\nnext\rlast']}`)
    expect(shown).toEqual(['red', 'next', 'last'])
  })

  test.each([
    [
      { SSH: { ServiceEnabled: true, Port: 2222, ConsoleEntryCommand: 'start' } },
      / -p 2222 -l admin 127\.0\.0\.1 start$/,
    ],
    [{ IPMI: { ServiceEnabled: true, Port: 6239 } }, /^ipmitool -I lanplus -H 127\.0\.0\.1 -p 6239 /],
  ])('where its Redfish service says: %j', async (serialConsole, called) => {
    await using bmc = await StrangeBmc.open({ serialConsole })
    const lines = await printed(`bmc: {redfish: "${bmc.url}", ${ACCOUNT}, console: redfish}`)
    expect(lines).toEqual([expect.stringMatching(called), 'password s3cret'])
  })

  test('by no program where its Redfish service has none, which is said', async () => {
    await using bmc = await StrangeBmc.open()
    await expect(printed(`bmc: {redfish: "${bmc.url}", ${ACCOUNT}, console: redfish}`)).rejects.toMatchObject({
      code: 'bmc-lacks',
      message: expect.stringMatching(/offers no serial console by SSH or IPMI/) as string,
    })
  })
})

test('a program that never ends is ended with the capture, and so is what it has started', async () => {
  const file = join(folder, 'stubborn.log')
  const clock = systemClock()
  const stubborn = `trap '' TERM INT HUP; sleep 600 & echo "pids $$ $!"; while :; do echo still here; sleep 0.05; done`
  const capture = new ConsoleCapture({
    host: 'a',
    file,
    findings: [],
    clock,
    logger: silent,
    mask: (text) => text,
    onFinding: () => {},
    open: (signal) =>
      Promise.resolve(programLines({ argv: ['sh', '-c', stubborn], variables: process.env }, clock, signal)),
  })
  let pids: RegExpExecArray | null = null
  while (!pids) {
    pids = /pids (\d+) (\d+)/.exec(await readFile(file, 'utf8').catch(() => ''))
    await clock.sleep(20)
  }
  await capture[Symbol.asyncDispose]()
  const stateOf = async (pid: string) =>
    (await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')).replace(/.*\) /, '')
  // On a busy computer a killed program needs a moment to end, and its new parent one to collect it.
  for (const pid of pids.slice(1)) await expect.poll(() => stateOf(pid), { timeout: 10_000 }).toMatch(/^(Z|X|$)/)
}, 20_000)

test('a console is stored with the time of each line, opened again when it ends, and searched for failures', async () => {
  const file = join(folder, 'host.log')
  const findings: ConsoleFinding[] = []
  const rounds = [
    ['booting', 'the password is s3cret', 'Kernel panic - not syncing: VFS: Unable to mount root fs'],
    ['again', 'Kernel panic - not syncing: VFS: Unable to mount root fs', 'ignition[712]: CRITICAL : failed to fetch'],
  ]
  async function* lines(from: readonly string[]) {
    yield* from
    if (rounds.length === 0) await new Promise(() => {})
  }
  let found = () => {}
  const all = new Promise<void>((resolve) => (found = resolve))
  const capture = new ConsoleCapture({
    host: 'a',
    file,
    findings,
    clock: systemClock(),
    logger: silent,
    pause: 10,
    open: (signal) => {
      const from = lines(rounds.shift()!)
      return Promise.resolve({ [Symbol.asyncIterator]: () => from, signal })
    },
    mask: (text) => text.replaceAll('s3cret', '******'),
    onFinding: ({ kind }) => void (kind === 'Ignition failure' && found()),
  })
  await all
  void capture[Symbol.asyncDispose]()
  const text = await readFile(file, 'utf8')
  expect(text).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z booting\n\S+Z the password is \*{6}\n/)
  expect(text).toMatch(/Z again\n/)
  expect(findings.map(({ kind }) => kind)).toEqual(['kernel panic', 'Ignition failure'])
})

test('an installed system whose Ignition fails is named by its console in the report of a rehearsal', async () => {
  const wrong = { contents: { source: 'data:,x', verification: { hash: `sha512-${'0'.repeat(128)}` } } }
  const storage = { files: [{ path: '/etc/greeting', ...wrong }] }
  await using runs = await RehearsedRuns.make(
    hostsYaml(1, 'console: {command: [not, run, in, a, rehearsal]}\nstages: {first-boot: {time: 3s}}'),
    JSON.stringify({ ignition: { version: '3.4.0' }, storage }),
  )
  const report = await runs.run()
  expect(report.hosts[0]).toMatchObject({ outcome: 'failed' })
  expect(report.hosts[0]!.console.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['Ignition failure', 'emergency shell']),
  )
  expect(runs.events).toContainEqual(expect.objectContaining({ event: 'console', host: 'node-1' }))
  expect(await readFile(join(runs.folder, 'state/console/node-1.log'), 'utf8')).toMatch(/^\S+Z .*Ignition failed/m)
}, 30_000)
