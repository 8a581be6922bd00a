import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseArguments, USAGE, WrongArgument } from './arguments.js'
import { keep, lastOnThisMachine, readHistory, runOf } from './history.js'
import type { Measured } from './measure.js'
import { ONLY_NAMED, ROWS } from './rows.js'
import type { RunsOn } from './runs-on.js'
import { asMarkdown, asText, tableOf } from './table.js'

const measured = (ours: number, more: Partial<Measured> = {}): Measured => ({
  what: 'start to first 200',
  ours,
  peer: null,
  reach: null,
  unit: 'ms',
  runs: 7,
  ...more,
})
const on = (more: Partial<RunsOn> = {}): RunsOn => ({
  at: '2026-01-01T00:00:00.000Z',
  machine: { cpu: 'A processor', cores: 2, memory_gib: 16 },
  load: 0,
  versions: { node: '20.19.0' },
  ...more,
})

describe('arguments', () => {
  test('without names all benchmarks run but the long ones', () => {
    const { names, history, markdown } = parseArguments([])
    expect({ history, markdown }).toEqual({ history: false, markdown: false })
    expect([...names, ...ONLY_NAMED].sort()).toEqual(Object.keys(ROWS).sort())
  })

  test('names and options come in any order, and a name counts once', () => {
    expect(parseArguments(['--markdown', 'start', 'quick', '--history', 'start'])).toEqual({
      names: ['start', 'quick'],
      history: true,
      markdown: true,
    })
  })

  test.each([
    [['strat'], /^there is no benchmark strat; there are start, /],
    [['toString'], /^there is no benchmark toString; /],
    [['--histroy', 'start'], /^there is no option --histroy; there are --history, --markdown, --help$/],
  ])('%j is refused with what there is', (argv, words) => {
    expect(() => parseArguments(argv)).toThrow(WrongArgument)
    expect(() => parseArguments(argv)).toThrow(words)
  })

  test('the help names each benchmark with its rows', () => {
    for (const [name, rows] of Object.entries(ROWS)) for (const line of [name, ...rows]) expect(USAGE).toContain(line)
  })
})

describe('tables', () => {
  const rows = [
    measured(250, { peer: { name: 'node http', value: 100 }, reach: 300 }),
    measured(20_480, { what: 'promises a lifecycle', unit: '', runs: 1 }),
    measured(7.25, { what: 'npm run demo', reach: 'peer' }),
  ]
  const cells = tableOf(rows, (what) => ({ 'start to first 200': 200, 'npm run demo': 7.25 })[what as string])

  test('a row has its peer, the ratio, the reach and the figure before', () => {
    expect(cells).toEqual([
      ['what', 'ours', 'peer', 'ours/peer', 'reach', 'before', 'change', 'runs'],
      ['start to first 200', '250 ms', '100 ms (node http)', '2.50', '300 ms', '200 ms', '+25 %', '7'],
      ['promises a lifecycle', '20,480', '-', '-', '-', '-', '-', '1'],
      ['npm run demo', '7.3 ms', '-', '-', 'as the peer', '7.3 ms', 'same', '7'],
    ])
  })

  test('text and Markdown have equal columns', () => {
    expect(
      asText([
        ['what', 'ours'],
        ['a b', '1'],
      ]),
    ).toBe('what  ours\na b   1')
    expect(
      asMarkdown([
        ['what', 'ours'],
        ['xz | dd', '1'],
      ]),
    ).toBe('| what     | ours |\n| -------- | ---- |\n| xz \\| dd | 1    |')
  })
})

describe('history', () => {
  let folder: string
  let path: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ironstage-history-'))
    path = join(folder, 'bench', 'history.ndjson')
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  test('a run is compared with the last one on the same machine that has the row', async () => {
    expect(await readHistory(path)).toEqual([])
    const other = { cpu: 'Another processor', cores: 2, memory_gib: 16 }
    await keep(path, runOf(on(), [measured(100), measured(5, { what: 'npm run demo' })]))
    await keep(path, runOf(on(), [measured(110)]))
    await keep(path, runOf(on({ machine: other }), [measured(999)]))

    const before = lastOnThisMachine(await readHistory(path), on())
    expect(['start to first 200', 'npm run demo', 'npm test'].map((what) => before(what as Measured['what']))).toEqual([
      110,
      5,
      undefined,
    ])
    expect(lastOnThisMachine(await readHistory(path), on({ machine: other }))('start to first 200')).toBe(999)
  })

  test.each(['{"rows": ', '[]', 'null', '{"machine": {}, "rows": {"start to first 200": 3}}'])(
    'a line that is no run is named: %s',
    async (line) => {
      await keep(path, runOf(on(), [measured(100)]))
      await writeFile(path, `${line}\n`, { flag: 'a' })
      await expect(readHistory(path)).rejects.toThrow(`line 2 of ${path} is not a run of the benchmarks`)
    },
  )
})
