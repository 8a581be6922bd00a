import { expect, test } from 'vitest'
import { schemaCheck } from '../../base/schemas/index.js'
import type { JsonSchema } from '../../base/wire/index.js'
import { readSiteSchema } from './site-schema.js'

test("names and annotations of a site's schema are left out, what it requires is kept", () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    id: 'http://example.com/network.json',
    title: 'of the site',
    type: 'object',
    required: ['title'],
    properties: {
      title: { $id: '#/properties/title', type: 'string', format: 'ipv4', examples: ['a'] },
      links: { type: 'array', items: { $ref: '#/definitions/link' } },
    },
    definitions: { link: { description: 'x', pattern: '(?i)^([0-9A-F]{2}[:-]){5}[0-9A-F]{2}\\d?z-a$' } },
    dependencies: { links: ['title'] },
    additionalProperties: false,
  }
  const read = readSiteSchema(schema)
  expect(read).toEqual({
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string' },
      links: { type: 'array', items: { $ref: '#/definitions/link' } },
    },
    definitions: {
      link: { pattern: '^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}\\d?[zZ]-[aA]$' },
    },
    dependencies: { links: ['title'] },
    additionalProperties: false,
  })
  const check = schemaCheck(read as JsonSchema)
  expect(check.accepts({ title: 'x', links: ['aA:bb:cc:dd:ee:ff5Z-a'] })).toBe(true)
  expect(check.accepts({ title: 'x', links: ['gA:bb:cc:dd:ee:ff5Z-a'] })).toBe(false)
})
