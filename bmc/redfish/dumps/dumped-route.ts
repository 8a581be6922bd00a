import type { DumpedResource } from '../../dumps/index.js'
import { defined } from '../../../base/runtime/index.js'
import { isDell, type Machine } from '../../../machine/index.js'
import { commonDialect } from '../dialects/spoken-dialect.js'
import { BmcPaths } from '../dialects/bmc-paths.js'
import { messageRefusal } from '../protocol/redfish-refusal.js'
import { ofMachine, ofService, type RedfishResource } from '../protocol/resource.js'
import type { Routes } from '../protocol/resource-routes.js'
import type { RoutedPath } from '../routed-path.js'
import type { ServiceParts } from '../service-parts.js'
import type { DumpView } from './dump-view.js'
import type { DumpedAnswer } from './dumped-answer.js'
import { openView } from './dump-views.js'
import { isLiveItem, isShownByMembers } from './live-properties.js'

/** A machine's dump, and the machine unless the path concerns the whole service. */
interface ViewedPath {
  readonly view: DumpView
  readonly machine: Machine | undefined
  readonly isAlone: boolean
}

/** Paths that answer whether or not a dump has them: where work under way is followed, and what describes the service itself. */
const ALWAYS_THERE = /^\/redfish\/v1\/(?:TaskService\/TaskMonitors\/|odata\/?$|\$metadata$)/i

/**
 * The resource of a path where the BMC of its machine has a dump.
 *
 * @param path with `/redfish/v1`, percent-encoded
 * @returns null where no dump has to do with the path, undefined where the dump has no such resource
 */
export async function routeDumpedPath(
  { routes, machines }: Pick<ServiceParts, 'routes' | 'machines'>,
  path: string,
): Promise<RoutedPath | undefined | null> {
  const viewed = await viewedPath(machines, path)
  if (!viewed) return null
  const { view, machine, isAlone } = viewed
  if (ALWAYS_THERE.test(path)) return null
  const { model, dumped } = view.find(path)
  const live = model === undefined ? dellResource(routes, path, machine) : routes.find(model, true)
  const parent = dumped ? undefined : view.find(path.replace(/\/Actions\/.*$/i, '')).dumped
  const found = live ?? dumpedResource(view, dumped, parent, path, machine)
  if (!found) return undefined
  const isOfMachine = found.resource.kind === 'machine'
  const owner = machine ?? (isOfMachine ? undefined : machines.list()[0])
  const answer: DumpedAnswer = {
    view,
    resource: isLiveItem(found.resource) ? undefined : dumped,
    hasOtherMembers: !isAlone && isShownByMembers(found.resource),
  }
  return {
    ...found,
    ...defined({ machine: isOfMachine ? owner : undefined, dumped: answer }),
  }
}

/** The machine whose dump has a path: that of its id, the only one, or any of those that all have the same dump. */
async function viewedPath(machines: ServiceParts['machines'], path: string): Promise<ViewedPath | undefined> {
  const all = machines.list()
  const [first] = all
  if (!first) return undefined
  const isAlone = all.length === 1
  if (isAlone) {
    const view = await openView(first, isAlone)
    return view && { view, machine: first, isAlone }
  }
  const owned = new BmcPaths(machines).find(path.slice('/redfish/v1'.length))?.machine
  if (owned) {
    const view = await openView(owned, isAlone)
    return view && { view, machine: owned, isAlone }
  }
  if (commonDialect(all).dump === null) return undefined
  const view = await openView(first, isAlone)
  return view && { view, machine: undefined, isAlone }
}

/** Resources of Dell that dumps lack, as they are answers to a POST, and those that follow from them. */
function dellResource(routes: Routes, path: string, machine: Machine | undefined) {
  if (!machine || !isDell(machine.spec) || !/\/Oem\/Dell\//i.test(path)) return undefined
  const model = path.replace(/^\/redfish\/v1\/(Systems|Managers)\/[^/]+\//i, `/$1/${machine.spec.id}/`)
  const found = routes.find(model, true)
  return found?.resource.post || /\/Jobs(\/|$)/i.test(path) ? found : undefined
}

/** A resource that is read only, or an action that nothing here carries out. */
function dumpedResource(
  view: DumpView,
  dumped: DumpedResource | undefined,
  parent: DumpedResource | undefined,
  path: string,
  machine: Machine | undefined,
): { resource: RedfishResource; params: Record<string, string> } | undefined {
  const make = machine ? ofMachine : ofService
  const standard = path.replace(/^\/redfish\/v1/, '')
  const reads = 'read hardware'
  if (dumped) return { resource: make(standard, { reads, get: () => view.document(dumped) }), params: {} }
  const [, action] = /\/Actions\/(.+)$/i.exec(path) ?? []
  if (action === undefined || !parent) return undefined
  const post = (): never => {
    throw messageRefusal(400, 'ActionNotSupported', [action.split('/').at(-1) ?? action], {
      resolution: 'The machine behind this dump does not carry it out.',
    })
  }
  return { resource: make(standard, { reads, post }), params: {} }
}
