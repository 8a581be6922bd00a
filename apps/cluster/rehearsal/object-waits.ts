import { jsonPathOf, valuesAt } from '../../../base/kubernetes/index.js'
import { hours, seconds } from '../../../base/runtime/index.js'
import { kindNamed } from './kind-names.js'
import { entryNamed, objectAt } from './named-objects.js'
import type { RehearsedCluster } from './rehearsed-cluster.js'
import type { ObjectWait } from './scenario.js'

type Stored = NonNullable<ReturnType<RehearsedCluster['objects']['find']>>

const WAIT_TIMEOUT = hours(24)
const WAIT_POLL_INTERVAL = seconds(5)

/** True of an object, or of its absence, that a wait is for. */
type Awaited = (object: Stored | undefined) => boolean

/**
 * Reads what `kubectl wait --for` takes: `delete`, `create`, `condition=Ready`, `condition=Ready=False`,
 * `jsonpath={.status.phase}=Running`, `jsonpath={.status.nodeRef}`.
 *
 * @returns a sentence for another text
 */
export function awaitedState(text: string): Awaited | string {
  if (text === 'delete') return (object) => object === undefined
  if (text === 'create') return (object) => object !== undefined
  const [, condition, status = 'true'] = /^condition=([^=]+)(?:=(.+))?$/.exec(text) ?? []
  if (condition !== undefined) return (object) => hasCondition(object, condition, status)
  const [, path, value] = /^jsonpath='?\{(\.[^}]*)\}'?(?:=(.*))?$/.exec(text) ?? []
  const steps = path === undefined ? undefined : jsonPathOf(path)
  if (!steps) return `${text} is none of delete, create, condition=TYPE[=STATUS], jsonpath={.PATH}[=VALUE]`
  return (object) => {
    const found = valuesAt(object as Parameters<typeof valuesAt>[0], steps)
    return value === undefined ? found.length > 0 : found.some((one) => shown(one) === value)
  }
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function hasCondition(object: Stored | undefined, type: string, status: string): boolean {
  const { status: own } = (object ?? {}) as { status?: { conditions?: { type?: string; status?: string }[] } }
  const found = own?.conditions?.find((one) => one.type?.toLowerCase() === type.toLowerCase())
  return found?.status?.toLowerCase() === status.toLowerCase()
}

/**
 * Waits in lab time until an object is as it is awaited, as `kubectl wait` does.
 *
 * @param within milliseconds; a day by default
 * @returns a sentence where it is not
 */
export function waitForObject(
  { for: wanted, kind, name, namespace }: ObjectWait,
  cluster: RehearsedCluster,
  within = WAIT_TIMEOUT,
): Promise<string | null> {
  const { clock, objects } = cluster
  const isAwaited = awaitedState(wanted)
  const waiting = async (): Promise<string | null> => {
    if (typeof isAwaited === 'string') return isAwaited
    const end = clock.now() + within
    for (;;) {
      // A definition may come while it is waited.
      const entry = kindNamed(objects.kinds, kind)
      const at = entry && objectAt(entry, namespace === undefined ? { name } : { name, namespace })
      if (isAwaited(entry && at ? objects.find(entry.resource, at) : undefined)) return null
      if (clock.now() >= end)
        return entry && at
          ? `timed out waiting for ${wanted} of ${entryNamed(entry, at)}`
          : `the cluster has no kind ${kind}`
      await clock.sleep(Math.min(WAIT_POLL_INTERVAL, end - clock.now()))
    }
  }
  return cluster.until(waiting())
}
