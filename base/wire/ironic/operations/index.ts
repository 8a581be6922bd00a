import { ALLOCATIONS } from './allocation-operations.js'
import { CHASSIS } from './chassis-operations.js'
import { CONDUCTORS } from './conductor-operations.js'
import { DEPLOY_TEMPLATES } from './deploy-template-operations.js'
import { DRIVERS } from './driver-operations.js'
import { INSPECTION_RULES } from './inspection-rule-operations.js'
import { MISPLACED } from './misplaced.js'
import { NODE_MANAGEMENT } from './node-management-operations.js'
import { NODE_RECORDS } from './node-record-operations.js'
import { NODE_STATES } from './node-state-operations.js'
import { NODES } from './node-operations.js'
import { OTHERS } from './other-operations.js'
import { PORTGROUPS } from './portgroup-operations.js'
import { PORTS } from './port-operations.js'
import { RAMDISK } from './ramdisk-operations.js'
import { ROOTS } from './root-operations.js'
import { RUNBOOKS } from './runbook-operations.js'
import { VOLUMES } from './volume-operations.js'

/**
 * Everything that is served. A row is all that routing, argument checks, the in-process transport and OpenAPI need; its
 * handler stands under the same id in `ironic-mock/api`. Where a literal segment and a `{name}` could both match, the
 * literal one does.
 */
export const IRONIC_OPERATIONS = [
  ...ROOTS,
  ...DRIVERS,
  ...NODES,
  ...NODE_STATES,
  ...NODE_MANAGEMENT,
  ...NODE_RECORDS,
  ...PORTS,
  ...PORTGROUPS,
  ...CHASSIS,
  ...ALLOCATIONS,
  ...VOLUMES,
  ...DEPLOY_TEMPLATES,
  ...RUNBOOKS,
  ...INSPECTION_RULES,
  ...OTHERS,
  ...MISPLACED,
  ...CONDUCTORS,
  ...RAMDISK,
] as const

type ListedOperation = (typeof IRONIC_OPERATIONS)[number]
export type OperationId = ListedOperation['id']
export type OperationOf<Id extends OperationId> = Extract<ListedOperation, { id: Id }>
