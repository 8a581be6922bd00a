import { minutes, seconds } from '../../runtime/index.js'
import { UPSTREAM_INSPECTION, type InspectionPolicy } from './inspection-policy.js'

/**
 * What an operator of Ironic configures, as far as it shows. Times in milliseconds; 0 switches a time limit off. The
 * defaults are upstream's, except where a comment says otherwise.
 */
export interface Policy {
  /** `[conductor]automated_clean`; a node's own `automated_clean` wins. */
  automatedClean: boolean
  /** `[conductor]allow_deleting_available_nodes` */
  allowDeletingAvailableNodes: boolean
  /** `[conductor]deploy_callback_timeout`, `clean_callback_timeout`, `inspect_wait_timeout` */
  deployCallbackTimeout: number
  cleanCallbackTimeout: number
  inspectWaitTimeout: number
  /** `[conductor]service_callback_timeout`, `rescue_callback_timeout` */
  serviceCallbackTimeout: number
  rescueCallbackTimeout: number
  /** `[conductor]check_provision_state_interval`: when a time limit is looked at again that could not be applied. */
  checkInterval: number
  /** `[conductor]power_state_change_timeout` */
  powerStateChangeTimeout: number
  /** `[conductor]soft_power_off_timeout`: of soft requests that name none. */
  softPowerOffTimeout: number
  /** `[conductor]sync_power_state_interval` */
  powerSyncInterval: number
  /** `[conductor]power_state_sync_max_retries`, `force_power_state_during_sync` */
  powerSyncMaxRetries: number
  forcePowerDuringSync: boolean
  /** `[conductor]power_failure_recovery_interval` */
  powerFailureRecoveryInterval: number
  /** `[conductor]node_locked_retry_attempts`, `node_locked_retry_interval` */
  nodeLockedRetryAttempts: number
  nodeLockedRetryInterval: number
  /** `[conductor]max_concurrent_deploy`, `max_concurrent_clean` */
  maxConcurrentDeploy: number
  maxConcurrentClean: number
  /** `[conductor]max_conductor_wait_step_seconds`, here in milliseconds. */
  maxWaitStep: number
  /** `[conductor]poweroff_in_cleanfail`, `poweroff_in_servicefail` */
  powerOffInCleanFail: boolean
  powerOffInServiceFail: boolean
  /** `[conductor]allow_provisioning_in_maintenance` */
  allowProvisioningInMaintenance: boolean
  /** `[conductor]clean_step_priority_override`: priorities by `interface.step`. */
  cleanStepPriorityOverride: Readonly<Record<string, number>>
  /** `[api]disallow_clean_steps`, `disallow_deploy_steps`, `disallow_service_steps`: as `interface.step`. */
  disallowCleanSteps: readonly string[]
  disallowDeploySteps: readonly string[]
  disallowServiceSteps: readonly string[]
  /** `[conductor]node_history` */
  nodeHistory: boolean
  /** `[api]ramdisk_heartbeat_timeout`, in seconds as the agent is told. */
  heartbeatTimeout: number
  /** `[api]restrict_lookup` */
  restrictLookup: boolean
  /** `[agent]require_tls`; upstream's default is true since 2025, which no lab without certificates can meet. */
  requireTls: boolean
  /** `[agent]command_timeout` */
  agentCommandTimeout: number
  /** `[agent]max_command_attempts` */
  agentCommandAttempts: number
  /** `[agent]post_deploy_get_power_state_retries` and `..._retry_interval` */
  agentPowerOffPolls: number
  agentPowerOffInterval: number
  /** `[deploy]fast_track` */
  fastTrack: boolean
  /** `[deploy]fast_track_timeout`: for how long after its last heartbeat an agent is thought to be alive. */
  fastTrackTimeout: number
  /** `[deploy]erase_devices_priority`, `erase_devices_metadata_priority`; null leaves the agent's. */
  eraseDevicesPriority: number | null
  eraseDevicesMetadataPriority: number | null
  /** `[deploy]delete_configuration_priority`, `create_configuration_priority` of the agent's RAID steps. */
  deleteConfigurationPriority: number | null
  createConfigurationPriority: number | null
  /** How inspection treats what it finds. */
  inspection: InspectionPolicy
  /** `[inspector]power_off` */
  inspectionPowerOff: boolean
  /** `[DEFAULT]autodetect_deploy_interfaces`, in the order in which they are tried. */
  autodetectDeployInterfaces: readonly string[]
  /** `[agent]deploy_logs_collect` */
  deployLogsCollect: 'always' | 'on_failure' | 'never'
  /** `[agent]command_wait_attempts` and `command_wait_interval`: how long installing a boot loader is waited for. */
  agentCommandPolls: number
  agentCommandInterval: number
  /** `[deploy]power_off_after_deploy_failure` */
  powerOffAfterDeployFailure: boolean
  /** Ask the machines also for `fake-hardware` nodes, which otherwise only remember what they were told. */
  fakeHardwareMachines: boolean
  /**
   * Machines really fetch what their ramdisks are booted from, so that a wrong URL is one; without, they have a ramdisk of
   * their own whatever Ironic is told.
   */
  fetchBootImages: boolean
  /** An ISO for nodes that boot from virtual media and have none of their own; empty for none. */
  deployIso: string
  /** `[conductor]deploy_kernel`, `deploy_ramdisk`, and by architecture */
  deployKernel: string
  deployRamdisk: string
  deployKernelByArch: Readonly<Record<string, string>>
  deployRamdiskByArch: Readonly<Record<string, string>>
  /** `[pxe]kernel_append_params`, `[redfish]kernel_append_params` */
  pxeKernelAppendParams: string
  redfishKernelAppendParams: string
  /** Refuse to take a step for done whose agent came back with an empty command list; upstream moves on. */
  strictSteps: boolean
  /**
   * Drop `hold`, `wait`, `power_on`, `power_off` and `reboot` from the steps of a clean, deploy or service request, as the
   * validation of Ironic 39.0.0 does against its own documentation (recorded); without it they run.
   */
  dropReservedSteps: boolean
}

export const UPSTREAM_POLICY: Policy = {
  automatedClean: true,
  allowDeletingAvailableNodes: true,
  deployCallbackTimeout: minutes(30),
  cleanCallbackTimeout: minutes(30),
  inspectWaitTimeout: minutes(30),
  serviceCallbackTimeout: minutes(30),
  rescueCallbackTimeout: minutes(30),
  checkInterval: seconds(60),
  powerStateChangeTimeout: seconds(60),
  softPowerOffTimeout: minutes(10),
  powerSyncInterval: seconds(120),
  powerSyncMaxRetries: 3,
  forcePowerDuringSync: true,
  powerFailureRecoveryInterval: seconds(300),
  nodeLockedRetryAttempts: 3,
  nodeLockedRetryInterval: seconds(1),
  maxConcurrentDeploy: 250,
  maxConcurrentClean: 50,
  maxWaitStep: seconds(30),
  powerOffInCleanFail: false,
  powerOffInServiceFail: false,
  allowProvisioningInMaintenance: true,
  cleanStepPriorityOverride: {},
  disallowCleanSteps: ['vendor.send_raw'],
  disallowDeploySteps: ['vendor.send_raw'],
  disallowServiceSteps: ['vendor.send_raw'],
  nodeHistory: true,
  heartbeatTimeout: 300,
  restrictLookup: true,
  requireTls: false,
  agentCommandTimeout: seconds(60),
  agentCommandAttempts: 3,
  agentPowerOffPolls: 6,
  agentPowerOffInterval: seconds(5),
  fastTrack: false,
  fastTrackTimeout: seconds(300),
  eraseDevicesPriority: null,
  eraseDevicesMetadataPriority: null,
  deleteConfigurationPriority: null,
  createConfigurationPriority: null,
  inspection: UPSTREAM_INSPECTION,
  inspectionPowerOff: true,
  autodetectDeployInterfaces: ['ramdisk', 'bootc', 'direct'],
  deployLogsCollect: 'on_failure',
  agentCommandPolls: 100,
  agentCommandInterval: seconds(6),
  powerOffAfterDeployFailure: true,
  fakeHardwareMachines: false,
  fetchBootImages: false,
  deployIso: '',
  deployKernel: '',
  deployRamdisk: '',
  deployKernelByArch: {},
  deployRamdiskByArch: {},
  pxeKernelAppendParams: 'nofb vga=normal',
  redfishKernelAppendParams: 'nofb vga=normal',
  strictSteps: false,
  dropReservedSteps: false,
}
