import { isRefusal, makeSelector, type Kube } from '../../../base/kubernetes/index.js'
import { hostOfNode } from './host-of-node.js'
import type { HostLabels } from '../../../lab/index.js'

/** Labels of the BareMetalHosts of an API, which is opened after the lab whose faults match them. */
export class UpHostLabels implements HostLabels {
  #store: Kube['store'] | undefined

  /** Gives it the hosts. */
  watch(store: Kube['store']): void {
    this.#store = store
  }

  problemOf(selector: string): string | undefined {
    try {
      makeSelector({ labelSelector: selector })
      return undefined
    } catch (error) {
      if (isRefusal(error, 400)) return `${JSON.stringify(selector)} is no label selector`
      throw error
    }
  }

  selected(selector: string): readonly string[] {
    const hosts = this.#store?.list('BareMetalHost', { labelSelector: selector }) ?? []
    return hosts.map(({ metadata: { namespace, name } }) => `${namespace}~${name}`)
  }

  selects(selector: string, node: string): boolean {
    const host = this.hostOf(node)
    return host !== undefined && makeSelector({ labelSelector: selector })(host)
  }

  /** The host behind a node, whose name is `NAMESPACE~NAME`. */
  hostOf(node: string): ReturnType<Kube['store']['find']> {
    const host = hostOfNode(node)
    return host && this.#store?.find('BareMetalHost', host)
  }
}
