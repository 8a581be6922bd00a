import { expect, test } from 'vitest'
import { rehearse, STORIES } from '../../../apps/cluster/index.js'
import { silent } from '../../../base/runtime/index.js'

const STREAM_STORIES = STORIES.filter(({ releases }) => Object.values(releases).some(({ streams }) => streams))

const played = (name: string, without: readonly string[] = []) =>
  rehearse(
    STREAM_STORIES.find((story) => story.name === name)!,
    {
      without,
      logger: silent,
      signal: new AbortController().signal,
      onLine: () => {},
    },
  )

test.each(STREAM_STORIES.map(({ name }) => name))('the story %s goes as today’s clusters go', async (name) => {
  expect(await played(name)).toMatchObject({ holds: true, failures: [] })
})

test.each([
  ['host-stream', 'icc/makes-images-by-stream', 'host-2 has 9.8'],
  ['host-stream', 'bmo/copies-labels', 'host-2 has 9.8'],
  ['pool-stream', 'mco/runs-the-stream-of-the-pool', 'runs 9.8'],
  ['stream-of-an-upgraded-cluster', 'mco/keeps-the-installed-stream', 'runs 10.2'],
  ['runc', 'mco/refuses-runc-on-rhel-10', 'runs 10.2'],
])('the story %s fails without %s', async (name, without, found) => {
  const { holds, failures } = await played(name, [without])
  expect(holds).toBe(false)
  expect(failures.join('\n')).toContain(found)
  expect(failures.at(-1)).toContain(`without ${without}: `)
})

test('a pool that asks for a stream that the cluster lacks is refused, and the story says so', async () => {
  const story = STREAM_STORIES.find(({ name }) => name === 'pool-stream')!
  const wrong = { ...story, steps: [{ poolStream: 'rhel-10', of: 'workers' as const }] }
  const options = { logger: silent, signal: new AbortController().signal, onLine: () => {} }
  const { failures } = await rehearse(wrong, options)
  expect(failures[0]).toContain('must reference a valid stream from the cluster OSImageStream resource')
})
