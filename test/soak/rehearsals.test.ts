import { expect, test } from 'vitest'
import { ALL_BEHAVIOURS, rehearse, STORIES } from '../../cluster/index.js'
import { silent } from '../../runtime/index.js'

const plays = (story: (typeof STORIES)[number], without: readonly string[] = []) =>
  rehearse(story, { without, logger: silent, signal: new AbortController().signal, onLine: () => {} })

test.each(STORIES.map((story) => [story.name, story] as const))('the story %s goes as told', async (_, story) => {
  expect((await plays(story)).failures).toEqual([])
})

test.each(ALL_BEHAVIOURS.map(({ name, says }) => [name, says] as const))(
  'without %s a story fails',
  async (name, says) => {
    for (const story of STORIES) {
      const { holds, failures } = await plays(story, [name])
      if (holds) continue
      expect(failures.at(-1)).toBe(`without ${name}: ${says}`)
      return
    }
    expect.unreachable(`no story misses ${name}`)
  },
)
