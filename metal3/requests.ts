import type { ApiNode, JsonObject } from '../wire/index.js'
import type { Calls } from './calls.js'

/** What a look at a host comes to: done, another look after a while (in milliseconds), or an error for its status. */
export type Outcome = 'done' | { again: number } | { error: string }

export const soon: Outcome = { again: 3_000 }
export const later: Outcome = { again: 10_000 }

/** Why each verb is asked of a node. */
const REASONS = {
  manage: 'Ironic is to take charge: it looks whether the BMC can be reached',
  inspect: 'nothing is known of the hardware: the ramdisk is to look',
  provide: 'makes the node available; automated cleaning, where it is on, happens here',
  clean: 'the hardware is to be as the spec says before anything is installed',
  active: 'the deployment begins',
  deleted: 'the instance is to go; automated cleaning, where it is on, follows',
  adopt: 'the host already runs what it is to run: Ironic deploys nothing',
  service: 'the hardware is to be as the spec says, with what is installed left alone',
  abort: 'the node waits for its ramdisk and is to wait no longer',
} as const
export type Verb = keyof typeof REASONS

/** What is asked of a node in several of a host's phases. */
export class NodeRequests {
  /** The verbs, in order. */
  readonly asked: string[] = []
  readonly calls: Calls

  constructor(calls: Calls) {
    this.calls = calls
  }

  async ask(node: ApiNode, target: Verb, more: JsonObject = {}): Promise<Outcome> {
    await this.calls.call(REASONS[target], 'PUT', `/nodes/${node.uuid}/states/provision`, { target, ...more })
    this.asked.push(target)
    return soon
  }

  /** Sends what differs and nothing else: values to add, undefined to remove. */
  async patch(why: string, node: ApiNode, wanted: Readonly<Record<string, unknown>>): Promise<ApiNode> {
    const operations = Object.entries(wanted).flatMap(([path, value]) => {
      const [field, key] = path.slice(1).split('/') as [string, string?]
      const holder = node as unknown as Record<string, Record<string, unknown>>
      const now: unknown = key === undefined ? holder[field] : holder[field]![key]
      if (value === undefined) {
        const isCustom = path !== '/deploy_interface' || ['ramdisk', 'custom-agent'].includes(now as string)
        return now === undefined || now === null || !isCustom ? [] : [{ op: 'remove', path }]
      }
      return JSON.stringify(now) === JSON.stringify(value) ? [] : [{ op: 'add', path, value }]
    })
    if (operations.length === 0) return node
    return this.calls.call<ApiNode>(why, 'PATCH', `/nodes/${node.uuid}`, operations)
  }
}
