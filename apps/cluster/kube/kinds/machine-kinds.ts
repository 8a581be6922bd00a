import type { KubeObject } from '../object.js'

/** Settings with which the bare metal platform installs a machine (BareMetalMachineProviderSpec). */
export interface BareMetalProviderSpec {
  hostSelector?: { matchLabels?: Record<string, string> }
  image?: { url?: string; checksum?: string; checksumType?: string; format?: string }
  customDeploy?: { method: string }
  userData?: { name: string; namespace?: string }
}

/** A computer that the cluster wants to have, and the host that became it. */
export interface KubeMachine extends KubeObject<'Machine'> {
  spec: { providerSpec: { value?: BareMetalProviderSpec }; providerID?: string }
  status?: { phase?: 'Provisioning' | 'Provisioned' | 'Running' | 'Deleting' | 'Failed'; nodeRef?: { name: string } }
}

export interface MachineSet extends KubeObject<'MachineSet'> {
  spec: {
    replicas: number
    selector: { matchLabels?: Record<string, string> }
    template: { metadata?: { labels?: Record<string, string> }; spec: KubeMachine['spec'] }
  }
  status?: { replicas: number; readyReplicas?: number; availableReplicas?: number }
}
