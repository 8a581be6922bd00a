import { isDeepStrictEqual } from 'node:util'
import {
  conditionOf,
  createIfAbsent,
  isRefusal,
  watchObject,
  type InternalReleaseImage,
  type KubeNode,
  type ResourceController,
  type Secret,
  type WatchedKind,
} from '../../../../../base/kubernetes/index.js'
import { sha256Hex } from '../../../../../base/bytes/index.js'
import { defined } from '../../../../../base/runtime/index.js'
import { releaseOfOperator } from '../cluster-facts.js'
import {
  KEEPS_REGISTRY_STAMP,
  REPORTS_INTERNAL_RELEASE,
  SERVES_FROM_NODES,
  STOPS_REGISTRY,
} from '../machine-config-behaviours.js'
import {
  GENERATED_BY,
  MACHINE_CONFIG_OPERATOR,
  nodeRoleLabel,
  OS_IMAGE,
  ROLES,
  type Role,
} from '../machine-config-names.js'
import type { MachineConfigOperatorParts } from '../machine-config-operator.js'
import { clusterRegistry } from './cluster-registry.js'
import { registryConfig, type RegistryParts } from './internal-release-config.js'
import {
  INTERNAL_RELEASE,
  INTERNAL_RELEASE_FINALIZER,
  internalReleaseConfig,
  isInternalReleaseConfig,
  REGISTRY_ACCOUNT,
  REGISTRY_TLS,
} from './internal-release-names.js'
import { internalReleaseStatus } from './internal-release-status.js'

const CONTROL_PLANE = [nodeRoleLabel('master'), nodeRoleLabel('control-plane')]

/**
 * Has the nodes of the control plane serve the releases on their disks, and says which they have; stops that once the object
 * is deleted (machine-config-operator 7ff337a pkg/controller/internalreleaseimage). The releases themselves come with the
 * installation: no operator copies further ones yet.
 */
export class InternalReleaseController implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: internal release`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'InternalReleaseImage' },
    { kind: 'MachineConfigNode', keysOf: () => [INTERNAL_RELEASE] },
    { kind: 'Node', keysOf: () => [INTERNAL_RELEASE] },
    { kind: 'MachineConfig', keysOf: ({ name }) => (isInternalReleaseConfig(name) ? [INTERNAL_RELEASE] : []) },
    watchObject('ConfigMap', OS_IMAGE, INTERNAL_RELEASE),
    watchObject('Secret', REGISTRY_TLS, INTERNAL_RELEASE),
    watchObject('Secret', REGISTRY_ACCOUNT, INTERNAL_RELEASE),
  ]
  readonly #parts: MachineConfigOperatorParts
  /** The last condition that was announced. */
  #announced: string | undefined

  constructor(parts: MachineConfigOperatorParts) {
    this.#parts = parts
  }

  async reconcile(): Promise<void> {
    const { kube, behaviours } = this.#parts
    const release = await releaseOfOperator(kube)
    const found = await kube.find('InternalReleaseImage', INTERNAL_RELEASE)
    if (!found || release === undefined) return
    const own = behaviours.of(release)
    if (found.metadata.deletionTimestamp !== undefined) return this.#stop(found, own.has(STOPS_REGISTRY))
    const failure = own.has(SERVES_FROM_NODES) ? await this.#serve(release) : undefined
    if (failure === undefined) await this.#addFinalizer(found)
    if (own.has(REPORTS_INTERNAL_RELEASE)) await this.#report(failure)
  }

  /** Writes the MachineConfigs of both roles. @returns the reason of a failure */
  async #serve(release: string): Promise<string | undefined> {
    const { kube } = this.#parts
    const tls = await kube.find('Secret', REGISTRY_TLS)
    const account = await kube.find('Secret', REGISTRY_ACCOUNT)
    if (!tls) return missingSecret(REGISTRY_TLS.name)
    if (!account) return missingSecret(REGISTRY_ACCOUNT.name)
    const missing = ['tls.key', 'tls.crt'].find((key) => tls.data?.[key] === undefined)
    if (missing !== undefined)
      return `could not generate IRI configs: cannot find ${missing} in secret ${REGISTRY_TLS.name}`
    const parts = { tls, account, rootCa: certificateOf(tls), image: registryImage(release) }
    for (const role of ROLES) await this.#writeConfig(role, parts, release)
    return undefined
  }

  /**
   * The release that has made a MachineConfig stays in its annotation when a later operator renders it again: only the
   * creation writes it (internalreleaseimage_renderer.go createEmptyMachineConfig).
   */
  async #writeConfig(role: Role, parts: RegistryParts, release: string): Promise<void> {
    const { kube, behaviours, announce } = this.#parts
    const { metadata, ...wanted } = registryConfig(role, parts)
    const annotations = { [GENERATED_BY]: release }
    const current = await kube.find('MachineConfig', { name: metadata.name })
    if (!current) {
      await createIfAbsent(() => kube.create<'MachineConfig'>({ ...wanted, metadata: { ...metadata, annotations } }))
      const because = role === 'master' ? 'each node of the control plane runs a registry' : 'nodes trust that registry'
      announce({ actor: MACHINE_CONFIG_OPERATOR, does: `creates MachineConfig ${metadata.name}`, because })
      return
    }
    const isStamped =
      behaviours.of(release).has(KEEPS_REGISTRY_STAMP) || current.metadata.annotations?.[GENERATED_BY] === release
    if (isStamped && isDeepStrictEqual(current.spec, JSON.parse(JSON.stringify(wanted.spec)))) return
    await kube.update<'MachineConfig'>({
      ...current,
      spec: wanted.spec,
      metadata: isStamped
        ? current.metadata
        : { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } },
    })
  }

  async #addFinalizer({ metadata }: InternalReleaseImage): Promise<void> {
    const finalizers = metadata.finalizers ?? []
    if (finalizers.includes(INTERNAL_RELEASE_FINALIZER)) return
    await this.#parts.kube.patch('InternalReleaseImage', INTERNAL_RELEASE, {
      metadata: { finalizers: [...finalizers, INTERNAL_RELEASE_FINALIZER] },
    })
  }

  /** Switches the registries off, and lets the object go. */
  async #stop({ metadata }: InternalReleaseImage, isStopped: boolean): Promise<void> {
    const { kube, announce } = this.#parts
    if ((metadata.finalizers ?? []).length === 0) return
    const name = internalReleaseConfig('master')
    if (isStopped) {
      const config = await kube.find('MachineConfig', { name })
      if (config) await kube.update<'MachineConfig'>({ ...config, spec: registryConfig('master', undefined).spec })
    }
    await kube.patch('InternalReleaseImage', INTERNAL_RELEASE, { metadata: { finalizers: [] } })
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: isStopped ? `switches the registry off in MachineConfig ${name}` : 'lets the internal release image go',
      because: 'its InternalReleaseImage is deleted',
    })
  }

  async #report(failure: string | undefined): Promise<void> {
    const { kube, clock, internalRegistry: own } = this.#parts
    const latest = await kube.find('InternalReleaseImage', INTERNAL_RELEASE)
    if (!latest) return
    const nodes = (await kube.list('Node')).items.filter(isOfControlPlane)
    const names = nodes.map(({ metadata }) => metadata.name)
    const reports = (await kube.list('MachineConfigNode')).items.filter(({ metadata }) => names.includes(metadata.name))
    // A cluster with other registries has no such storage on its nodes: their units start nothing.
    const { host, isServed } = own ?? { host: await clusterRegistry(kube), isServed: false }
    const payload = (await kube.find('ClusterVersion', { name: 'version' }))?.status?.desired.image ?? ''
    const found = { host, isServed, nodes, reports: reports.sort(byName), payload, ...defined({ failure }) }
    const status = internalReleaseStatus(latest, found, clock)
    if (isDeepStrictEqual(status, latest.status)) return
    try {
      await kube.updateStatus<'InternalReleaseImage'>({ ...latest, status })
    } catch (error) {
      // Another client has written it; that is a reason to look again.
      if (!isRefusal(error, 409)) throw error
      return
    }
    this.#announce(status)
  }

  #announce({ conditions }: NonNullable<InternalReleaseImage['status']>): void {
    const { reason, message } = conditionOf(conditions, 'Degraded') ?? {}
    if (this.#announced === message || message === undefined) return
    this.#announced = message
    this.#parts.announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `reports the internal release image as ${reason ?? ''}`,
      because: message,
    })
  }
}

const missingSecret = (name: string): string => `could not get Secret ${name}: secret "${name}" not found`

const byName = (a: { metadata: { name: string } }, b: { metadata: { name: string } }): number =>
  a.metadata.name < b.metadata.name ? -1 : 1

const isOfControlPlane = ({ metadata: { labels = {} } }: KubeNode): boolean =>
  CONTROL_PLANE.some((label) => label in labels)

const certificateOf = ({ data = {} }: Secret): string => Buffer.from(data['tls.crt'] ?? '', 'base64').toString()

/** The container with the registry, which is in each release. */
const registryImage = (release: string): string =>
  `quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:${sha256Hex(`docker-registry ${release}`)}`
