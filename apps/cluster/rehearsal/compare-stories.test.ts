import { expect, test } from 'vitest'
import { compareStories, comparisonLines, comparisonOf } from './compare-stories.js'
import type { StoryLine } from './story-line.js'

const head = { scenario: 'one', time: '2026-01-01T00:00:00.000Z' }
const act = (elapsed: number, actor: string, does: string): StoryLine => ({
  ...head,
  event: 'act',
  elapsed,
  actor,
  does,
})
const check = (elapsed: number, expects: string, found?: string): StoryLine => ({
  ...head,
  event: 'check',
  actor: 'rehearsal',
  elapsed,
  expects,
  holds: found === undefined,
  ...(found !== undefined && { found }),
})
const begin = (as: 'today' | 'document'): StoryLine => ({
  scenario: 'one',
  actor: 'rehearsal',
  event: 'begin',
  as,
  title: `It goes so, as ${as}`,
  document: null,
  without: [],
})
const end = (holds: boolean): StoryLine => ({
  scenario: 'one',
  actor: 'rehearsal',
  event: 'end',
  elapsed: 9,
  holds,
  checks: 1,
  failures: [],
})
const INSTALLED = [act(0, 'administrator', 'installs 4.14.0')]
const saysOf = (document: StoryLine[], today: StoryLine[]) =>
  compareStories({ document, today }).map(({ as, says }) => `${as}: ${says}`)

test('the order of those who decide makes a difference, that of others does not', () => {
  const first = [act(9, 'cbo', 'rolls out a'), act(9, 'cbo', 'rolls out b')]
  const others = [act(10, 'bmo', 'moves host-1'), act(10, 'kubelet', 'starts a')]
  const begun = [...INSTALLED, act(5, 'administrator', 'requests 4.15.0')]
  expect(saysOf([...begun, ...first, ...others], [...begun, ...first.toReversed(), ...others.toReversed()])).toEqual([
    'document: rolls out a',
    'today: rolls out a',
  ])
  expect(saysOf([...begun, ...others], [...begun, ...others, others[1]!])).toEqual(['today: starts a'])
})

test('the installation, times and names that are made up make none', () => {
  const document = [
    ...INSTALLED,
    act(1, 'cbo', 'waits'),
    check(5, 'host-1 runs it'),
    act(6, 'mao', 'claims host host-3 for workers-x7k2p'),
    act(7, 'mco', 'renders rendered-worker-2d81d1 for pool worker'),
  ]
  const today = [
    ...INSTALLED,
    check(4, 'host-2 runs it'),
    act(5, 'mao', 'claims host host-1 for workers-abcde'),
    act(9, 'mco', 'renders rendered-worker-e6239d for pool worker'),
  ]
  expect(saysOf(document, today)).toEqual([])
})

test('a line that is repeated is there once, with how often', () => {
  const begun = [...INSTALLED, act(2, 'administrator', 'requests 4.15.0')]
  const fails = (elapsed: number) => act(elapsed, 'kubelet', 'cannot start metal3')
  const differences = compareStories({ document: begun, today: [...begun, fails(3), fails(5), fails(9)] })
  expect(differences).toEqual([
    {
      event: 'difference',
      scenario: 'one',
      as: 'today',
      actor: 'kubelet',
      elapsed: 3,
      says: 'cannot start metal3',
      times: 3,
    },
  ])
  const comparison = comparisonOf({ document: begun, today: begun }, differences)
  expect(comparisonLines(comparison, differences).at(-1)).toMatch(/cannot start metal3, 3 times$/)
})

test('checks are compared with what they found', () => {
  const document = [begin('document'), ...INSTALLED, check(5, 'it runs'), end(true)]
  const today = [begin('today'), ...INSTALLED, check(4, 'it runs', 'it does not'), end(false)]
  const differences = compareStories({ document, today })
  expect(differences.map(({ as, holds }) => [as, holds])).toEqual([
    ['today', false],
    ['document', true],
  ])
  expect(comparisonOf({ document, today }, differences)).toEqual({
    event: 'comparison',
    scenario: 'one',
    titles: { document: 'It goes so, as document', today: 'It goes so, as today' },
    holds: { document: true, today: false },
    differences: 2,
    partsAt: 4,
  })
})

test('no line is wider than the terminal, and stories that do not part say so', () => {
  const long = 'cannot determine the address of '.repeat(9)
  const document = [begin('document'), ...INSTALLED, act(3, 'administrator', 'waits'), act(4, 'cbo', long), end(true)]
  const today = [begin('today'), ...INSTALLED, act(3, 'administrator', 'waits'), end(true)]
  const differences = compareStories({ document, today })
  const lines = comparisonLines(comparisonOf({ document, today }, differences), differences, 80)
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80)
  expect(lines.join('\n')).toContain('They part at 0:00:04:')
  expect(comparisonLines(comparisonOf({ document, today: document }, []), []).at(-1)).toBe('They do not part.')
})
