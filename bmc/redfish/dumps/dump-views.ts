import { dialectOf, type BmcDialect } from '../../dialects/index.js'
import { openDump, presentDump, type DumpSource, type OpenDump } from '../../dumps/index.js'
import { userError } from '../../../base/runtime/index.js'
import type { Machine } from '../../../machine/index.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import type { ServedMachines } from '../served-machines.js'
import { DumpView } from './dump-view.js'

interface CachedView {
  readonly isAlone: boolean
  readonly spec: Machine['spec']
  readonly view: DumpView
}

const views = new WeakMap<OpenDump, WeakMap<Machine, CachedView>>()

const sourceOf = ({ dump }: BmcDialect): DumpSource | undefined =>
  dump === null ? undefined : { folder: dump.folder, system: dump.system ?? undefined }

/** True for a machine that is the only one of its service: its BMC has all paths of the dump. */
export const isOnlyMachine = (machines: ServedMachines): boolean => machines.list().length === 1

/**
 * The dump of a machine's BMC, as the service of these machines shows it; undefined for a BMC without one.
 *
 * @throws Refusal 500 for a dump that can no longer be read
 */
export async function openView(machines: ServedMachines, machine: Machine): Promise<DumpView | undefined> {
  const source = sourceOf(dialectOf(machine.spec))
  return source && cachedView(await readableDump(source), machine, isOnlyMachine(machines))
}

async function readableDump(source: DumpSource): Promise<OpenDump> {
  try {
    return await openDump(source)
  } catch (error) {
    const known = userError(error)
    if (!known) throw error
    throw messageRefusal(500, 'InternalError', [], {
      resolution: `The dump of this BMC is no longer whole: ${known.message}.`,
    })
  }
}

/** The same for a dump that is open already; undefined for another. */
export function presentView(machines: ServedMachines, machine: Machine): DumpView | undefined {
  const source = sourceOf(dialectOf(machine.spec))
  const open = source && presentDump(source)
  return open && cachedView(open, machine, isOnlyMachine(machines))
}

function cachedView(open: OpenDump, machine: Machine, isAlone: boolean): DumpView {
  const byMachine = views.get(open) ?? new WeakMap<Machine, CachedView>()
  views.set(open, byMachine)
  const { spec } = machine
  const known = byMachine.get(machine)
  if (known?.isAlone === isAlone && known.spec === spec) return known.view
  const view = new DumpView(open, machine, isAlone)
  byMachine.set(machine, { isAlone, spec, view })
  return view
}
