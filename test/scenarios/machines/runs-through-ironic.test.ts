import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFleet, type Fleet } from '../../../apps/fleet/index.js'
import { SshFront } from '../../../apps/hardware-lab/rehearsal/ssh-front.js'
import { NO_PACE } from '../../../machine/index.js'
import { LabClock, Probe, Scope, seconds, silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { newSshKey, publicKeyOf } from '../../../targets/index.js'
import {
  readHosts,
  realAccess,
  reportHtml,
  RunFolder,
  runHosts,
  runReportLines,
  type RunEvent,
  type RunReport,
} from '../../../apps/hardware-lab/index.js'
import { command } from '../../kit/commands/command.js'
import { hostsYaml } from '../../kit/hardware-lab/hosts-yaml.js'
import { RehearsedRuns } from '../../kit/hardware-lab/rehearsed-run.js'
import { redfishIronic, type RedfishIronic } from '../../kit/fleet/redfish-ironic.js'

/** Time passes so many times as fast, in the Ironic and in the fleet. */
const SPEED = 10

const PASSWORD = 'pass word "1"'

let folder: string
let ironic: RedfishIronic
let fleet: Fleet
const scope = new Scope()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-through-ironic-'))
  ironic = scope.use(await redfishIronic(SPEED))
  fleet = scope.use(
    await openFleet({
      count: 9,
      redfish: { port: 0 },
      account: { username: 'admin', password: PASSWORD },
      machinePace: { ...NO_PACE, bootRamdisk: seconds(2) },
      clock: new LabClock({ mode: SPEED }),
      random: systemRandom,
      logger: silent,
    }),
  )
  const key = newSshKey()
  await writeFile(join(folder, 'key'), key.private, { mode: 0o600 })
  await writeFile(
    join(folder, 'node.ign'),
    JSON.stringify({
      ignition: { version: '3.4.0' },
      storage: { files: [{ path: '/etc/greeting', contents: { source: 'data:,hello%0A' } }] },
    }),
  )
  const hosts: string[] = []
  for (const [index, machine] of fleet.machines.list().entries()) {
    const hostKeys = { live: newSshKey().private, installed: newSshKey().private }
    const front = scope.use(
      await SshFront.open({
        machine,
        userKey: publicKeyOf(key.private),
        hostKeys,
        port: 0,
        probe: new Probe(),
        clock: systemClock(),
      }),
    )
    const { id, disks, nics } = machine.spec
    hosts.push(
      `  worker-${index + 1}:`,
      `    bmc: {redfish: "${fleet.redfishUrl}", system: ${id}}`,
      `    macs: ["${nics[0]!.mac}"]`,
      `    ssh: {address: "127.0.0.1:${front.port}"}`,
      `    disk: {serial: ${disks[0]!.serial}}`,
    )
  }
  await writeFile(
    join(folder, 'hosts.yaml'),
    [
      'defaults:',
      '  bmc: {username: admin, password: {env: BMC_PASSWORD}, console: none}',
      '  live: {iso: "http://192.0.2.1/live.iso"}',
      '  ssh: {user: root, key: key, config: none}',
      '  ignition: node.ign',
      '  append-kargs: [console=ttyS0]',
      '  expect: {cpus: 1}',
      '  stages: {register: {retries: 0}}',
      '  post-checks: [{command: cat /etc/greeting, output: hello}]',
      'hosts:',
      ...hosts,
      '',
    ].join('\n'),
  )
}, 60_000)
afterAll(async () => {
  await scope[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const run = (...more: string[]) =>
  command(['run', join(folder, 'hosts.yaml'), '--through-ironic', ironic.url, '--json', ...more], {
    variables: { BMC_PASSWORD: PASSWORD, HOME: folder },
  })
const eventsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string } & Record<string, unknown>)
const reportOf = (text: string) => eventsOf(text).at(-1) as unknown as RunReport

const outcomes = (report: RunReport) =>
  Object.fromEntries(
    report.hosts.map(({ host, outcome, stages }) => [
      host,
      [outcome, stages.find(({ status }) => status === 'failed')?.stage].filter(Boolean).join(' in '),
    ]),
  )

interface Wanted {
  only: string[]
  /** The file of hosts. */
  file?: string
  state?: RunFolder
  resume?: boolean
  signal?: AbortSignal
  onEvent?: (event: RunEvent) => void
}

/** A run in this process, which looks at nodes often. */
async function runs({ only, state, resume = false, ...more }: Wanted): Promise<RunReport> {
  const { file: path = 'hosts.yaml', signal = new AbortController().signal } = more
  const file = await readHosts(join(folder, path))
  const clock = systemClock()
  const random = systemRandom
  const logger = silent
  const variables = { BMC_PASSWORD: PASSWORD }
  return runHosts({
    file: 'hosts.yaml',
    hosts: file.hosts.filter(({ name }) => only.includes(name)),
    locks: null,
    parallel: 4,
    every: 50,
    clock,
    random,
    logger,
    resume,
    signal,
    onEvent: more.onEvent ?? (() => {}),
    folder: state ?? (await RunFolder.open(join(folder, only.join('-')))),
    ironic: { url: ironic.url, client: ironic.client },
    access: realAccess({
      file,
      folder,
      variables,
      environment: { HOME: folder },
      secrets: { ask: () => Promise.resolve(null) },
      clock,
      random,
      logger,
    }),
  })
}

/** Commands that the machine of a host has run. */
const commandsOf = (host: string): (readonly string[])[] =>
  fleet.journal
    .entries({ kind: 'command', machine: host.replace('worker', 'machine') })
    .flatMap((entry) => (entry.kind === 'command' ? [entry.argv] : []))
const isErase = ([program = '']: readonly string[]) => /^(wipefs|sgdisk|dd|shred|nvme|hdparm|blkdiscard)$/.test(program)
const isInstall = (argv: readonly string[]) =>
  argv.some((word) => word.endsWith('coreos-installer')) && argv.includes('install')

test('an Ironic registers, inspects, cleans and installs the hosts, and their first boot is proven', async () => {
  const first = run('--only', 'worker-1', '--only', 'worker-2')
  expect(await first.ended, first.stdout + first.stderr).toBe(0)
  const report = reportOf(first.stdout)
  expect(report).toMatchObject({ ok: true, through_ironic: ironic.url, both_ways: null })
  for (const host of report.hosts) {
    expect(host.stages.map(({ stage, status }) => `${stage} ${status}`)).toEqual([
      'register done',
      'inspect done',
      'clean done',
      'deploy done',
      'first-boot done',
      'post-checks done',
    ])
    expect(host.checks.map(({ what, ok }) => [what, ok])).toEqual([
      ['nonce', true],
      ['root', true],
      ['hostname', true],
      ['kernel arguments', true],
    ])
  }
  const [chosen, other] = fleet.machines.list()[0]!.spec.disks
  expect(report.hosts[0]!.facts).toMatchObject({ diskSerial: chosen!.serial, contents: null })
  const node = await ironic.client.node('worker-1')
  expect(node).toMatchObject({
    provision_state: 'active',
    properties: { root_device: { serial: chosen!.serial }, skip_block_devices: [{ serial: other!.serial }] },
  })
  expect(first.stdout + first.stderr).not.toContain('pass word')
  const erased = commandsOf('worker-1').filter(isErase)
  expect(erased.flat()).toContain(`/dev/${chosen!.name}`)
  expect(erased.flat().filter((word) => word.includes(other!.name))).toEqual([])
}, 60_000)

test('failures are named where they were; nodes of earlier runs are taken again, nodes of others are not touched', async () => {
  expect(outcomes(await runs({ only: ['worker-3'] }))).toEqual({ 'worker-3': 'ok' })
  const own = await ironic.client.node('worker-3')
  const before = await ironic.client.createNode({ driver: 'redfish', name: 'worker-5' })
  const yaml = await readFile(join(folder, 'hosts.yaml'), 'utf8')
  const serial = fleet.machines.get('machine-4')!.spec.disks[0]!.serial
  await writeFile(join(folder, 'other-disk.yaml'), yaml.replace(`{serial: ${serial}}`, '{serial: ANOTHER}'))
  const report = await runs({ file: 'other-disk.yaml', only: ['worker-3', 'worker-4', 'worker-5'] })
  expect(outcomes(report)).toEqual({
    'worker-3': 'ok',
    'worker-4': 'failed in inspect',
    'worker-5': 'failed in register',
  })
  expect(await ironic.client.node('worker-3')).toMatchObject({ uuid: own.uuid, provision_state: 'active' })
  expect(report.hosts[1]!.why).toBe('worker-4 has no disk ANOTHER')
  expect(commandsOf('worker-4').filter(isErase)).toEqual([])
  expect(report.hosts[2]!.why).toMatch(/ has a node worker-5 that no run has registered$/)
  expect(await ironic.client.node('worker-5')).toMatchObject({
    uuid: before.uuid,
    provision_state: 'enroll',
    driver_info: {},
  })
}, 60_000)

test('the sentence of the Ironic is in the report where a BMC refuses it, or an installation fails', async () => {
  using _silent = fleet.faults.add({
    match: { machine: 'machine-7', bmc: 'read power' },
    effect: { kind: 'bmc-silent' },
  })
  using _bad = fleet.faults.add({
    match: { machine: 'machine-6', program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error: the disk has bad sectors\n' },
  })
  const report = await runs({ only: ['worker-6', 'worker-7'] })
  expect(outcomes(report)).toEqual({ 'worker-6': 'failed in deploy', 'worker-7': 'failed in register' })
  const [second, third] = report.hosts
  expect(second!.why).toMatch(/^the node of worker-6 is deploy failed instead of active: .*bad sectors/s)
  expect(third!.why).toMatch(/^the node of worker-7 is enroll instead of manageable: .*power state/s)
}, 60_000)

test('a run that is killed anywhere and goes on has each host installed once, and stands beside the direct one', async () => {
  const installs = () => ['worker-8', 'worker-9'].map((host) => commandsOf(host).filter(isInstall).length)
  const state = await RunFolder.open(join(folder, 'killed'))
  let resume = false
  for (const [stage, status] of [
    ['register', 'started'],
    ['inspect', 'started'],
    ['inspect', 'progress'],
    ['clean', 'started'],
    ['clean', 'progress'],
    ['deploy', 'started'],
    ['deploy', 'progress'],
    ['first-boot', 'started'],
  ]) {
    const killed = new AbortController()
    const onEvent = (event: RunEvent) => {
      if (!('stage' in event) || event.stage !== stage) return
      if ((event.event === 'stage' ? event.status : event.event) === status)
        killed.abort(new Error(`killed in ${stage}`))
    }
    const under = runs({ only: ['worker-8', 'worker-9'], state, signal: killed.signal, resume, onEvent })
    await expect(under).rejects.toThrow(`killed in ${stage}`)
    resume = true
  }
  const ended = await runs({ only: ['worker-8', 'worker-9'], state, resume })
  expect(outcomes(ended)).toEqual({ 'worker-8': 'ok', 'worker-9': 'ok' })
  expect(installs()).toEqual([1, 1])
  // The machines of the rehearsal are others.
  for (const name of ['worker-8', 'worker-9']) await rm(state.knownFile(name))
  await using rehearsal = await RehearsedRuns.make(
    hostsYaml(2).replace('node-1', 'worker-8').replace('node-2', 'worker-9'),
  )
  const direct = await rehearsal.run({ folder: state, rehearsed: false, restart: true })
  expect(direct.both_ways).toMatchObject({
    with: ended.id,
    hosts: [
      {
        host: 'worker-8',
        direct: { outcome: 'ok', failed_in: null },
        ironic: { outcome: 'ok', seconds: ended.hosts[0]!.seconds },
      },
      { host: 'worker-9' },
    ],
  })
  expect([direct.compared_with, direct.through_ironic]).toEqual([null, null])
  expect(runReportLines(direct).join('\n')).toMatch(
    /Both ways, this run and .*:\n +directly +through Ironic\n  worker-8  ok, [\d.]+ m?s +ok, /,
  )
  expect(reportHtml(direct)).toContain('Through Ironic')
}, 120_000)

test.each([
  [['--rehearse'], /--through-ironic and --rehearse exclude each other/],
  [['--serve-image', '127.0.0.1'], /an Ironic fetches images itself/],
])('%s is refused', async (more, says) => {
  const refused = run(...more)
  expect(await refused.ended).toBe(2)
  expect(refused.stderr).toMatch(says)
})

test.each([
  ['a pinned certificate', ['console: none', `certificate: "${'ab'.repeat(32)}"`], /no Ironic pins a certificate/],
  ['an image file', ['defaults:', 'defaults:\n  image: ./key'], /an Ironic fetches no image from a file/],
] as const)('%s is refused before the Ironic is asked', async (_, setting, says) => {
  const yaml = await readFile(join(folder, 'hosts.yaml'), 'utf8')
  const file = join(folder, 'refused.yaml')
  await writeFile(file, yaml.replace(setting[0], setting[1]))
  const refused = command(['run', file, '--through-ironic', 'http://127.0.0.1:1', '--plan'])
  expect(await refused.ended, refused.stdout).toBe(2)
  expect(refused.stderr).toMatch(says)
})

test('a password in the URL is refused, and not shown', async () => {
  const refused = command([
    'run',
    join(folder, 'hosts.yaml'),
    '--through-ironic',
    'http://admin:geheim@127.0.0.1:1',
    '--plan',
  ])
  expect(await refused.ended).toBe(2)
  expect(refused.stderr).toContain('has a password in its URL')
  expect(refused.stderr).not.toContain('geheim')
})
