import type { RedfishResource } from '../protocol/resource.js'
import { IDRAC_RESOURCES } from '../idrac/resources.js'
import { ACCOUNT_RESOURCES } from './account-service.js'
import { BIOS_RESOURCES } from './bios.js'
import { BOOT_RESOURCES } from './boot.js'
import { CERTIFICATE_RESOURCES } from './certificates.js'
import { CHASSIS_RESOURCES } from './chassis.js'
import { ETHERNET_RESOURCES } from './ethernet.js'
import { EVENT_RESOURCES } from './event-service.js'
import { LOG_RESOURCES } from './log-services.js'
import { MANAGER_RESOURCES } from './managers.js'
import { NETWORK_ADAPTER_RESOURCES } from './network-adapters.js'
import { PROCESSOR_RESOURCES } from './processors.js'
import { REGISTRY_RESOURCES } from './registries.js'
import { SCHEMA_RESOURCES } from './schemas.js'
import { SECURE_BOOT_RESOURCES } from './secure-boot.js'
import { SENSOR_RESOURCES } from './sensors.js'
import { SERVICE_ROOT } from './service-root.js'
import { SESSION_RESOURCES } from './sessions.js'
import { STORAGE_RESOURCES } from './storage.js'
import { SYSTEM_RESOURCES } from './systems.js'
import { TASK_RESOURCES } from './tasks.js'
import { UPDATE_RESOURCES } from './update-service.js'
import { VIRTUAL_MEDIA_RESOURCES } from './virtual-media.js'

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
