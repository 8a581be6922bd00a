import { ALLOCATIONS } from './allocations.js'
import { CHASSIS } from './chassis.js'
import { CONDUCTORS } from './conductors.js'
import { DEPLOY_TEMPLATES } from './deploy-templates.js'
import { DRIVERS } from './drivers.js'
import { INSPECTION_RULES } from './inspection-rules.js'
import { MISPLACED } from './misplaced.js'
import { NODE_MANAGEMENT } from './node-management.js'
import { NODE_RECORDS } from './node-records.js'
import { NODE_STATES } from './node-states.js'
import { NODES } from './nodes.js'
import { OTHERS } from './others.js'
import { PORTGROUPS } from './portgroups.js'
import { PORTS } from './ports.js'
import { RAMDISK } from './ramdisk.js'
import { ROOTS } from './roots.js'
import { RUNBOOKS } from './runbooks.js'
import { VOLUMES } from './volumes.js'

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
