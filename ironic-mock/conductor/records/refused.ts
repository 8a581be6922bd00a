import { ironicErrors, IronicError, type ResourceKind } from '../../../wire/index.js'
import { DanglingReference, Duplicate } from '../../store/store.js'

/** What resources are called in the sentence that says that there is one already. */
const CALLED: Readonly<Record<'node' | 'port' | ResourceKind, string>> = {
  node: 'A node',
  port: 'A port',
  portgroup: 'A portgroup',
  allocation: 'An allocation',
  chassis: 'A chassis',
  volume_connector: 'A volume connector',
  volume_target: 'A volume target',
  deploy_template: 'A deploy template',
  runbook: 'A runbook',
  inspection_rule: 'A rule',
}

/**
 * What the store refuses, as the API says it.
 *
 * @param node the one that wanted the instance
 */
export function refused(node?: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof DanglingReference) throw dangling(error)
    if (!(error instanceof Duplicate)) throw error
    throw new IronicError(409, taken(error, node))
  }
}

function taken({ kind, field, value }: Duplicate, node: string | undefined): string {
  const [first = '', ...rest] = value.split(' ')
  switch (field) {
    case 'uuid':
      return `${CALLED[kind]} with UUID ${value} already exists.`
    case 'name':
      return `${CALLED[kind]} with name ${value} already exists.`
    case 'address':
      return `${CALLED[kind]} with MAC address ${value} already exists.`
    case 'connector_id':
      return `${CALLED[kind]} with type ${first} and connector ID ${rest.join(' ')} already exists.`
    case 'boot_index':
      return `${CALLED[kind]} with boot index '${rest.join(' ')}' for the same node already exists.`
    case 'instance_uuid':
      return `Instance ${value} is already associated with a node, it cannot be associated with this other node ${node ?? ''}`
  }
}

/** Somebody removed it between the look at it and the commit that names it. */
function dangling({ kind, ident }: DanglingReference): IronicError {
  if (kind === 'node') return ironicErrors.nodeNotFound(ident)
  return kind === 'chassis' ? ironicErrors.chassisNotFound(ident) : ironicErrors.portgroupNotFound(ident, 400)
}
