import { expect, test } from 'vitest'
import { storyLines, type StoryLine } from './story-line.js'

const common = { scenario: 'deploy-image', actor: 'cbo' }
const time = '2026-01-01T01:02:03.000Z'

test('no line is wider than the terminal', () => {
  const lines: StoryLine[] = [
    {
      ...common,
      event: 'begin',
      as: 'document',
      title: 'The deploy image follows the release, and hosts that wait are rebooted',
      document: '000',
      without: [],
    },
    {
      ...common,
      event: 'act',
      time,
      elapsed: 3723,
      does: 'rolls out metal3-image-customization again',
      because: 'the release 4.15.0 has another image than the one that runs, and the order is the image service first',
    },
    {
      ...common,
      event: 'check',
      time,
      elapsed: 9,
      expects: 'each of the spares has it',
      holds: false,
      found: 'host-1 has none',
    },
    {
      ...common,
      event: 'act',
      time,
      elapsed: 9,
      does: 'cannot pull the node image',
      because: `quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:${'0'.repeat(64)}: ${'x'.repeat(90)}`,
    },
    { ...common, event: 'end', elapsed: 60, holds: false, checks: 3, failures: ['word '.repeat(40).trim()] },
  ]
  for (const line of lines) for (const text of storyLines(line, 80)) expect(text.length, text).toBeLessThanOrEqual(80)
})

test('an act has its time, its actor and its reason', () => {
  const act = {
    ...common,
    event: 'act',
    time,
    elapsed: 3723,
    does: 'rolls out metal3',
    because: 'of the release',
  } as const
  expect(storyLines(act)).toEqual([
    ' 1:02:03  cbo            rolls out metal3',
    '                         because of the release',
  ])
})

test('a check that fails says what was found', () => {
  const check = {
    ...common,
    event: 'check',
    time,
    elapsed: 0,
    expects: 'it runs B',
    holds: false,
    found: 'it runs A',
  } as const
  expect(storyLines(check)).toEqual([' 0:00:00  FAILS          it runs B; it runs A'])
})
