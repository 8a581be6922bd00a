import type { ApiNode, JsonObject } from '../../base/wire/index.js'
import type { Calls } from './ironic-calls.js'

/** Result of a pass over a host: done, repeat after `again` milliseconds, or an error for the host's status. */
export type HostPassResult = 'done' | { again: number } | { error: string }

export const retryAtOnce: HostPassResult = { again: 0 }
export const retrySoon: HostPassResult = { again: 3_000 }
export const retryLater: HostPassResult = { again: 10_000 }

/** Reason for each verb, shown by `bmh explain`. */
const REASONS = {
  manage: 'Ironic verifies that it can reach the BMC',
  inspect: 'the hardware is unknown: starts the inspection',
  provide: 'makes the node available; automated cleaning, where it is on, happens here',
  clean: 'configures the hardware as in the spec before anything is installed',
  active: 'starts the deployment',
  deleted: 'removes the instance; automated cleaning, where it is on, follows',
  adopt: 'the host already runs its system: Ironic deploys nothing',
  service: 'configures the hardware as in the spec and leaves the instance alone',
  abort: 'ends the wait for the ramdisk',
} as const
export type RequestVerb = keyof typeof REASONS

/** Something that BareMetal Operator tells of a host, in the words of its events. */
export interface HostEvent {
  reason: string
  message: string
  /** `Warning` for the few that the operator writes with client-go's recorder. Default `Normal`. */
  type?: 'Normal' | 'Warning'
}

/** Requests that several phases of a host share. */
export class NodeRequests {
  /** Verbs that were requested, in order. */
  readonly asked: string[] = []
  /** Events of the host, in order. */
  readonly events: HostEvent[] = []
  readonly calls: Calls
  /** True if the node was changed after it was read. */
  isStale = false

  constructor(calls: Calls) {
    this.calls = calls
  }

  publish(reason: string, message: string): void {
    this.events.push({ reason, message })
  }

  /** In maintenance no state can be changed: a fault is waited for, and any other maintenance is ended first. */
  async ask(node: ApiNode, target: RequestVerb, more: JsonObject = {}): Promise<HostPassResult> {
    if (node.fault) return retryLater
    if (node.maintenance) return this.endMaintenance(node)
    await this.change(REASONS[target], 'PUT', `/nodes/${node.uuid}/states/provision`, { target, ...more })
    this.asked.push(target)
    return retrySoon
  }

  async endMaintenance({ uuid }: ApiNode): Promise<HostPassResult> {
    await this.change('ends maintenance', 'DELETE', `/nodes/${uuid}/maintenance`)
    return retryAtOnce
  }

  /** A call after which the node is another one. */
  async change(...call: Parameters<Calls['call']>): Promise<void> {
    this.isStale = true
    await this.calls.call(...call)
  }

  /** Sends the values that differ from the node's; undefined removes a path. */
  async patch(why: string, node: ApiNode, wanted: Readonly<Record<string, unknown>>): Promise<ApiNode> {
    const operations = Object.entries(wanted).flatMap(([path, value]) => {
      const [field, key] = path.slice(1).split('/') as [string, string?]
      const parent = node as unknown as Record<string, Record<string, unknown>>
      const current: unknown = key === undefined ? parent[field] : parent[field]![key]
      if (value === undefined) {
        const isCustom = path !== '/deploy_interface' || ['ramdisk', 'custom-agent'].includes(current as string)
        return current === undefined || current === null || !isCustom ? [] : [{ op: 'remove', path }]
      }
      return JSON.stringify(current) === JSON.stringify(value) ? [] : [{ op: 'add', path, value }]
    })
    if (operations.length === 0) return node
    return this.calls.call<ApiNode>(why, 'PATCH', `/nodes/${node.uuid}`, operations)
  }
}
