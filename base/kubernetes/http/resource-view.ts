import { setMember, type JsonMembers } from '../kube-json.js'
import type { Stored } from '../stored-object.js'

/** A second group that serves the objects of a kind, with other names for some of their fields. */
export interface ResourceView {
  kind: 'Event'
  group: string
  version: string
  plural: string
  shortNames: readonly string[]
  /** Names in the view by those in the kind. */
  fields: Readonly<Record<string, string>>
}

/** Events as controllers of the newer recorder send them: kubernetes 1.33 pkg/apis/events/v1/conversion.go. */
const EVENTS_V1: ResourceView = {
  kind: 'Event',
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  shortNames: ['ev'],
  fields: {
    involvedObject: 'regarding',
    message: 'note',
    source: 'deprecatedSource',
    firstTimestamp: 'deprecatedFirstTimestamp',
    lastTimestamp: 'deprecatedLastTimestamp',
    count: 'deprecatedCount',
    reportingComponent: 'reportingController',
  },
}

export const RESOURCE_VIEWS: readonly ResourceView[] = [EVENTS_V1]

const apiVersionIn = ({ group, version }: ResourceView): string => `${group}/${version}`

/** An object as a view shows it. */
export function shownInView(object: Stored, view: ResourceView): JsonMembers {
  return { ...renamed(object, new Map(Object.entries(view.fields))), apiVersion: apiVersionIn(view) }
}

/** An object that was sent to a view, as its kind has it. A version that is not the view's is left to be refused. */
export function sentToView(object: JsonMembers, view: ResourceView, apiVersion: string): JsonMembers {
  const own = object['apiVersion'] ?? apiVersionIn(view)
  const names = Object.entries(view.fields).map(([name, shown]) => [shown, name] as const)
  return {
    ...renamed(object, new Map(names)),
    apiVersion: own === apiVersionIn(view) ? apiVersion : own,
  }
}

/** A field selector in the names of the kind. */
export const selectorOfView = (selector: string, { fields }: ResourceView): string =>
  Object.entries(fields).reduce(
    (text, [name, shown]) => text.replaceAll(new RegExp(`(^|,)${shown}(?=[.=!])`, 'g'), `$1${name}`),
    selector,
  )

function renamed(object: JsonMembers, names: ReadonlyMap<string, string>): JsonMembers {
  const shown = {}
  for (const [name, member] of Object.entries(object)) setMember(shown, names.get(name) ?? name, member)
  return shown
}
