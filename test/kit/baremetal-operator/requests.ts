import type { ApiNode, JsonObject } from '../../../wire/index.js'
import type { Calls } from './calls.js'

/** What a look at a host comes to: done, another look after a while (in milliseconds), or an error for its status. */
export type Outcome = 'done' | { again: number } | { error: string }

export const soon: Outcome = { again: 3_000 }
export const later: Outcome = { again: 10_000 }

/** What is asked of a node in several of a host's phases. */
export class NodeRequests {
  /** The verbs, in order. */
  readonly asked: string[] = []
  readonly calls: Calls

  constructor(calls: Calls) {
    this.calls = calls
  }

  async ask(node: ApiNode, target: string, more: JsonObject = {}): Promise<Outcome> {
    await this.calls.call('PUT', `/nodes/${node.uuid}/states/provision`, { target, ...more })
    this.asked.push(target)
    return soon
  }

  /** Sends what differs and nothing else: values to add, undefined to remove. */
  async patch(node: ApiNode, wanted: Readonly<Record<string, unknown>>): Promise<ApiNode> {
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
    return this.calls.call<ApiNode>('PATCH', `/nodes/${node.uuid}`, operations)
  }
}
