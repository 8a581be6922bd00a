import { arg, type IronicOperation } from '../ironic-operation.js'
import { inspectionRuleSchema, queryObjectSchema, querySchema } from '../resource-schemas.js'
import { patchSchema } from '../ironic-schemas.js'
import { fieldsOnly, paging, fieldSelection, hiddenResource } from './list-arguments.js'

const { reading, writing } = hiddenResource('inspection rules')
const ruleUuidSchema = { properties: { inspection_rule_uuid: { type: 'string', format: 'uuid' } } } as const

export const INSPECTION_RULES = [
  {
    id: 'inspectionRules.list',
    method: 'GET',
    path: '/v1/inspection_rules',
    since: 96,
    hidden: reading,
    query: { ...paging, ...fieldSelection, phase: arg.string },
    querySchema: queryObjectSchema(querySchema.sorted, {
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
    querySchema: ruleUuidSchema,
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
    querySchema: ruleUuidSchema,
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
