import type { Resource } from '../protocol/resource.js'
import { BIOS_RESOURCES } from './bios.js'
import { BOOT_RESOURCES } from './boot.js'
import { CHASSIS_RESOURCES } from './chassis.js'
import { ETHERNET_RESOURCES } from './ethernet.js'
import { MANAGER_RESOURCES } from './managers.js'
import { SECURE_BOOT_RESOURCES } from './secure-boot.js'
import { SERVICE_ROOT } from './service-root.js'
import { SESSION_RESOURCES } from './sessions.js'
import { SYSTEM_RESOURCES } from './systems.js'
import { VIRTUAL_MEDIA_RESOURCES } from './virtual-media.js'

/** All resources of a service. */
export const RESOURCES: readonly Resource[] = [
  ...SERVICE_ROOT,
  ...SESSION_RESOURCES,
  ...SYSTEM_RESOURCES,
  ...BOOT_RESOURCES,
  ...BIOS_RESOURCES,
  ...SECURE_BOOT_RESOURCES,
  ...ETHERNET_RESOURCES,
  ...MANAGER_RESOURCES,
  ...VIRTUAL_MEDIA_RESOURCES,
  ...CHASSIS_RESOURCES,
]
