import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { IRONIC_OPERATIONS, IRONIC_RELEASES, type IronicOperation } from '../../base/wire/index.js'
import { command } from '../kit/commands/command.js'

interface Document {
  info: { description: string }
  paths: Record<string, Record<string, { operationId: string; parameters: { name?: string; in?: string }[] }>>
}

async function printed(...args: string[]): Promise<Document> {
  const run = command(['openapi', ...args])
  expect(await run.ended).toBe(0)
  return JSON.parse(run.stdout) as Document
}
const ids = ({ paths }: Document) =>
  Object.values(paths)
    .flatMap((item) => Object.values(item).map(({ operationId }) => operationId))
    .sort()

test.each(Object.keys(IRONIC_RELEASES))('ironstage openapi prints a valid document of %s', async (release) => {
  const document = await printed('--ironic-release', release)
  const outcome = await new Validator().validate(document as never)
  expect(outcome.errors ?? []).toEqual([])
  expect(outcome.valid).toBe(true)
})

test('every operation is in it, with its parameters', async () => {
  const document = await printed()
  const rows: readonly IronicOperation[] = IRONIC_OPERATIONS
  const offered = rows.filter(({ refused }) => !refused).map(({ id }) => id)
  expect(ids(document)).toEqual(offered.sort())
  expect(document.info.description).toBe('Microversions 1.1 to 1.115.')
  const { parameters } = document.paths['/v1/nodes/{node_ident}/states/provision']!['put']!
  expect(parameters).toContainEqual({ name: 'node_ident', in: 'path', required: true, schema: { type: 'string' } })
  for (const [path, item] of Object.entries(document.paths))
    for (const { parameters } of Object.values(item))
      expect(parameters.filter((one) => one.in === 'path').map((one) => `{${one.name}}`)).toEqual(
        path.match(/\{\w+\}/g) ?? [],
      )
})

test('an older release lacks what came later', async () => {
  const old = await printed('--ironic-release', '2024.2')
  const now = await printed()
  expect(old.info.description).toBe('Microversions 1.1 to 1.93.')
  const later = IRONIC_OPERATIONS.filter(({ since }) => since > 93).map(({ id }) => id)
  expect(ids(now).filter((id) => !ids(old).includes(id))).toEqual(later.sort())
})
