import { readDuration, UserError } from '../../base/runtime/index.js'
import type { ProvisionState } from '../../base/wire/index.js'
import {
  type ControlledFaults,
  type Fault,
  type FaultReport,
  type LabRecordings,
  maskValue,
  readFaultsFile,
  writeFaultsFile,
  controlOpenApi,
  CONTROL_VERSION,
  type ControlHandler,
  CONTROL_OPERATIONS,
  type ControlOperationId,
  faultFrom,
} from '../../control/index.js'
import { ERRORS } from '../errors.js'
import type { StageSnapshots } from '../snapshots/snapshots.js'
import type { ClockControl } from './clock-control.js'
import { ControlSubjects, type SubjectParts } from './control-subjects.js'
import { journalHandlers } from './journal-handlers.js'
import { lookHandlers, type LookParts } from './look-handlers.js'
import { machineHandlers, type MachineChangeParts } from './machine-handlers.js'
import { replayHandlers } from './replay-handlers.js'
import { nodeHandlers, type NodeChangeParts } from './node-handlers.js'
import { snapshotHandlers } from './snapshot-handlers.js'

/** The parts of a lab that the control API acts on. */
export interface ControlParts extends LookParts, SubjectParts, MachineChangeParts, NodeChangeParts {
  /** Reached only when the lab is whole. */
  snapshots: () => StageSnapshots
  /** Absent in labs that make no recordings. */
  recordings?: LabRecordings
}

/** The calls of the control API, by the ids of their operations. */
export function controlHandlers(parts: ControlParts): Readonly<Record<ControlOperationId, ControlHandler>> {
  const { faults, clock, journal, snapshots, recordings } = parts
  const subjects = new ControlSubjects(parts)
  return {
    index: () => indexOf(parts),
    openapi: () => controlOpenApi(),
    ...machineHandlers(parts, subjects),
    ...lookHandlers(parts, subjects),
    ...nodeHandlers(parts, subjects),
    ...faultHandlers(faults),
    ...clockHandlers(clock, subjects),
    ...snapshotHandlers(snapshots),
    ...journalHandlers(journal),
    ...replayHandlers(journal, recordings),
  }
}

const indexOf = ({ clock, nodes, machines, faults, run, journal }: ControlParts) => ({
  version: CONTROL_VERSION,
  operations: CONTROL_OPERATIONS.map(({ method, path, summary }) => ({ method, path: `/_lab${path}`, summary })),
  clock: clock.report(),
  nodes: [...nodes()].length,
  machines: machines.list().length,
  faults: faults.list().length,
  run: run !== undefined,
  journal: { first: journal.first, last: journal.last },
})

/** The calls about faults, of one process or of several. */
export const faultHandlers = (faults: ControlledFaults) =>
  ({
    faults: async ({ query }) => ({
      faults: (await faultsWith(faults, query['label'])).map(maskValue),
    }),
    addFault: async ({ body }) => {
      if (Array.isArray(body)) return addAll(faults, body.map(faultFrom))
      const { id } = await faults.add(faultFrom(body))
      return maskValue(await faults.get(id))
    },
    exportFaults: async ({ query }) => ({
      status: 200,
      headers: { 'content-type': 'application/yaml' },
      body: writeFaultsFile(await faultsWith(faults, query['label'])),
    }),
    importFaults: ({ body }) => {
      const { file, name = 'the file' } = body as { file: string; name?: string }
      return addAll(faults, readFaultsFile(file, name))
    },
    liftFaults: ({ query }) => faults.clear(query['label']),
    fault: async ({ params }) => maskValue((await faults.get(params['fault']!)) ?? noSuchFault(params['fault']!)),
    liftFault: async ({ params }) => {
      if (!(await faults.lift(params['fault']!))) noSuchFault(params['fault']!)
    },
  }) satisfies Partial<Record<ControlOperationId, ControlHandler>>

function noSuchFault(id: string): never {
  throw new UserError('no-such-fault', `there is no fault ${id}`, { remedy: ERRORS['no-such-fault'].remedy })
}

async function faultsWith(faults: ControlledFaults, wanted: string | undefined): Promise<FaultReport[]> {
  const all = await faults.list()
  return all.filter(({ label }) => wanted === undefined || label === wanted)
}

async function addAll(faults: ControlledFaults, added: readonly Fault[]) {
  const reports: unknown[] = []
  for (const { id } of await faults.addAll(added)) reports.push(maskValue(await faults.get(id)))
  return { faults: reports }
}

const clockHandlers = (clock: ClockControl, subjects: ControlSubjects) =>
  ({
    clock: () => clock.report(),
    setClock: ({ body }) => clock.set((body as { mode: string }).mode),
    advance: ({ body }) => {
      const { by, until, within } = body as {
        by?: string | number
        until?: { node: string; state: ProvisionState }
        within?: string | number
      }
      const limit = within === undefined ? undefined : readDuration(within)
      if (by !== undefined) return clock.advance(readDuration(by)!)
      if (!until) return clock.advanceToNext(limit)
      return clock.advanceUntil(subjects.node(until.node), until.state, limit)
    },
  }) satisfies Partial<Record<ControlOperationId, ControlHandler>>
