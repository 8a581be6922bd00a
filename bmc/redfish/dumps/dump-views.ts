import { dialectOf, type BmcDialect } from '../../dialects/index.js'
import { openDump, presentDump, type DumpSource, type OpenDump } from '../../dumps/index.js'
import { userError } from '../../../base/runtime/index.js'
import type { Machine } from '../../../machine/index.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { DumpView } from './dump-view.js'

interface CachedView {
  readonly isAlone: boolean
  readonly spec: Machine['spec']
  readonly view: DumpView
}

const views = new WeakMap<OpenDump, WeakMap<Machine, CachedView>>()

const sourceOf = ({ dump }: BmcDialect): DumpSource | undefined =>
  dump === null ? undefined : { folder: dump.folder, system: dump.system ?? undefined }

/**
 * The dump of a machine's BMC, as its service shows it; undefined for a BMC without one.
 *
 * @param isAlone true for the only machine of its service, whose BMC has all paths of the dump
 *
 * @throws Refusal 500 for a dump that can no longer be read
 */
export async function openView(machine: Machine, isAlone: boolean): Promise<DumpView | undefined> {
  const source = sourceOf(dialectOf(machine.spec))
  return source && cachedView(await readableDump(source), machine, isAlone)
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
export function presentView(machine: Machine, isAlone: boolean): DumpView | undefined {
  const source = sourceOf(dialectOf(machine.spec))
  const open = source && presentDump(source)
  return open && cachedView(open, machine, isAlone)
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
