import { ironicErrors, IronicError, type ResourceKind } from '../../../base/wire/index.js'
import { DanglingReference, Duplicate, StillReferenced } from '../../store/store.js'

/** Names of resources at the start of upstream's "already exists" sentences. */
const SUBJECTS: Readonly<Record<'node' | 'port' | ResourceKind, string>> = {
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
 * Makes a handler that turns errors of the store into errors of the API.
 *
 * @param node uuid of the node, for the sentence of a taken instance
 */
export function toApiError(node?: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof DanglingReference) throw danglingReferenceError(error)
    if (error instanceof StillReferenced) throw stillReferencedError(error)
    if (!(error instanceof Duplicate)) throw error
    throw new IronicError(409, duplicateSentence(error, node))
  }
}

function duplicateSentence({ kind, field, value }: Duplicate, node: string | undefined): string {
  const [first = '', ...rest] = value.split(' ')
  switch (field) {
    case 'uuid':
      return `${SUBJECTS[kind]} with UUID ${value} already exists.`
    case 'name':
      return `${SUBJECTS[kind]} with name ${value} already exists.`
    case 'address':
      return `${SUBJECTS[kind]} with MAC address ${value} already exists.`
    case 'connector_id':
      return `${SUBJECTS[kind]} with type ${first} and connector ID ${rest.join(' ')} already exists.`
    case 'boot_index':
      return `${SUBJECTS[kind]} with boot index '${rest.join(' ')}' for the same node already exists.`
    case 'instance_uuid':
      return `Instance ${value} is already associated with a node, it cannot be associated with this other node ${node ?? ''}`
  }
}

function stillReferencedError({ kind, record: { id, uuid } }: StillReferenced): IronicError {
  const subject = kind === 'portgroup' ? `portgroup ${id} contains ports` : `chassis ${uuid} contains nodes`
  return new IronicError(400, `Cannot complete the requested action because ${subject}.`)
}

/** The referenced record was removed between the check and the commit. */
function danglingReferenceError({ kind, ident }: DanglingReference): IronicError {
  if (kind === 'node') return ironicErrors.nodeNotFound(ident)
  return kind === 'chassis' ? ironicErrors.chassisNotFound(ident) : ironicErrors.portgroupNotFound(ident, 400)
}
