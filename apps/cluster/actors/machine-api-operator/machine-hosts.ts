import { defined } from '../../../../base/runtime/index.js'
import { apiVersionOf } from '../../kube/kinds.js'
import type { BareMetalProviderSpec, KubeMachine } from '../../kube/kinds/machine-kinds.js'
import type { BareMetalHost } from '../../kube/kinds/metal3-kinds.js'
import { HOST_ANNOTATION } from './machine-api-names.js'

// As cluster-api-provider-baremetal f2b0db1 pkg/cloud/baremetal/actuators/machine/actuator.go.

const API = apiVersionOf('Machine')

export const providerSpecOf = ({ spec }: KubeMachine): BareMetalProviderSpec => spec.providerSpec.value ?? {}

export function isConsumedBy({ spec }: BareMetalHost, { metadata }: KubeMachine): boolean {
  const { consumerRef } = spec
  return (
    consumerRef?.kind === 'Machine' &&
    consumerRef.apiVersion === API &&
    consumerRef.name === metadata.name &&
    consumerRef.namespace === metadata.namespace
  )
}

/** Whether a host can become a machine: inspected, not in use, without an error. */
export const isFree = ({ metadata, spec, status }: BareMetalHost): boolean =>
  spec.consumerRef === undefined &&
  metadata.deletionTimestamp === undefined &&
  ['ready', 'available'].includes(status?.provisioning.state ?? '') &&
  (status?.errorMessage ?? '') === '' &&
  spec['externallyProvisioned'] !== true

export function matchesSelector({ metadata }: BareMetalHost, { hostSelector }: BareMetalProviderSpec): boolean {
  const wanted = Object.entries(hostSelector?.matchLabels ?? {})
  return wanted.every(([key, value]) => metadata.labels?.[key] === value)
}

/** The name of the host that a machine says it is, by its provider's id or its annotation. */
export function machineHostOf({
  metadata,
  spec,
}: KubeMachine): { namespace: string; name: string; uid?: string } | undefined {
  const [, namespace, name, uid] =
    /^baremetalhost:\/\/\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(spec.providerID ?? '') ?? []
  if (namespace !== undefined && name !== undefined) return { namespace, name, ...defined({ uid }) }
  const [space, host] = metadata.annotations?.[HOST_ANNOTATION]?.split('/') ?? []
  return space !== undefined && host !== undefined ? { namespace: space, name: host } : undefined
}

export const providerIdOf = ({ metadata }: BareMetalHost): string =>
  `baremetalhost:///${metadata.namespace}/${metadata.name}/${metadata.uid}`

/** The host as it is to be provisioned for a machine. */
export function claimHost(host: BareMetalHost, machine: KubeMachine): BareMetalHost {
  const { image, customDeploy, userData } = providerSpecOf(machine)
  const { name, namespace = '' } = machine.metadata
  return {
    ...host,
    spec: {
      ...host.spec,
      ...(image?.url && image.checksum ? { image } : {}),
      ...(customDeploy?.method ? { customDeploy } : {}),
      ...defined({ userData: userData ? { ...userData, namespace: userData.namespace ?? namespace } : undefined }),
      consumerRef: { kind: 'Machine', name, namespace, apiVersion: API },
      online: true,
    },
  }
}

/** The host without what its machine had put on it. */
export function clearHost(host: BareMetalHost): BareMetalHost {
  const { image: _, customDeploy: __, userData: ___, ...spec } = host.spec
  return { ...host, spec: { ...spec, online: false } }
}

export const isEmptied = ({ spec }: BareMetalHost): boolean =>
  spec.image === undefined && spec.customDeploy === undefined && spec.userData === undefined

export function releaseHost(host: BareMetalHost): BareMetalHost {
  const { consumerRef: _, ...spec } = host.spec
  return { ...host, spec }
}
