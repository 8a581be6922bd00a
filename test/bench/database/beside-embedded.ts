import type { Measured } from '../measure.js'
import { DatabaseBench } from './contenders.js'
import { followedChanges } from './followed.js'
import { lifecyclesOnDatabase } from './lifecycles.js'
import { listsOnDatabase } from './lists-beside.js'
import { takeOver } from './take-over.js'
import { agentsOnDatabase } from './with-agents.js'

/** Everything that a store in PostgreSQL may cost, against the one that each process has for itself. */
export async function besideEmbedded(): Promise<Measured[]> {
  await using bench = await DatabaseBench.open()
  return [
    ...(await lifecyclesOnDatabase(bench)),
    await agentsOnDatabase(bench),
    ...(await followedChanges(bench)),
    ...(await listsOnDatabase(bench)),
    await takeOver(bench),
  ]
}
