import { describe, expect, test } from 'vitest'
import { MAX_MICROVERSION } from './microversion.js'
import { NODE_DERIVED_FIELDS, NODE_FIELDS } from './node-fields.js'
import { PORT_DERIVED_FIELDS, PORT_FIELDS } from './port-fields.js'
import { RESOURCE_FIELDS } from './resource-fields.js'

const resources = Object.entries(RESOURCE_FIELDS).map(
  ([kind, { own, derived }]) => [kind, [...own, ...derived]] as const,
)
const all = [
  ['node', [...NODE_FIELDS, ...NODE_DERIVED_FIELDS]],
  ['port', [...PORT_FIELDS, ...PORT_DERIVED_FIELDS]],
  ...resources,
] as const

describe.each(all)('fields of a %s', (_, fields) => {
  test('are shown by the newest microversion', () => {
    expect(fields.filter(({ since }) => since > MAX_MICROVERSION)).toEqual([])
  })
})
