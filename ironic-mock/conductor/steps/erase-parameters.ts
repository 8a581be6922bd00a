/** Fields of `driver_internal_info` for the agent's erase steps; upstream's defaults, as recorded. */
export const ERASE_PARAMETERS = {
  agent_erase_devices_iterations: 1,
  agent_erase_devices_zeroize: true,
  agent_continue_if_secure_erase_failed: false,
  agent_continue_if_ata_erase_failed: false,
  agent_enable_nvme_secure_erase: true,
  agent_enable_ata_secure_erase: true,
  disk_erasure_concurrency: 4,
  agent_erase_skip_read_only: false,
} as const
