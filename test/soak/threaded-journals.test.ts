import { expect, test } from 'vitest'
import { threadedJournal } from '../kit/threaded-journal.js'

test.each(Array.from({ length: 20 }, (_, index) => index + 1))(
  'the journal of seed %i is the same with one, two, three and four threads',
  async (seed) => {
    const one = await threadedJournal({ threads: 1, seed })
    for (const threads of [2, 3, 4]) expect(await threadedJournal({ threads, seed })).toEqual(one)
  },
  600_000,
)
