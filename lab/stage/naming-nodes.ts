import type { Logger } from '../../runtime/index.js'
import type { NodeRecord } from '../../wire/index.js'

interface Known {
  node: (uuid: string) => Readonly<NodeRecord> | undefined
  /** The node that a machine was last used as. */
  nodeOf: (machine: string) => string | undefined
}

/** A logger whose entries about a node or its machine carry the node's name, or its uuid where it has none. */
export const namingNodes =
  (logger: Logger, { node, nodeOf }: Known): Logger =>
  (level, message, fields = {}) => {
    const { node: given, machine } = fields
    const uuid = typeof given === 'string' ? given : typeof machine === 'string' ? nodeOf(machine) : undefined
    const name = uuid === undefined ? machine : (node(uuid)?.name ?? uuid)
    logger(level, message, name === undefined ? fields : { ...fields, node: name })
  }
