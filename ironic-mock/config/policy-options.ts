import { anyText, oneOf, wordList, yesOrNo, type Setting } from '../../runtime/index.js'
import { INSPECTION_HOOKS, UPSTREAM_INSPECTION, type InspectionPolicy } from '../conductor/inspection-policy.js'
import type { Policy } from '../conductor/policy.js'
import { at, inSeconds, pairs, priority, whole, wordsOf, type Option } from './option.js'

/** Options that name a file whose document is the policy's value. */
export const DOCUMENT_OPTIONS = {
  knownAccelerators: at('inspector', 'known_accelerators', anyText),
  builtInRules: at('inspection_rules', 'built_in_rules', anyText),
} as const satisfies Partial<Record<keyof InspectionPolicy, Option<string>>>

type Options<Of> = { readonly [K in keyof Of]: Option<Of[K]> }

/** Where each member of the policy stands in `ironic.conf`; those in `[ironstage]` are ours. */
export const POLICY_OPTIONS: Options<Omit<Policy, 'inspection'>> = {
  automatedClean: at('conductor', 'automated_clean', yesOrNo),
  allowDeletingAvailableNodes: at('conductor', 'allow_deleting_available_nodes', yesOrNo),
  deployCallbackTimeout: at('conductor', 'deploy_callback_timeout', inSeconds),
  cleanCallbackTimeout: at('conductor', 'clean_callback_timeout', inSeconds),
  inspectWaitTimeout: at('conductor', 'inspect_wait_timeout', inSeconds),
  serviceCallbackTimeout: at('conductor', 'service_callback_timeout', inSeconds),
  rescueCallbackTimeout: at('conductor', 'rescue_callback_timeout', inSeconds),
  checkInterval: at('conductor', 'check_provision_state_interval', inSeconds),
  powerStateChangeTimeout: at('conductor', 'power_state_change_timeout', inSeconds),
  softPowerOffTimeout: at('conductor', 'soft_power_off_timeout', inSeconds),
  powerSyncInterval: at('conductor', 'sync_power_state_interval', inSeconds),
  powerSyncMaxRetries: at('conductor', 'power_state_sync_max_retries', whole),
  forcePowerDuringSync: at('conductor', 'force_power_state_during_sync', yesOrNo),
  powerFailureRecoveryInterval: at('conductor', 'power_failure_recovery_interval', inSeconds),
  nodeLockedRetryAttempts: at('conductor', 'node_locked_retry_attempts', whole),
  nodeLockedRetryInterval: at('conductor', 'node_locked_retry_interval', inSeconds),
  maxConcurrentDeploy: at('conductor', 'max_concurrent_deploy', whole),
  maxConcurrentClean: at('conductor', 'max_concurrent_clean', whole),
  maxWaitStep: at('conductor', 'max_conductor_wait_step_seconds', inSeconds),
  powerOffInCleanFail: at('conductor', 'poweroff_in_cleanfail', yesOrNo),
  powerOffInServiceFail: at('conductor', 'poweroff_in_servicefail', yesOrNo),
  allowProvisioningInMaintenance: at('conductor', 'allow_provisioning_in_maintenance', yesOrNo),
  cleanStepPriorityOverride: at('conductor', 'clean_step_priority_override', pairs(whole)),
  disallowCleanSteps: at('api', 'disallow_clean_steps', wordList),
  disallowDeploySteps: at('api', 'disallow_deploy_steps', wordList),
  disallowServiceSteps: at('api', 'disallow_service_steps', wordList),
  nodeHistory: at('conductor', 'node_history', yesOrNo),
  heartbeatTimeout: at('api', 'ramdisk_heartbeat_timeout', whole),
  restrictLookup: at('api', 'restrict_lookup', yesOrNo),
  requireTls: at('agent', 'require_tls', yesOrNo),
  agentCommandTimeout: at('agent', 'command_timeout', inSeconds),
  agentCommandAttempts: at('agent', 'max_command_attempts', whole),
  agentPowerOffPolls: at('agent', 'post_deploy_get_power_state_retries', whole),
  agentPowerOffInterval: at('agent', 'post_deploy_get_power_state_retry_interval', inSeconds),
  fastTrack: at('deploy', 'fast_track', yesOrNo),
  fastTrackTimeout: at('deploy', 'fast_track_timeout', inSeconds),
  eraseDevicesPriority: at('deploy', 'erase_devices_priority', priority),
  eraseDevicesMetadataPriority: at('deploy', 'erase_devices_metadata_priority', priority),
  deleteConfigurationPriority: at('deploy', 'delete_configuration_priority', priority),
  createConfigurationPriority: at('deploy', 'create_configuration_priority', priority),
  autodetectDeployInterfaces: at('DEFAULT', 'autodetect_deploy_interfaces', wordList),
  deployLogsCollect: at('agent', 'deploy_logs_collect', oneOf('always', 'on_failure', 'never')),
  agentCommandPolls: at('agent', 'command_wait_attempts', whole),
  agentCommandInterval: at('agent', 'command_wait_interval', inSeconds),
  powerOffAfterDeployFailure: at('deploy', 'power_off_after_deploy_failure', yesOrNo),
  inspectionPowerOff: at('inspector', 'power_off', yesOrNo),
  fakeHardwareMachines: at('ironstage', 'fake_hardware_machines', yesOrNo),
  fetchBootImages: at('ironstage', 'fetch_boot_images', yesOrNo),
  deployIso: at('ironstage', 'deploy_iso', anyText),
  deployKernel: at('conductor', 'deploy_kernel', anyText),
  deployRamdisk: at('conductor', 'deploy_ramdisk', anyText),
  deployKernelByArch: at('conductor', 'deploy_kernel_by_arch', pairs(anyText)),
  deployRamdiskByArch: at('conductor', 'deploy_ramdisk_by_arch', pairs(anyText)),
  pxeKernelAppendParams: at('pxe', 'kernel_append_params', anyText, { section: 'pxe', name: 'pxe_append_params' }),
  redfishKernelAppendParams: at('redfish', 'kernel_append_params', anyText),
  strictSteps: at('ironstage', 'strict_steps', yesOrNo),
  dropReservedSteps: at('ironstage', 'drop_reserved_steps', yesOrNo),
}

/** `$default_hooks` stands for those that run where nothing is configured. */
const hooks = (defaults: InspectionPolicy['hooks']): Setting<InspectionPolicy['hooks']> => ({
  read: (text) => wordsOf(INSPECTION_HOOKS).read(text.replaceAll('$default_hooks', defaults.join(','))),
})

/** JSON objects, one a line. */
const aliases: Setting<InspectionPolicy['pciDeviceAliases']> = {
  read: (text) =>
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const expected = 'JSON like {"vendor_id": "1234", "product_id": "5678", "name": "pci_dev1"}'
        let alias: unknown
        try {
          alias = JSON.parse(line)
        } catch {
          throw expected
        }
        const { vendor_id, product_id, name } = (alias ?? {}) as Record<string, unknown>
        if (typeof vendor_id !== 'string' || typeof product_id !== 'string' || typeof name !== 'string') throw expected
        return { vendor_id, product_id, name }
      }),
}

export const INSPECTION_OPTIONS: Options<Omit<InspectionPolicy, keyof typeof DOCUMENT_OPTIONS>> = {
  hooks: at('inspector', 'hooks', hooks(UPSTREAM_INSPECTION.hooks)),
  redfishHooks: at('redfish', 'inspection_hooks', hooks(UPSTREAM_INSPECTION.redfishHooks)),
  addPorts: at('inspector', 'add_ports', oneOf('all', 'active', 'pxe', 'disabled')),
  keepPorts: at('inspector', 'keep_ports', oneOf('all', 'present', 'added')),
  updatePxeEnabled: at('inspector', 'update_pxe_enabled', yesOrNo),
  preCreatePorts: at('inspector', 'pre_create_ports', yesOrNo),
  requireManagedBoot: at('inspector', 'require_managed_boot', yesOrNo),
  cpuCapabilities: at('inspector', 'cpu_capabilities', pairs(anyText)),
  extraHardwareStrict: at('inspector', 'extra_hardware_strict', yesOrNo),
  pciDeviceAliases: at('inspector', 'pci_device_alias', aliases),
  physicalNetworks: at('inspector', 'physical_network_cidr_map', wordList),
  diskPartitioningSpacing: at('inspector', 'disk_partitioning_spacing', yesOrNo),
  maskSecrets: at('inspection_rules', 'mask_secrets', oneOf('always', 'never', 'sensitive')),
}
