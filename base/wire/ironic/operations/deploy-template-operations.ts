import { arg, type IronicOperation } from '../ironic-operation.js'
import { deployTemplateSchema } from '../resource-schemas.js'
import { patchSchema } from '../ironic-schemas.js'
import { checkedList, checkedOne, fieldsOnly, pagingByName, fieldSelection, hiddenResource } from './list-arguments.js'

const deployTemplateFieldNames = ['created_at', 'description', 'extra', 'links', 'name', 'steps', 'updated_at', 'uuid']
const { reading, writing } = hiddenResource('deploy templates', 'pecan')
const ident = { template_ident: arg.ident } as const

export const DEPLOY_TEMPLATES = [
  {
    id: 'deployTemplates.list',
    method: 'GET',
    path: '/v1/deploy_templates',
    since: 55,
    hidden: reading,
    query: { ...pagingByName, ...fieldSelection },
    querySchema: checkedList(deployTemplateFieldNames),
    status: 200,
  },
  {
    id: 'deployTemplates.create',
    method: 'POST',
    path: '/v1/deploy_templates',
    also: ['/v1/deploy_templates/{document}'],
    since: 55,
    hidden: writing,
    body: { document: deployTemplateSchema, label: 'template' },
    status: 201,
  },
  {
    id: 'deployTemplates.get',
    method: 'GET',
    path: '/v1/deploy_templates/{template_ident}',
    also: ['/v1/deploy_templates/{template_ident}/{fields}'],
    since: 55,
    hidden: reading,
    query: { ...ident, ...fieldsOnly },
    querySchema: checkedOne(deployTemplateFieldNames),
    status: 200,
  },
  {
    id: 'deployTemplates.patch',
    method: 'PATCH',
    path: '/v1/deploy_templates/{template_ident}',
    also: ['/v1/deploy_templates'],
    since: 55,
    hidden: writing,
    query: ident,
    required: ['template_ident'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'deployTemplates.delete',
    method: 'DELETE',
    path: '/v1/deploy_templates/{template_ident}',
    also: ['/v1/deploy_templates'],
    since: 55,
    hidden: writing,
    query: ident,
    required: ['template_ident'],
    status: 204,
  },
] as const satisfies readonly IronicOperation[]
