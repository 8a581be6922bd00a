import type { Handlers } from '../call.js'
import { allocationHandlers } from './allocation-handlers.js'
import { chassisHandlers } from './chassis-handlers.js'
import { conductorHandlers } from './conductor-handlers.js'
import { deployTemplateHandlers } from './deploy-template-handlers.js'
import { driverHandlers } from './driver-handlers.js'
import { hardwareHandlers } from './node-hardware-handlers.js'
import { historyHandlers } from './node-history-handlers.js'
import { inspectionRuleHandlers } from './inspection-rule-handlers.js'
import { recordHandlers } from './node-record-handlers.js'
import { relationHandlers } from './node-relation-handlers.js'
import { stateHandlers } from './node-state-handlers.js'
import { traitHandlers } from './node-trait-handlers.js'
import { nodeHandlers } from './node-handlers.js'
import { otherHandlers } from './other-handlers.js'
import { portgroupHandlers } from './portgroup-handlers.js'
import { portHandlers } from './port-handlers.js'
import { ramdiskHandlers } from './ramdisk-handlers.js'
import { rootHandlers } from './root-handlers.js'
import { runbookHandlers } from './runbook-handlers.js'
import { volumeHandlers } from './volume-handlers.js'
import { vendorHandlers } from './vendor-handlers.js'

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
