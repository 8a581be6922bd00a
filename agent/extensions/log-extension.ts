import { systemLogs } from '../log-collection.js'
import type { Extension } from './extension.js'

/** Extension `log`: collects the logs that Ironic stores after a failure. */
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
