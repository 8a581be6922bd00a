import { silent, type Logger } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'

interface Known {
  node: (uuid: string) => Readonly<NodeRecord> | undefined
  /** The node that last used a machine. */
  nodeOf: (machine: string) => string | undefined
}

/** Adds the node's name, or its uuid without a name, to log entries about a node or its machine. */
export function namingNodes(logger: Logger, { node, nodeOf }: Known): Logger {
  if (logger === silent) return silent
  return (level, message, fields = {}) => {
    const { node: ident, machine } = fields
    const uuid = typeof ident === 'string' ? ident : typeof machine === 'string' ? nodeOf(machine) : undefined
    const name = uuid === undefined ? machine : (node(uuid)?.name ?? uuid)
    logger(level, message, name === undefined ? fields : { ...fields, node: name })
  }
}
