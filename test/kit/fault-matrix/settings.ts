/**
 * Options of `ironic.conf` in the matrix, on both sides: time limits that a test can wait for, and nothing that happens by
 * itself. The times are those that a real Ironic keeps on a slow computer that does other work.
 */
export const MATRIX_SETTINGS = {
  DEFAULT: {
    default_rescue_interface: 'agent',
    // Reading settings and firmware takes a real Ironic longer than all the rest of a flow.
    default_bios_interface: 'no-bios',
    default_firmware_interface: 'no-firmware',
  },
  conductor: {
    automated_clean: 'true',
    deploy_callback_timeout: 180,
    clean_callback_timeout: 180,
    inspect_wait_timeout: 180,
    rescue_callback_timeout: 180,
    service_callback_timeout: 180,
    check_provision_state_interval: 5,
    power_state_change_timeout: 30,
    sync_power_state_interval: 0,
    power_failure_recovery_interval: 0,
  },
  agent: {
    // An agent that names a stale address names one without TLS.
    require_tls: 'false',
    command_timeout: 20,
    max_command_attempts: 2,
    post_deploy_get_power_state_retries: 2,
    post_deploy_get_power_state_retry_interval: 1,
    deploy_logs_collect: 'on_failure',
  },
  api: { ramdisk_heartbeat_timeout: 15 },
  deploy: {
    fast_track: 'false',
    erase_devices_priority: 0,
    erase_devices_metadata_priority: 10,
  },
  redfish: { connection_attempts: 2, connection_retry_interval: 1 },
  inspector: { require_managed_boot: 'false', power_off: 'true' },
} as const
