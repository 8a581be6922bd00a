import type { Handlers } from '../call.js'
import { conductorHandlers } from './conductors.js'
import { driverHandlers } from './drivers.js'
import { recordHandlers } from './node-records.js'
import { stateHandlers } from './node-states.js'
import { nodeHandlers } from './nodes.js'
import { portHandlers } from './ports.js'
import { ramdiskHandlers } from './ramdisk.js'
import { rootHandlers } from './roots.js'

export const handlers: Handlers = {
  ...rootHandlers,
  ...driverHandlers,
  ...conductorHandlers,
  ...nodeHandlers,
  ...stateHandlers,
  ...recordHandlers,
  ...portHandlers,
  ...ramdiskHandlers,
}
