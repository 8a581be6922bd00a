import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hostsYaml } from '../../../test/kit/hardware-lab/hosts-yaml.js'
import { howMany } from '../../../test/kit/how-many.js'
import { RehearsedRuns } from '../../../test/kit/hardware-lab/rehearsed-run.js'
import { NO_PACE } from '../../../machine/index.js'
import { seededRandom, silent } from '../../../base/runtime/index.js'
import { RunFolder, type RunEvent, type RunReport } from '../index.js'

const SHORT_STAGE_TIMES = 'stages: {bmc: {time: 2s, retries: 1, pause: 10ms}, boot: {time: 3s, retries: 0}}'

const WRONG_CHECK = [
  '    expect: {cpus: 4}',
  '    post-checks: [{command: cat /etc/greeting, output: bye}]',
  '    stages: {post-checks: {retries: 0}}',
].join('\n')

const outcomes = (report: RunReport) =>
  Object.fromEntries(
    report.hosts.map(({ host, outcome, stages }) => [
      host,
      [outcome, stages.find(({ status }) => status === 'failed')?.stage].filter(Boolean).join(' in '),
    ]),
  )

test('a rehearsed host goes through every stage, over Redfish and SSH, to a proven first boot', async () => {
  await using runs = await RehearsedRuns.make(
    hostsYaml(1, 'post-checks: [{command: cat /etc/greeting, output: hello}]'),
  )
  const report = await runs.run()
  expect(report.hosts[0]!.stages.map(({ stage, status }) => `${stage} ${status}`)).toEqual([
    'bmc done',
    'boot done',
    'ssh done',
    'check done',
    'steps done',
    'power done',
    'first-boot done',
    'post-checks done',
  ])
  expect(report.hosts[0]!.checks).toContainEqual({ what: 'hostname', ok: true, found: 'the hostname is node-1' })
  expect(runs.rehearsal.machine('node-1').firstBoot()).toMatchObject({ hostname: 'node-1', failure: null })
  const table = runs.events.findIndex(({ event }) => event === 'table')
  expect(runs.events[table]).toMatchObject({ rows: [{ host: 'node-1', ok: true, diskSerial: 'SERIAL-1' }] })
  const steps = runs.events.findIndex((each) => each.event === 'stage' && each.stage === 'steps')
  expect(steps).toBeGreaterThan(table)
})

test('a host whose disk is named by its place is installed there, and not touched once another disk is plugged in', async () => {
  const place = 'by-path: pci-0000:00:04.0, size: 128GiB'
  await using runs = await RehearsedRuns.make(hostsYaml(1).replace('serial: SERIAL-1', place))
  expect(outcomes(await runs.run())).toEqual({ 'node-1': 'ok' })
  const known = join(runs.folder, 'state/known/node-1.json')
  const identity = JSON.parse(await readFile(known, 'utf8')) as Record<string, string>
  expect(identity['diskAtPlace']).toMatch(/^137438953472 bytes/)
  await writeFile(known, JSON.stringify({ ...identity, diskAtPlace: '64424509440 bytes' }))
  const report = await runs.run()
  expect(outcomes(report)).toEqual({ 'node-1': 'failed in check' })
  expect(report.hosts[0]!.why).toMatch(
    /^node-1 is not touched: the disk at its place is 137438953472 bytes.*, and was 64424509440 bytes$/,
  )
})

test('hosts that fail stop no other, and each failure is named where it was', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(5, SHORT_STAGE_TIMES))
  const yaml = await readFile(join(runs.folder, 'hosts.yaml'), 'utf8')
  await writeFile(
    join(runs.folder, 'hosts.yaml'),
    yaml.replace('{serial: SERIAL-4}', `{serial: SERIAL-4}\n${WRONG_CHECK}`),
  )
  await runs.open([
    { match: { machine: 'node-1' }, effect: { kind: 'bmc-silent' } },
    {
      match: { machine: 'node-2', program: 'coreos-installer' },
      effect: { kind: 'exit-code', code: 1, stderr: 'Error: no room\n' },
    },
    { match: { machine: 'node-3' }, effect: { kind: 'bmc-lies' } },
  ])
  const report = await runs.run()
  expect(outcomes(report)).toEqual({
    'node-1': 'failed in bmc',
    'node-2': 'failed in steps',
    'node-3': 'failed in boot',
    'node-4': 'failed in post-checks',
    'node-5': 'ok',
  })
  const chain = report.hosts[1]!.stages.find(({ status }) => status === 'failed')!.failure!
  expect(chain.sentences.join(': ')).toContain('no room')
  expect(report.ok).toBe(false)
}, 60_000)

test('links that are cut: of one host all, of others some, in the middle of an installation', async () => {
  const limits = 'stages: {ssh: {time: 1s}, check: {retries: 1, pause: 10ms}}'
  await using runs = await RehearsedRuns.make(hostsYaml(3, limits))
  const installs: string[] = []
  await runs.open(
    [
      { match: { machine: 'node-1' }, effect: { kind: 'link-cut', ms: 0 } },
      { match: { machine: 'node-2', program: 'lsblk' }, effect: { kind: 'link-cut', ms: 0 }, times: 2 },
      { match: { machine: 'node-3', program: 'coreos-installer' }, effect: { kind: 'link-cut', ms: 200 }, times: 3 },
      { match: { machine: 'node-3', program: 'coreos-installer' }, effect: { kind: 'delay', ms: 1000 } },
    ],
    (_, text) => void (text.includes('(delay) strikes') && installs.push(text)),
  )
  const report = await runs.run()
  expect(outcomes(report)).toEqual({ 'node-1': 'failed in ssh', 'node-2': 'ok', 'node-3': 'ok' })
  // Each process of the installer is a strike.
  expect(installs).toEqual(['fault-4 (delay) strikes node-3'])
}, 60_000)

test('a machine that loses its power in the middle of an installation is not asked again for long', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(1))
  await runs.open([
    { match: { machine: 'node-1', program: 'coreos-installer' }, effect: { kind: 'power-loss' }, times: 1 },
    { match: { machine: 'node-1', program: 'sync' }, effect: { kind: 'link-cut', ms: 0 } },
  ])
  const report = await runs.run()
  expect(outcomes(report)).toEqual({ 'node-1': 'failed in steps' })
  const { failure } = report.hosts[0]!.stages.find(({ status }) => status === 'failed')!
  expect(failure!.sentences.join(': ')).toContain('node-1 lost power')
}, 30_000)

test('a machine whose system serial number is another one than last time is not touched', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(1))
  await runs.run()
  const known = join(runs.folder, 'state/known/node-1.json')
  const identity = JSON.parse(await readFile(known, 'utf8')) as Record<string, string>
  await writeFile(known, JSON.stringify({ ...identity, systemSerial: 'ANOTHER' }))
  const written = JSON.stringify(runs.rehearsal.machine('node-1').firstBoot())
  const report = await runs.run()
  expect(outcomes(report)).toEqual({ 'node-1': 'failed in check' })
  expect(report.hosts[0]!.why).toMatch(
    /^node-1 is not touched: the serial number of the system is .*, and was ANOTHER$/,
  )
  expect(JSON.stringify(runs.rehearsal.machine('node-1').firstBoot())).toBe(written)
})

test('after a failed canary, and after too many failures, no other host is written', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(3))
  await runs.open([
    { match: { machine: 'node-2', program: 'coreos-installer' }, effect: { kind: 'exit-code', code: 1 } },
  ])
  const canary = await runs.run({ canary: 'node-2' })
  expect(outcomes(canary)).toEqual({ 'node-1': 'skipped', 'node-2': 'failed in steps', 'node-3': 'skipped' })
  expect(runs.rehearsal.machine('node-1').firstBoot()).toBeUndefined()
  const limited = await runs.run({ parallel: 1, maxFailures: 1 })
  expect(outcomes(limited)).toEqual({ 'node-1': 'ok', 'node-2': 'failed in steps', 'node-3': 'skipped' })
  expect(limited.hosts[2]!.why).toBe('not started: 1 host failed')
  expect(limited.changes.map(({ host, kind }) => `${host} ${kind}`)).toEqual(['node-2 still failing'])
})

test('a run that only checks writes no disk, and forgets no run that has not ended', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(2))
  const report = await runs.run({ checkOnly: true })
  expect(report).toMatchObject({ ok: true, check_only: true })
  expect(report.hosts[0]!.stages.map(({ stage }) => stage)).toEqual(['bmc', 'boot', 'ssh', 'check'])
  expect(runs.rehearsal.machine('node-1').firstBoot()).toBeUndefined()
  await runs.run({ stopping: () => 'after the stage' })
  await expect(runs.run({ checkOnly: true })).rejects.toMatchObject({ code: 'run-state' })
  expect((await runs.run({ resume: true })).ok).toBe(true)
})

test('a run that has not ended is not forgotten without a word', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(1))
  const first = await runs.run({ stopping: () => 'after the stage' })
  await expect(runs.run()).rejects.toMatchObject({
    code: 'run-state',
    kind: 'usage',
    message: expect.stringContaining(`the run ${first.id} in `) as string,
    remedy: 'continue it with --resume, or discard it with --restart',
  })
  expect((await runs.run({ resume: true })).id).toBe(first.id)
  await runs.run({ stopping: () => 'after the stage' })
  const anew = await runs.run({ restart: true })
  expect(anew).toMatchObject({ ok: true, ended_at: expect.any(String) as string })
  // A look that was cut off is nothing to go on with, and forbids no run.
  const killed = AbortSignal.abort(new Error('killed'))
  await expect(runs.run({ checkOnly: true, signal: killed })).rejects.toThrow('killed')
  await expect(runs.run({ resume: true })).rejects.toMatchObject({ code: 'run-state' })
  expect((await runs.run()).ok).toBe(true)
})

test('a run whose user wants it to stop starts no other host, and continues later', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(3))
  const isBegun = () => runs.events.some((each) => each.event === 'stage' && each.stage === 'steps')
  const first = await runs.run({ parallel: 1, stopping: () => (isBegun() ? 'after the hosts' : 'no') })
  expect(outcomes(first)).toEqual({ 'node-1': 'ok', 'node-2': 'running', 'node-3': 'running' })
  expect(first.ended_at).toBeNull()
  expect(runs.rehearsal.machine('node-2').firstBoot()).toBeUndefined()
  const next = await runs.run({ resume: true, parallel: 1, stopping: () => (isBegun() ? 'after the stage' : 'no') })
  expect(next.ended_at).toBeNull()
  expect(outcomes(await runs.run({ resume: true }))).toEqual({ 'node-1': 'ok', 'node-2': 'ok', 'node-3': 'ok' })
})

test('two runs never work on one machine at a time', async () => {
  await using runs = await RehearsedRuns.make(hostsYaml(1))
  const locks = join(runs.folder, 'locks')
  await runs.open()
  const both = await Promise.all([
    runs.run({ locks }),
    runs.run({ locks, folder: await RunFolder.open(join(runs.folder, 'other-state')) }),
  ])
  expect(both.map(({ ok }) => ok).sort()).toEqual([false, true])
  expect(both.find(({ ok }) => !ok)!.hosts[0]).toMatchObject({
    outcome: 'skipped',
    why: 'another run works on it: its lock is taken',
  })
  const folder = await RunFolder.open(join(runs.folder, 'third-state'))
  const same = await Promise.allSettled([runs.run({ folder }), runs.run({ folder })])
  expect(same.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(same.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'run-state' } })
})

/** Ends a run and its simulated lab at an event of a host, and goes on with both in another lab. */
async function endedAt(runs: RehearsedRuns, isMoment: (event: RunEvent) => boolean): Promise<RunReport> {
  const killed = new AbortController()
  const onEvent = (event: RunEvent): void => {
    if (isMoment(event)) killed.abort(new Error('killed'))
  }
  // The machine is in its self test, and fetches its medium in the second lab.
  const slow = { ...NO_PACE, bootRamdisk: 500 }
  await runs.open([], silent, slow)
  await expect(runs.run({ signal: killed.signal, onEvent })).rejects.toThrow('killed')
  await runs.open([], silent, slow)
  return runs.run({ resume: true })
}

describe('a run whose process ends', () => {
  // `npm run test:soak` has all stages, with a kill.
  test.each([
    ['boot', 'started'],
    ['boot', 'done'],
    ['steps', 'started'],
    ['power', 'done'],
  ])(
    'when the stage %s is %s continues in another process',
    async (stage, status) => {
      await using runs = await RehearsedRuns.make(hostsYaml(1, 'stages: {ssh: {time: 15s}}'))
      const report = await endedAt(
        runs,
        (each) => each.event === 'stage' && each.stage === stage && each.status === status,
      )
      expect(outcomes(report), JSON.stringify(report.hosts)).toEqual({ 'node-1': 'ok' })
    },
    30_000,
  )

  test('says what is in the way when another program has taken a port of its machines meanwhile', async () => {
    await using runs = await RehearsedRuns.make(hostsYaml(1))
    const { hosts } = await runs.open()
    const live = hosts[0]!.live as { iso: string }
    const port = Number(new URL(live.iso).port)
    await runs.close()
    const other = createServer().listen(port, '127.0.0.1')
    await once(other, 'listening')
    await expect(runs.open()).rejects.toMatchObject({
      code: 'port-in-use',
      message: `port ${port}, where the image of the live system was, is taken by another program`,
      remedy: 'stop that program and continue, or start again with ironstage run --restart',
    })
    other.close()
    await once(other, 'close')
    expect((await runs.open()).hosts[0]!.live).toEqual(live)
  })
})

describe('a run that ends at any moment', () => {
  test.each([1, 2, 3, 4, 5, 6].slice(0, howMany(2, 6)))(
    'continues where it stopped, and writes each disk once (%i)',
    async (seed) => {
      await using runs = await RehearsedRuns.make(hostsYaml(3, SHORT_STAGE_TIMES))
      const installs: string[] = []
      const random = seededRandom(seed)
      // Each start of the installer is a strike.
      const slow = { match: { program: 'coreos-installer' }, effect: { kind: 'delay' as const, ms: 400 } }
      await runs.open([slow], (_, message) => void (message.includes('strikes') && installs.push(message)))
      let report: RunReport | undefined
      for (let ends = 0; !report; ends++) {
        const killed = new AbortController()
        const timer =
          ends < 4 ? setTimeout(() => killed.abort(new Error('killed')), 100 + random.next() * 2500) : undefined
        report = await runs.run({ signal: killed.signal, resume: ends > 0 }).catch((error: Error) => {
          if (!killed.signal.aborted) throw error
          return undefined
        })
        clearTimeout(timer)
      }
      expect(outcomes(report)).toEqual({ 'node-1': 'ok', 'node-2': 'ok', 'node-3': 'ok' })
      for (const name of ['node-1', 'node-2', 'node-3'])
        expect(runs.rehearsal.machine(name).firstBoot()).toMatchObject({ hostname: name, failure: null })
      expect(installs.sort()).toEqual([1, 2, 3].map((n) => `fault-1 (delay) strikes node-${n}`))
      expect((await readdir(join(runs.folder, 'state/reports'))).length).toBe(1)
    },
    60_000,
  )
})
