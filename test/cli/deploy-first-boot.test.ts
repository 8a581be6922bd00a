import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'

async function deploy(storage: object) {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-cli-')), 'd.img')
  const stdin = JSON.stringify({ ignition: { version: '3.4.0' }, storage })
  const run = command(['deploy', '--json', '--ignition', '-', '--disk-file', file], { stdin })
  const code = await run.ended
  const report = JSON.parse(run.stdout.trim().split('\n').at(-1)!) as {
    checks: { what: string; ok: boolean; found: string }[]
  }
  return { code, checks: report.checks }
}

test('a first boot that fails is told with the stage and the reason', async () => {
  const { code, checks } = await deploy({ files: [{ path: '/etc/passwd', contents: { source: 'data:,x' } }] })
  expect(code).toBe(1)
  expect(checks).toContainEqual({
    what: 'first boot',
    ok: false,
    found: expect.stringMatching(
      /^Ignition failed at its stage files: .*A file exists there already and overwrite is false$/,
    ),
  })
})

test('a first boot that waits says for what, and the cause at its end', { timeout: 60_000 }, async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-cli-')), 'd.img')
  const replace = { source: 'http://127.0.0.1:9/next.ign' }
  const stdin = JSON.stringify({ ignition: { version: '3.4.0', config: { replace }, timeouts: { httpTotal: 13 } } })
  const run = command(['deploy', '--json', '--ignition', '-', '--disk-file', file], { stdin })
  expect(await run.ended).toBe(1)
  const lines = run.stdout.trim().split('\n')
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(events.filter(({ event }) => event === 'waiting')).toEqual([
    {
      elapsed: expect.any(Number) as number,
      event: 'waiting',
      stage: 'first boot',
      seconds: expect.any(Number) as number,
      for: expect.stringMatching(
        /^Ignition asks http:\/\/127\.0\.0\.1:9\/next\.ign \(attempt \d+; the last answer: .*connection refused\)$/,
      ) as string,
    },
  ])
  expect(events.at(-1)).toMatchObject({
    checks: expect.arrayContaining([
      {
        what: 'first boot',
        ok: false,
        found: expect.stringMatching(
          /stage fetch: .*unable to fetch resource in time \(http:\/\/127\.0\.0\.1:9\/next\.ign, \d+ attempts; the last answer: .*connection refused\)$/,
        ) as string,
      },
    ]) as unknown[],
  })
})

test('a config with a host name of its own: two entries as from the shipped step, and the report says what comes of them', async () => {
  const { code, checks } = await deploy({ files: [{ path: '/etc/hostname', contents: { source: 'data:,own' } }] })
  expect(code).toBe(1)
  expect(checks).toContainEqual({
    what: 'Ignition config',
    ok: false,
    found: expect.stringMatching(/^as requested, but it writes \/etc\/hostname, .* two entries .* at first boot/),
  })
  expect(checks).toContainEqual({
    what: 'first boot',
    ok: false,
    found: expect.stringMatching(/^Ignition failed at its stage fetch-offline: /),
  })
})

test('changes of disks by the config are reported as planned only', async () => {
  const disks = [{ device: '/dev/sda', partitions: [{ label: 'data', number: 6, sizeMiB: 64 }] }]
  const { code, checks } = await deploy({ disks })
  expect(code).toBe(0)
  expect(checks).toContainEqual({
    what: 'disks /dev/sda',
    ok: true,
    found: 'planned and checked, not done: create partition 6 "data" of 64 MiB',
  })
})
