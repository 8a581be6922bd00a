import { counts } from './counts/counts.js'
import { listsOfThousand } from './lists.js'
import type { Outcome } from './measure.js'
import { firstAnswer, oneLifecycle, shortCommand } from './served.js'
import { ofHundred } from './virtual-time.js'

const RUNS = 3

/** A first look at a commit, within 20 s on an idle machine: fewer runs of the rows that users feel, and the counts. */
export async function quick(): Promise<Outcome> {
  const rows = [
    await firstAnswer(RUNS),
    await shortCommand('--version', RUNS),
    await oneLifecycle(RUNS),
    await ofHundred(),
    ...(await listsOfThousand()),
  ]
  const counted = await counts()
  return { ...counted, rows: [...rows, ...counted.rows] }
}
