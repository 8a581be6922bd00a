import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ALL_BEHAVIOURS, STORIES, storiesOf } from '../../apps/cluster/index.js'
import { CLUSTER_ERAS, type Behaviour } from '../../base/kubernetes/index.js'

const guide = readFileSync(new URL('../../docs/rehearse.md', import.meta.url), 'utf8')
const [, sources = ''] = guide.split('\n## Sources\n')

const releasesOf = ({ since, until, stories }: Behaviour): string => {
  if (stories.today === undefined) return '-'
  if (since === undefined) return until === undefined ? 'all' : `up to ${until}`
  return until === undefined ? `${since} and later` : `${since} to ${until}`
}

const operatorsOf = ({ stories }: Behaviour): string =>
  stories.today === undefined ? 'document' : stories.document === undefined ? 'today' : 'both'

test('the table of sources has each behaviour as it is', () => {
  const rows = ALL_BEHAVIOURS.map(
    (one) => `| \`${one.name}\` | ${operatorsOf(one)} | ${releasesOf(one)} | ${one.source} |`,
  )
  expect(sources.split('\n').filter((line) => /^\| `\w+\//.test(line))).toEqual(rows)
})

test('the claim of each story of today has a source', () => {
  const claimed = [...sources.matchAll(/^\| `([a-z0-9-]+)` \| [^|]+ \| \S[^|]+ \|$/gm)].map(([, name]) => name)
  expect(claimed).toEqual(STORIES.filter(({ as }) => as === 'today').map(({ name }) => name))
})

test.each(CLUSTER_ERAS)(
  'as %s each name is of one story, and each behaviour has a story that fails without it',
  (as) => {
    const names = storiesOf(as).map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
    for (const { name, stories } of ALL_BEHAVIOURS)
      if (stories[as] !== undefined) expect(names, name).toContain(stories[as])
  },
)

test('a behaviour that today’s operators lack names its document, and no other does', () => {
  for (const { name, stories, document, source } of ALL_BEHAVIOURS) {
    expect(document !== undefined, name).toBe(stories.today === undefined)
    if (document !== undefined) expect(source).toBe(`design document ${document}`)
    // A file at a commit, or newer than one, or a pull request.
    else expect(source, name).toMatch(/ [0-9a-f]{7} \S+\/\S+|, newer than [0-9a-f]{7}$|PR \d+/)
  }
})

test('all stories of the documents stay', () => {
  expect(storiesOf('document')).toHaveLength(31)
})

test('a check that is marked is of a story of the documents', () => {
  for (const { name, as, steps } of STORIES)
    for (const step of steps) if ('document' in step) expect(as, name).toBe('document')
})
