import { minutes, seconds } from '../../runtime/index.js'

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
  /** `[conductor]check_provision_state_interval`: when a time limit is looked at again that could not be applied. */
  checkInterval: number
  /** `[conductor]power_state_change_timeout` */
  powerStateChangeTimeout: number
  /** `[conductor]sync_power_state_interval` */
  powerSyncInterval: number
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
  /** `[deploy]erase_devices_priority`, `erase_devices_metadata_priority`; null leaves the agent's. */
  eraseDevicesPriority: number | null
  eraseDevicesMetadataPriority: number | null
  /** `[inspector]power_off` */
  inspectionPowerOff: boolean
  /** Ask the machines also for `fake-hardware` nodes, which otherwise only remember what they were told. */
  fakeHardwareMachines: boolean
  /** Refuse to take a step for done whose agent came back with an empty command list; upstream moves on. */
  strictSteps: boolean
}

export const UPSTREAM_POLICY: Policy = {
  automatedClean: true,
  allowDeletingAvailableNodes: true,
  deployCallbackTimeout: minutes(30),
  cleanCallbackTimeout: minutes(30),
  inspectWaitTimeout: minutes(30),
  checkInterval: seconds(60),
  powerStateChangeTimeout: seconds(60),
  powerSyncInterval: seconds(120),
  nodeHistory: true,
  heartbeatTimeout: 300,
  restrictLookup: true,
  requireTls: false,
  agentCommandTimeout: seconds(60),
  agentCommandAttempts: 3,
  agentPowerOffPolls: 6,
  agentPowerOffInterval: seconds(5),
  fastTrack: false,
  eraseDevicesPriority: null,
  eraseDevicesMetadataPriority: null,
  inspectionPowerOff: true,
  fakeHardwareMachines: false,
  strictSteps: false,
}
