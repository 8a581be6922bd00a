import { internalRegistry } from '../../../base/registry/index.js'
import type { RepositoryMirrors } from './container-registry.js'
import type { Machine, Machines } from '../../../machine/index.js'
import { startsRegistry } from '../actors/machine-config-operator/internal-release/internal-release-config.js'
import {
  COMPONENT_REPOSITORY,
  REGISTRY_UNIT,
  RELEASE_REPOSITORY,
} from '../actors/machine-config-operator/internal-release/internal-release-names.js'
import { nodeRoleLabel, SYSTEMD } from '../actors/machine-config-operator/machine-config-names.js'

/** A release that the registry has: `ocp-release-bundle-4.22.0-x86_64`. */
export interface RegistryBundle {
  name: string
  /** Digest of its release image. */
  digest: string
}

/** Repositories of OpenShift's releases, with those of the registry. */
const REPOSITORIES = [
  { source: 'quay.io/openshift-release-dev/ocp-release', there: RELEASE_REPOSITORY },
  { source: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev', there: COMPONENT_REPOSITORY },
]

/**
 * Mirrors of a cluster that was installed without a registry (openshift/assisted-service internal/ignition
 * internalReleaseImagePatcher), and then of a registry beside it.
 */
export const internalMirrors = (domain: string, beside?: string): RepositoryMirrors[] =>
  REPOSITORIES.map(({ source, there }) => ({
    source,
    mirrors: [internalRegistry(domain), ...(beside === undefined ? [] : [beside])].map((host) => `${host}/${there}`),
    pulls: 'digest',
  }))

/**
 * The registry on the nodes of a control plane, of a cluster that was installed without any other. Until the first of them
 * runs, the host that installs them serves the same images.
 */
export class InternalRegistry {
  /** `api-int.lab.example:22625` */
  readonly host: string
  readonly domain: string
  readonly bundles: RegistryBundle[] = []
  #machines: Machines | undefined
  #isInstalled = false

  constructor(domain: string) {
    this.domain = domain
    this.host = internalRegistry(domain)
  }

  /** The machines may come after the registry: their pulls ask it. */
  watch(machines: Machines): void {
    this.#machines = machines
  }

  get isServed(): boolean {
    const nodes = (this.#machines?.list() ?? []).filter((machine) => this.isOfControlPlane(machine))
    this.#isInstalled ||= nodes.some(isRunningNode)
    return this.#isInstalled ? nodes.some((machine) => this.servesOn(machine)) : true
  }

  isOfControlPlane(machine: Machine): boolean {
    const kubelet = machine.rootFiles()?.text(`${SYSTEMD}/kubelet.service`) ?? ''
    return kubelet.includes(nodeRoleLabel('master'))
  }

  servesOn(machine: Machine): boolean {
    return isRunningNode(machine) && startsRegistry(machine.rootFiles()?.text(`${SYSTEMD}/${REGISTRY_UNIT}`) ?? '')
  }
}

const isRunningNode = (machine: Machine): boolean =>
  machine.power() === 'on' && machine.boot()?.outcome === 'disk' && machine.os()?.kubelet === 'may start'
