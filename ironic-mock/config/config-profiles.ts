/**
 * Settings of Metal3's ironic-image, as an `ironic.conf` over Ironic's defaults. Interfaces of hardware that is not
 * simulated are left out.
 */
const METAL3 = `
[DEFAULT]
auth_strategy = noauth
enabled_hardware_types = ipmi,idrac,fake-hardware,redfish,manual-management
default_deploy_interface = autodetect
autodetect_deploy_interfaces = ramdisk,bootc,direct
default_inspect_interface = agent
default_network_interface = noop
enabled_bios_interfaces = no-bios,redfish,idrac-redfish
enabled_boot_interfaces = ipxe,pxe,fake,redfish-virtual-media,idrac-redfish-virtual-media,redfish-https
enabled_console_interfaces = no-console
enabled_deploy_interfaces = autodetect,direct,fake,ramdisk,custom-agent,bootc
enabled_firmware_interfaces = no-firmware,fake,redfish
enabled_inspect_interfaces = agent,fake,redfish
enabled_management_interfaces = ipmitool,fake,redfish,idrac-redfish,noop
enabled_network_interfaces = noop
enabled_power_interfaces = ipmitool,fake,redfish,idrac-redfish
enabled_raid_interfaces = no-raid,agent,fake,redfish,idrac-redfish
enabled_rescue_interfaces = no-rescue
enabled_storage_interfaces = noop
enabled_vendor_interfaces = no-vendor,ipmitool,idrac-redfish,redfish,fake

[agent]
deploy_logs_collect = always
max_command_attempts = 30

[conductor]
automated_clean = true
deploy_callback_timeout = 4800
power_state_change_timeout = 120
node_history = false

[deploy]
fast_track = true
erase_devices_priority = 0
erase_devices_metadata_priority = 10

[pxe]
kernel_append_params = nofb nomodeset vga=normal ipa-insecure=1

[redfish]
kernel_append_params = nofb nomodeset vga=normal ipa-insecure=1

[inspector]
require_managed_boot = false
hooks = $default_hooks,parse-lldp
add_ports = all
keep_ports = present
extra_kernel_params = ipa-inspection-collectors=default,logs ipa-inspection-dhcp-all-interfaces=1 ipa-collect-lldp=1
`

export const CONFIG_PROFILES = {
  metal3: METAL3,
  /** Ironic's own defaults, with every simulated interface enabled. */
  upstream: '',
} as const

/** Set of defaults for the mock Ironic. */
export type ProfileName = keyof typeof CONFIG_PROFILES
