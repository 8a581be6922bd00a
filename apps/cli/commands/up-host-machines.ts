import { fittingMachine, hostManifestsOf, withAddressedBmc } from '../../../baremetal-operator/index.js'
import { hostOfNode } from './host-of-node.js'
import type { Kube } from '../../../base/kubernetes/index.js'
import { hardwareOfHost, type HardwareFleet, type MachineHardware } from '../../../machine/index.js'

/**
 * Hardware of machines behind the nodes of BareMetalHosts: what a hardware file has for a host, or what the host itself
 * asks for, by its hints, its HardwareData and annotations. A hardware file for all machines goes before a host's own.
 */
export class HostMachines {
  readonly #fleet: HardwareFleet | undefined
  #store: Kube['store'] | undefined

  constructor(fleet: HardwareFleet | undefined) {
    this.#fleet = fleet
  }

  /** Gives it the hosts, which come after the machines. */
  watch(store: Kube['store']): void {
    this.#store = store
  }

  /** @param node name of the node: `NAMESPACE~NAME` for that of a host */
  hardwareOf(node: string): MachineHardware | undefined {
    const host = hostOfNode(node)
    if (!host) return undefined
    const named = this.#fleet && hardwareOfHost(this.#fleet, `${host.namespace}/${host.name}`)
    const isForAll = this.#fleet?.some(({ host }) => host === undefined) ?? false
    const manifests = this.#store && hostManifestsOf(this.#store, host)
    if (named) return manifests ? withAddressedBmc(named, manifests.host) : named
    return isForAll || !manifests ? undefined : fittingMachine(manifests).hardware
  }
}
