import type { LabEvent } from '../../../lab/index.js'
import type { Watcher } from './system.js'

/** Tells a lab's events of nodes to a watcher. */
export function follow(events: { listen(to: (event: LabEvent) => void): unknown }, watcher: Watcher): void {
  events.listen((event) => {
    if (event.kind === 'node') watcher.seen(event.node)
    if (event.kind === 'node-gone') watcher.gone(event.uuid)
  })
}
