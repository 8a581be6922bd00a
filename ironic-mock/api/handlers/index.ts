import type { Handlers } from '../call.js'
import { allocationHandlers } from './allocations.js'
import { chassisHandlers } from './chassis.js'
import { conductorHandlers } from './conductors.js'
import { deployTemplateHandlers } from './deploy-templates.js'
import { driverHandlers } from './drivers.js'
import { hardwareHandlers } from './node-hardware.js'
import { historyHandlers } from './node-history.js'
import { inspectionRuleHandlers } from './inspection-rules.js'
import { recordHandlers } from './node-records.js'
import { relationHandlers } from './node-relations.js'
import { stateHandlers } from './node-states.js'
import { traitHandlers } from './node-traits.js'
import { nodeHandlers } from './nodes.js'
import { otherHandlers } from './others.js'
import { portgroupHandlers } from './portgroups.js'
import { portHandlers } from './ports.js'
import { ramdiskHandlers } from './ramdisk.js'
import { rootHandlers } from './roots.js'
import { runbookHandlers } from './runbooks.js'
import { volumeHandlers } from './volumes.js'
import { vendorHandlers } from './vendor.js'

export const handlers: Handlers = {
  ...rootHandlers,
  ...driverHandlers,
  ...conductorHandlers,
  ...nodeHandlers,
  ...stateHandlers,
  ...hardwareHandlers,
  ...historyHandlers,
  ...recordHandlers,
  ...relationHandlers,
  ...traitHandlers,
  ...vendorHandlers,
  ...portHandlers,
  ...portgroupHandlers,
  ...chassisHandlers,
  ...allocationHandlers,
  ...volumeHandlers,
  ...deployTemplateHandlers,
  ...runbookHandlers,
  ...inspectionRuleHandlers,
  ...otherHandlers,
  ...ramdiskHandlers,
}
