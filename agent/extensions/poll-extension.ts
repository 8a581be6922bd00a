import { errorChain } from '../../base/runtime/index.js'
import { AgentError, parseLookupAnswer } from '../../base/wire/index.js'
import type { Extension } from './extension.js'

/** Extension `poll`: for a conductor that polls the agent, instead of waiting for its calls. */
export const pollExtension: Extension = {
  get_hardware_info: { kind: 'sync', required: [], optional: [], run: (_params, { inventory }) => inventory() },
  set_node_info: {
    kind: 'sync',
    required: [],
    optional: ['node_info'],
    run: async ({ node_info: info }, { standalone, seen }) => {
      if (!standalone)
        throw new AgentError(
          'InvalidCommandError',
          'Node lookup data can only be set when the Ironic Python Agent is running in standalone mode.',
        )
      try {
        seen(parseLookupAnswer(info).node)
      } catch (error) {
        throw new AgentError('InvalidCommandParamsError', errorChain(error).join(': '), { cause: error })
      }
      return null
    },
  },
}
