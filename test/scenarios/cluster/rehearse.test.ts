import { expect, test } from 'vitest'
import { rehearse, STORIES, type StoryLine } from '../../../cluster/index.js'
import { silent } from '../../../runtime/index.js'

/** Stories play in seconds; `test/soak/rehearsals.test.ts` plays all of them, with every behaviour taken away. */
async function played(name: string, without: readonly string[] = []) {
  const lines: StoryLine[] = []
  const end = await rehearse(
    STORIES.find((story) => story.name === name)!,
    {
      ...{ without, logger: silent, signal: new AbortController().signal },
      onLine: (line) => void lines.push(line),
    },
  )
  return { end, lines }
}

test.each(['ironic-after-images', 'agent-container', 'skew', 'shared-base', 'downgrade'])(
  'the story %s goes as the documents tell it',
  async (name) => {
    const { end, lines } = await played(name)
    expect(end).toMatchObject({ holds: true, failures: [] })
    for (const line of lines)
      expect(line).toMatchObject({ scenario: name, actor: expect.stringMatching(/^[a-z]+$/) as string })
    expect(lines.filter(({ event }) => event === 'check')).toHaveLength(end.checks)
  },
)

test('the same seed tells the same story', async () => {
  const [one, other] = [await played('agent-container'), await played('agent-container')]
  expect(JSON.stringify(one.lines)).toBe(JSON.stringify(other.lines))
})

test.each([
  ['ironic-after-images', 'bmo/reboots-waiting-hosts', 'go on in the deploy image from before'],
  ['ironic-after-images', 'cbo/restarts-ironic', 'stay in the old one'],
  ['skew', 'mco/names-boot-image-skew', 'nobody learns which of them'],
  ['downgrade', 'cvo/refuses-downgrades', ''],
])('the story %s fails without %s, and says what would happen in life', async (name, without, means) => {
  const { end } = await played(name, [without])
  expect(end.holds).toBe(false)
  expect(end.failures.at(-1)).toContain(`without ${without}: `)
  expect(end.failures.at(-1)).toContain(means)
})
