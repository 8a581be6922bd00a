/** Settings in which two templates of `ironic.conf` differ. */
interface ImageSettings {
  /** Lines of `[DEFAULT]` about deploy interfaces. */
  deployInterfaces: readonly string[]
  /** `kernel_append_params`, for network boot and virtual media. */
  kernelParameters: string
  /** `[inspector]extra_kernel_params` */
  inspectionParameters: string
}

/**
 * An `ironic.conf` over Ironic's defaults, as the images of Metal3 and of OpenShift render it. Interfaces of hardware that
 * is not simulated are left out.
 */
const renderedConf = ({ deployInterfaces, kernelParameters, inspectionParameters }: ImageSettings): string => `
[DEFAULT]
auth_strategy = noauth
enabled_hardware_types = ipmi,idrac,fake-hardware,redfish,manual-management
${deployInterfaces.join('\n')}
default_inspect_interface = agent
default_network_interface = noop
enabled_bios_interfaces = no-bios,redfish,idrac-redfish
enabled_boot_interfaces = ipxe,pxe,fake,redfish-virtual-media,idrac-redfish-virtual-media,redfish-https
enabled_console_interfaces = no-console
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
kernel_append_params = ${kernelParameters}

[redfish]
kernel_append_params = ${kernelParameters}

[inspector]
require_managed_boot = false
hooks = $default_hooks,parse-lldp
add_ports = all
keep_ports = present
extra_kernel_params = ${inspectionParameters}
`

const METAL3 = renderedConf({
  deployInterfaces: [
    'default_deploy_interface = autodetect',
    'autodetect_deploy_interfaces = ramdisk,bootc,direct',
    'enabled_deploy_interfaces = autodetect,direct,fake,ramdisk,custom-agent,bootc',
  ],
  kernelParameters: 'nofb nomodeset vga=normal ipa-insecure=1',
  inspectionParameters:
    'ipa-inspection-collectors=default,logs ipa-inspection-dhcp-all-interfaces=1 ipa-collect-lldp=1',
})

/**
 * openshift/ironic-image 6bb0a44 (ironic-config/ironic.conf.j2), with the environment that cluster-baremetal-operator
 * 4ecb36c sets (provisioning/baremetal_pod.go) for a provisioning network of IPv4.
 */
const OPENSHIFT = renderedConf({
  deployInterfaces: [
    'default_deploy_interface = direct',
    'enabled_deploy_interfaces = direct,fake,ramdisk,custom-agent,bootc',
  ],
  kernelParameters:
    'nofb nomodeset vga=normal ipa-insecure=1 rd.net.timeout.carrier=30 ip=dhcp systemd.journald.forward_to_console=yes',
  inspectionParameters:
    'ipa-inspection-collectors=default,logs ipa-enable-vlan-interfaces=all ipa-inspection-dhcp-all-interfaces=1 ipa-collect-lldp=1',
})

export const CONFIG_PROFILES = {
  metal3: METAL3,
  openshift: OPENSHIFT,
  /** Ironic's own defaults, with every simulated interface enabled. */
  upstream: '',
} as const

/** Set of defaults for the mock Ironic. */
export type ProfileName = keyof typeof CONFIG_PROFILES

export const PROFILE_NAMES = Object.keys(CONFIG_PROFILES) as readonly ProfileName[]
