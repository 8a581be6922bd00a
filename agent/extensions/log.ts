import { systemLogs } from '../log-collection.js'
import type { Extension } from './extension.js'

/** The extension `log`: what Ironic stores when something failed. */
export const logExtension: Extension = {
  collect_system_logs: {
    kind: 'sync',
    required: [],
    optional: [],
    run: async (_params, { target, clock, signal, ownLog }) => ({
      system_logs: await systemLogs({ target, clock, signal, ownLog: ownLog() }),
    }),
  },
}
