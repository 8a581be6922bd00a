import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command, type CommandRun } from '../kit/commands/command.js'

/** Runs a command to its end. */
async function ended(argv: readonly string[], stdin = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = command(argv, { stdin })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-control-'))))

async function started(...more: string[]): Promise<{ up: CommandRun; url: string }> {
  const up = command(['up', '--port', '0', '--nodes', '2', '--clock', 'manual', ...more])
  const [, url] = await up.printed(/ready at (\S+)/)
  return { up, url: url! }
}

describe('a lab that runs', () => {
  let up: CommandRun
  let url: string
  beforeAll(async () => void ({ up, url } = await started()), 60_000)
  afterAll(async () => {
    up.stop()
    await up.ended
  })

  test('ironstage fault adds, lists and lifts faults, of options and of files', async () => {
    const file = join(folder, 'faults.yaml')
    await writeFile(file, 'faults:\n  - {match: {node: node-0}, effect: {kind: bmc-silent}, label: dark}\n')
    const add = await ended([
      'fault',
      'add',
      '--url',
      url,
      '--match',
      'node=node-1',
      '--effect',
      'delay:for=5s',
      '--times',
      '2',
    ])
    expect(add).toMatchObject({ code: 0, stdout: 'fault-1  delay ms=5000  node=node-1  struck 0 of 2\n' })
    expect(await ended(['fault', 'add', '--url', url, file])).toMatchObject({
      code: 0,
      stdout: 'fault-2  bmc-silent  node=node-0  dark  struck 0\n',
    })
    expect(await ended(['fault', 'lift', '--url', url, '--label', 'dark'])).toMatchObject({ code: 0 })
    const { stdout } = await ended(['fault', 'list', '--url', url, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ id: 'fault-1', effect: { kind: 'delay', ms: 5000 }, struck: 0 })
    expect(await ended(['fault', 'lift', '--url', url, 'fault-1'])).toMatchObject({ code: 0 })
    expect((await ended(['fault', 'list', '--url', url])).stdout).toBe('there are no faults\n')
  })

  test.each([
    ['no effect', ['fault', 'add'], /the effect of the fault is missing/],
    ['an effect that there is not', ['fault', 'add', '--effect', 'agent-silnt'], /did you mean agent-silent\?/],
    [
      'a node that there is not',
      ['fault', 'add', '--match', 'node=x', '--effect', 'agent-silent'],
      /there is no node x/,
    ],
    [
      'the journal of a node that there is not',
      ['journal', '--node', 'nope'],
      /there is no node nope\n {2}try: name one of its nodes: node-0, node-1\n/,
    ],
    [
      'a kind of entries that there is not',
      ['journal', '--kind', 'state', '--kind', 'nope'],
      /--kind is "nope", which is not one of exchange, command, state, step, bmc, power, boot, pull, fault, lab\n/,
    ],
    [
      'a fault that there is not',
      ['fault', 'lift', 'fault-99'],
      /there is no fault fault-99\n {2}try: ironstage fault list shows the faults\n/,
    ],
    ['nothing to lift', ['fault', 'lift'], /name which faults to lift/],
    ['no time', ['clock', 'advance'], /say how far/],
    ['a time that is none', ['clock', 'advance', 'soon'], /soon is not a time/],
    [
      'a mode that there is not',
      ['clock', 'set', 'fast'],
      /"fast" is not a mode of the clock\n {2}try: use real, xN \(such as x60\), manual or auto\n/,
    ],
    [
      'a speed that no clock has',
      ['clock', 'set', 'x0'],
      /x0 is not a mode of a clock\n {2}try: see the command's --help/,
    ],
    [
      'a state that a node does not reach',
      ['clock', 'advance', '--until', 'node-0=active', '--within', '1h'],
      /node-0 did not become active[^]*try: ironstage journal --node NODE shows what happened\n/,
    ],
  ])('%s is refused with a sentence', async (_, argv, sentence) => {
    const { code, stderr } = await ended([...argv, '--url', url])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(sentence)
    expect(stderr).not.toMatch(/ {4}at /)
    // Users of commands have no calls of the API.
    expect(stderr).not.toMatch(/GET \/|_lab/)
  })

  test('the journal takes kinds with commas, and one after another', async () => {
    for (const kinds of [
      ['--kind', 'fault,lab'],
      ['--kind', 'fault', '--kind', 'lab'],
    ])
      expect(await ended(['journal', '--url', url, ...kinds])).toMatchObject({ code: 0, stderr: '' })
  })

  test('ironstage clock moves time, and ironstage journal tells of it, now and as it comes', async () => {
    const before = JSON.parse((await ended(['clock', 'show', '--url', url, '--json'])).stdout) as { elapsed: number }
    const follow = command(['journal', '--url', url, '--kind', 'lab', '--follow', '--last', '1'])
    const moved = await ended(['clock', 'advance', '31m', '--url', url, '--json'])
    expect(JSON.parse(moved.stdout)).toMatchObject({ mode: 'manual', elapsed: before.elapsed + 31 * 60_000 })
    // Printed as the last entry, or as a new one: the second move is new to a journal that has printed the first.
    await follow.printed(/time was moved by 31m\n/)
    await ended(['clock', 'advance', '7m', '--url', url])
    await follow.printed(/time was moved by 7m\n/)
    follow.stop()
    await follow.ended
    const { stdout } = await ended(['journal', '--url', url, '--kind', 'lab', '--last', '1', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'lab', what: 'time was moved by 7m', node: null })
    const har = join(folder, 'lab.har')
    expect(await ended(['journal', '--url', url, '--har', har])).toMatchObject({ code: 0 })
    const { log } = JSON.parse(await readFile(har, 'utf8')) as { log: { version: string; entries: unknown[] } }
    expect(log.version).toBe('1.2')
    expect(log.entries.length).toBeGreaterThan(0)
  })
})

test('up begins with the faults of a file, prints what happens, and refuses two clocks', async () => {
  const file = join(folder, 'first.yaml')
  await writeFile(file, '{match: {node: node-1}, effect: {kind: bmc-silent}}')
  const { up, url } = await started('--faults', file, '--verbose')
  expect((await ended(['fault', 'list', '--url', url])).stdout).toMatch(/^fault-1 {2}bmc-silent/)
  await up.printed(/client > ironic {2}GET \/_lab|verifying|bmc {2}read power|node-0/)
  up.stop()
  expect(await up.ended).toBe(0)
  const both = await ended(['up', '--clock', 'manual', '--speed', '5'])
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--speed and --clock both say how time passes')])
  await writeFile(file, '{match: {node: node-1}, effect: {kind: nothing}}')
  const wrong = await ended(['up', '--port', '0', '--faults', file])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(`${file} is wrong: effect.kind is "nothing"`)])
})

test('where no ironstage answers, the commands say so', async () => {
  const { code, stderr } = await ended(['clock', 'show', '--url', 'http://127.0.0.1:1'])
  expect(code).toBe(1)
  expect(stderr).toMatch(/no ironstage answers at http:\/\/127.0.0.1:1/)
})

test('ironstage openapi --lab is a valid document', async () => {
  const { stdout } = await ended(['openapi', '--lab'])
  expect((await new Validator().validate(JSON.parse(stdout) as never)).errors ?? []).toEqual([])
})
