import type { KubeObject } from '../object.js'

/** Settings with which the bare metal platform installs a machine (BareMetalMachineProviderSpec). */
export interface BareMetalProviderSpec {
  hostSelector?: { matchLabels?: Record<string, string> }
  image?: { url?: string; checksum?: string; checksumType?: string; format?: string }
  customDeploy?: { method: string }
  userData?: { name: string; namespace?: string }
}

/**
 * Settings with which clouds make a machine, as far as its boot image is concerned: GCPMachineProviderSpec,
 * AWSMachineProviderConfig, AzureMachineProviderSpec, VSphereMachineProviderSpec of openshift/api machine/v1beta1.
 */
interface CloudProviderSpec {
  /** Disks of an instance on GCP; the one to boot from has an image: `projects/rhcos-cloud/global/images/NAME`. */
  disks?: { boot?: boolean; image?: string; [member: string]: unknown }[]
  /** Image on AWS. */
  ami?: { id?: string }
  placement?: { region?: string }
  /** Image on Azure, of its marketplace or uploaded. */
  image?: Partial<Record<'offer' | 'publisher' | 'resourceID' | 'sku' | 'version' | 'type', string>>
  securityProfile?: { settings?: { securityType?: string } }
  userDataSecret?: { name: string }
}

/** Settings of a machine on its platform. */
export type MachineProviderSpec = BareMetalProviderSpec & CloudProviderSpec

/** A computer that the cluster wants to have, and the host that became it. */
export interface KubeMachine extends KubeObject<'Machine'> {
  spec: { providerSpec: { value?: MachineProviderSpec }; providerID?: string }
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

/** The machines of a control plane, which are replaced when their settings change. There is one, named `cluster`. */
export interface ControlPlaneMachineSet extends KubeObject<'ControlPlaneMachineSet'> {
  spec: {
    state?: 'Active' | 'Inactive'
    replicas: number
    strategy: { type: 'RollingUpdate' | 'OnDelete' }
    selector: { matchLabels?: Record<string, string> }
    template: {
      machineType: 'machines_v1beta1_machine_openshift_io'
      machines_v1beta1_machine_openshift_io: {
        metadata: { labels: Record<string, string> }
        spec: KubeMachine['spec']
        [member: string]: unknown
      }
    }
  }
  status?: Record<string, unknown>
}
