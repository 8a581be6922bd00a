import { arg, type Operation } from '../operation.js'
import { inspectionRuleSchema, queryOf, querySchema } from '../resource-schemas.js'
import { patchSchema } from '../schemas.js'
import { fieldsOnly, paging, selected, without } from './listing.js'

const { reading, writing } = without('inspection rules')
const uuid = { properties: { inspection_rule_uuid: { type: 'string', format: 'uuid' } } } as const

export const INSPECTION_RULES = [
  {
    id: 'inspectionRules.list',
    method: 'GET',
    path: '/v1/inspection_rules',
    since: 96,
    hidden: reading,
    query: { ...paging, ...selected, phase: arg.string },
    querySchema: queryOf(querySchema.sorted, {
      sort_key: { not: { type: 'string', enum: ['actions', 'conditions'] } },
    }),
    status: 200,
  },
  {
    id: 'inspectionRules.create',
    method: 'POST',
    path: '/v1/inspection_rules',
    also: ['/v1/inspection_rules/{document}'],
    since: 96,
    hidden: writing,
    body: { document: inspectionRuleSchema },
    status: 201,
  },
  {
    id: 'inspectionRules.get',
    method: 'GET',
    path: '/v1/inspection_rules/{inspection_rule_uuid}',
    also: ['/v1/inspection_rules/{inspection_rule_uuid}/{fields}'],
    since: 96,
    hidden: reading,
    query: fieldsOnly,
    querySchema: uuid,
    status: 200,
  },
  {
    id: 'inspectionRules.patch',
    method: 'PATCH',
    path: '/v1/inspection_rules/{inspection_rule_uuid}',
    also: ['/v1/inspection_rules'],
    since: 96,
    hidden: writing,
    query: { inspection_rule_uuid: arg.uuid },
    required: ['inspection_rule_uuid'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'inspectionRules.delete',
    method: 'DELETE',
    path: '/v1/inspection_rules/{inspection_rule_uuid}',
    also: ['/v1/inspection_rules'],
    since: 96,
    hidden: writing,
    query: { inspection_rule_uuid: arg.string },
    querySchema: uuid,
    status: 204,
  },
] as const satisfies readonly Operation[]
