import { Routes } from '../protocol/resource-routes.js'
import type { RedfishResource } from '../protocol/resource.js'
import { IDRAC_RESOURCES } from '../idrac/idrac-resources.js'
import { ACCOUNT_RESOURCES } from './account-resources.js'
import { CERTIFICATE_RESOURCES } from './certificate-resources.js'
import { CHASSIS_RESOURCES } from './chassis-resources.js'
import { EVENT_RESOURCES } from './event-resources.js'
import { LOG_RESOURCES } from './log-resources.js'
import { MANAGER_RESOURCES } from './manager-resources.js'
import { REGISTRY_RESOURCES } from './registry-resources.js'
import { SCHEMA_RESOURCES } from './schema-resources.js'
import { SERVICE_ROOT } from './service-root.js'
import { SESSION_RESOURCES } from './session-resources.js'
import { SYSTEM_RESOURCES } from './system-resources.js'
import { TASK_RESOURCES } from './task-resources.js'
import { UPDATE_RESOURCES } from './update-resources.js'

/** All resources of a service. Those below a system, a manager or a chassis come with it. */
export const REDFISH_RESOURCES: readonly RedfishResource[] = [
  ...SERVICE_ROOT,
  ...SESSION_RESOURCES,
  ...SYSTEM_RESOURCES,
  ...MANAGER_RESOURCES,
  ...IDRAC_RESOURCES,
  ...CHASSIS_RESOURCES,
  ...LOG_RESOURCES,
  ...UPDATE_RESOURCES,
  ...TASK_RESOURCES,
  ...EVENT_RESOURCES,
  ...ACCOUNT_RESOURCES,
  ...CERTIFICATE_RESOURCES,
  ...REGISTRY_RESOURCES,
  ...SCHEMA_RESOURCES,
]

export const REDFISH_ROUTES = new Routes(REDFISH_RESOURCES)
