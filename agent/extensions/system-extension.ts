import { runToEnd } from '../../steps/index.js'
import { AgentError } from '../../base/wire/index.js'
import type { Extension } from './extension.js'

/** Extension `system`. */
export const systemExtension: Extension = {
  /** Ends the agent's work and takes its networks down, for machines that Ironic does not switch off in between. */
  lockdown: {
    kind: 'sync',
    required: [],
    optional: [],
    run: async (_params, { target, signal, logger, close, inventory }) => {
      if (!target.has('hand-over'))
        throw new AgentError('CommandExecutionError', `${target.name} does not allow cutting it off its networks`)
      for (const { name } of (await inventory()).interfaces) {
        const { exit, stderr } = await runToEnd(target.executor, ['ip', 'link', 'set', 'dev', name, 'down'], {
          effect: 'writes',
          signal,
        })
        // Go on with the other interfaces.
        if (exit.kind !== 'exited' || exit.code !== 0) logger('warn', `${name} stays up: ${stderr.trim()}`)
      }
      close('locked down')
      return null
    },
  },
}
