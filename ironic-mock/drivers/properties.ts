/** What the agent's deploy and boot interfaces read of `driver_info`, in words of our own; the names are Ironic's. */
const AGENT: Readonly<Record<string, string>> = {
  deploy_kernel: 'Kernel of the deploy ramdisk. Fetched where [ironstage]fetch_boot_images says so.',
  deploy_ramdisk: 'The deploy ramdisk. Fetched where [ironstage]fetch_boot_images says so.',
  image_http_proxy: 'Proxy for images fetched over HTTP. Optional.',
  image_https_proxy: 'Proxy for images fetched over HTTPS. Optional.',
  image_no_proxy: 'Hosts, comma-separated, whose images are fetched without a proxy. Optional.',
  image_download_source: 'Where images come from: swift, http or local. Optional.',
  deploy_forces_oob_reboot: 'Reboot through the BMC at the end of a deployment, for ramdisks that cannot. Optional.',
  agent_verify_ca: 'How the TLS certificate of the agent is verified: a boolean, or a path. Optional.',
}

const REDFISH: Readonly<Record<string, string>> = {
  redfish_address: 'URL of the Redfish service; https without a scheme. Required.',
  redfish_system_id: 'Path of the ComputerSystem, needed where the service has more than one.',
  redfish_username: 'Account with administrative access. Recommended.',
  redfish_password: 'Its password. Recommended.',
  redfish_verify_ca: 'How the TLS certificate of the service is verified: a boolean, or a path. Optional.',
  deploy_iso: 'A live ISO with the agent in it, for virtual media, in place of kernel and ramdisk. Optional.',
  redfish_auth_type: 'basic, session or auto. Optional.',
  force_persistent_boot_device: 'Default, Always or Never. Optional.',
  kernel_append_params: 'Kernel parameters for the ramdisk; %default% stands for the configured ones. Optional.',
}

const IPMI: Readonly<Record<string, string>> = {
  ipmi_address: 'Address or name of the BMC. Required.',
  ipmi_port: 'Its UDP port, 623 when not given.',
  ipmi_username: 'Account; anonymous when not given.',
  ipmi_password: 'Its password. Optional.',
  ipmi_priv_level: 'Privilege level: ADMINISTRATOR when not given.',
  force_persistent_boot_device: 'Default, Always or Never. Optional.',
  kernel_append_params: 'Kernel parameters for the ramdisk; %default% stands for the configured ones. Optional.',
}

const FAKE: Readonly<Record<string, string>> = {
  B1: 'Read by the fake vendor interface. Required by its methods.',
  B2: 'Read by the fake vendor interface. Required by its methods.',
}

/** `GET /v1/drivers/X/properties`. */
export function driverProperties(family: 'fake' | 'ipmi' | 'manual' | 'redfish'): Readonly<Record<string, string>> {
  switch (family) {
    case 'fake':
      return { ...AGENT, ...FAKE }
    case 'ipmi':
      return { ...AGENT, ...IPMI }
    case 'manual':
      return AGENT
    case 'redfish':
      return { ...AGENT, ...REDFISH }
  }
}
