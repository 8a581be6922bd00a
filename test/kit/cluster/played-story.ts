import { rehearse, storiesOf, type Scenario, type StoryLine } from '../../../apps/cluster/index.js'
import type { ClusterEra } from '../../../base/kubernetes/index.js'
import { silent } from '../../../base/runtime/index.js'

/** A story of an era by its name. */
export const storyNamed = (name: string, as: ClusterEra): Scenario =>
  storiesOf(as).find((story) => story.name === name)!

/** Plays a story to its end: seconds. */
export async function playedStory(name: string, as: ClusterEra, without: readonly string[] = []) {
  const lines: StoryLine[] = []
  const { signal } = new AbortController()
  const onLine = (line: StoryLine): void => void lines.push(line)
  const end = await rehearse(storyNamed(name, as), { without, as, logger: silent, signal, onLine })
  return { end, lines }
}
