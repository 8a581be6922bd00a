import type { RedfishResource } from '../protocol/resource.js'
import { IDRAC_RESOURCES } from '../idrac/idrac-resources.js'
import { ACCOUNT_RESOURCES } from './account-resources.js'
import { BIOS_RESOURCES } from './bios-resources.js'
import { BOOT_RESOURCES } from './boot-resources.js'
import { CERTIFICATE_RESOURCES } from './certificate-resources.js'
import { CHASSIS_RESOURCES } from './chassis-resources.js'
import { ETHERNET_RESOURCES } from './ethernet-resources.js'
import { EVENT_RESOURCES } from './event-resources.js'
import { LOG_RESOURCES } from './log-resources.js'
import { MANAGER_RESOURCES } from './manager-resources.js'
import { NETWORK_ADAPTER_RESOURCES } from './adapter-resources.js'
import { PROCESSOR_RESOURCES } from './processor-resources.js'
import { REGISTRY_RESOURCES } from './registry-resources.js'
import { SCHEMA_RESOURCES } from './schema-resources.js'
import { SECURE_BOOT_RESOURCES } from './secure-boot-resources.js'
import { SENSOR_RESOURCES } from './sensor-resources.js'
import { SERVICE_ROOT } from './service-root.js'
import { SESSION_RESOURCES } from './session-resources.js'
import { STORAGE_RESOURCES } from './storage-resources.js'
import { SYSTEM_RESOURCES } from './system-resources.js'
import { TASK_RESOURCES } from './task-resources.js'
import { UPDATE_RESOURCES } from './update-resources.js'
import { VIRTUAL_MEDIA_RESOURCES } from './virtual-media-resources.js'

/** All resources of a service. */
export const REDFISH_RESOURCES: readonly RedfishResource[] = [
  ...SERVICE_ROOT,
  ...SESSION_RESOURCES,
  ...SYSTEM_RESOURCES,
  ...BOOT_RESOURCES,
  ...BIOS_RESOURCES,
  ...SECURE_BOOT_RESOURCES,
  ...ETHERNET_RESOURCES,
  ...STORAGE_RESOURCES,
  ...PROCESSOR_RESOURCES,
  ...MANAGER_RESOURCES,
  ...VIRTUAL_MEDIA_RESOURCES,
  ...IDRAC_RESOURCES,
  ...CHASSIS_RESOURCES,
  ...NETWORK_ADAPTER_RESOURCES,
  ...SENSOR_RESOURCES,
  ...LOG_RESOURCES,
  ...UPDATE_RESOURCES,
  ...TASK_RESOURCES,
  ...EVENT_RESOURCES,
  ...ACCOUNT_RESOURCES,
  ...CERTIFICATE_RESOURCES,
  ...REGISTRY_RESOURCES,
  ...SCHEMA_RESOURCES,
]
