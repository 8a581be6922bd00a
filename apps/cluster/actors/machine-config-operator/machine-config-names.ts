// Names of machine-config-operator 7ff337a: pkg/daemon/constants/constants.go, pkg/controller/common/constants.go,
// manifests/ (pools), pkg/operator/status.go.

export const MACHINE_CONFIG_OPERATOR = 'machine-config-operator'
export const MACHINE_CONFIG_NAMESPACE = 'openshift-machine-config-operator'
/** Where the user data of new machines is. */
export const MACHINE_API = 'openshift-machine-api'

const GROUP = 'machineconfiguration.openshift.io'

/** Annotations of a Node, between the controllers and the daemon of that computer. */
export const CURRENT_CONFIG = `${GROUP}/currentConfig`
export const DESIRED_CONFIG = `${GROUP}/desiredConfig`
export const STATE = `${GROUP}/state`
export const REASON = `${GROUP}/reason`
export const DESIRED_DRAIN = `${GROUP}/desiredDrain`
export const LAST_APPLIED_DRAIN = `${GROUP}/lastAppliedDrain`
export const FIRST_PIVOT_CONFIG = `${GROUP}/firstPivotConfig`

export type DaemonState = 'Working' | 'Done' | 'Degraded'

/** Label of the MachineConfigs of a role. */
export const ROLE = `${GROUP}/role`
export const GENERATED_BY = `${GROUP}/generated-by-controller-version`
/** Label of the pools that an upgrade of the cluster waits for. */
export const REQUIRED_FOR_UPGRADE = 'operator.machineconfiguration.openshift.io/required-for-upgrade'

export const ROLES = ['master', 'worker'] as const
export type Role = (typeof ROLES)[number]
export const nodeRoleLabel = (role: string): string => `node-role.kubernetes.io/${role}`

/** Files on the disk of a computer. */
export const ENCAPSULATED = '/etc/ignition-machine-config-encapsulated.json'
export const NODE_ANNOTATIONS = '/etc/machine-config-daemon/node-annotations.json'
/** The configuration that the machine config server sent. */
export const INITIAL_CONFIG = '/etc/mcs-machine-config-content.json'
/** The configuration that the daemon has applied. */
export const ON_DISK_CONFIG = '/etc/machine-config-daemon/currentconfig'
export const SYSTEMD = '/etc/systemd/system'

/** ConfigMaps that a release brings. */
export const OS_IMAGE = { name: 'machine-config-osimageurl', namespace: MACHINE_CONFIG_NAMESPACE }
export const BOOT_IMAGES = { name: 'coreos-bootimages', namespace: MACHINE_CONFIG_NAMESPACE }
/** Keys of {@link BOOT_IMAGES} that the operator adds once a node of the control plane runs the release. */
export const STAMPED_HASH = 'MCOVersionHash'
export const STAMPED_RELEASE = 'MCOReleaseImageVersion'
export const CLUSTER_OPERATOR = { name: 'machine-config' }
/** The MachineConfiguration with the operator's settings. */
export const OWN_SETTINGS = { name: 'cluster' }
