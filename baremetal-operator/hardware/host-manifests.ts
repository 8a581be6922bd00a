import type { Kube, ObjectName } from '../../base/kubernetes/index.js'
import { copyJson } from '../../base/kubernetes/index.js'
import type { BareMetalHostManifest, OtherManifest } from '../manifests/manifest-types.js'
import type { HostManifests } from '../manifests/wanted-hosts.js'

/** Objects of an API that say what machine a host has; undefined where there is no such host. */
export function hostManifestsOf(store: Kube['store'], at: ObjectName): HostManifests | undefined {
  const host = store.find('BareMetalHost', at)
  if (!host) return undefined
  const hardware = store.find('HardwareData', at)
  return {
    host: { spec: { online: false }, ...copyJson(host) } as unknown as BareMetalHostManifest,
    secrets: [],
    others: hardware ? [copyJson(hardware) as unknown as OtherManifest] : [],
  }
}
