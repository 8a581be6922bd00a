import type { LabSnapshot } from '../snapshots/snapshot.js'
import type { StageSnapshots } from '../snapshots/snapshots.js'
import type { ControlHandler, ControlOperationId } from '../../control/index.js'

/**
 * The calls about snapshots and forks.
 *
 * @param snapshots called when the lab is whole
 */
export const snapshotHandlers = (snapshots: () => StageSnapshots) =>
  ({
    snapshots: () => ({ snapshots: snapshots().list().map(snapshotReport) }),
    takeSnapshot: async () => snapshotReport(await snapshots().take()),
    restoreSnapshot: ({ params }) => snapshots().restore(params['snapshot']!),
    fork: ({ params }) => snapshots().forks.open(snapshots().get(params['snapshot']!)),
    forks: () => ({ forks: snapshots().forks.list() }),
    endFork: ({ params }) => snapshots().forks.end(params['fork']!),
    removeSnapshot: ({ params }) => snapshots().remove(params['snapshot']!),
    exportSnapshot: ({ params }) => ({
      status: 200,
      headers: { 'content-type': 'application/octet-stream' },
      body: snapshots().export(params['snapshot']!),
    }),
    importSnapshot: ({ body }) => snapshotReport(snapshots().import((body as { file: string }).file)),
    reset: () => snapshots().reset(),
  }) satisfies Partial<Record<ControlOperationId, ControlHandler>>

const snapshotReport = ({ id, at, repeats }: LabSnapshot) => ({ id, labTime: new Date(at).toISOString(), repeats })
