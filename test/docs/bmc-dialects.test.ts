import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'prettier'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readHardware } from '../../apps/cli/options/hardware-file.js'
import {
  BMC_DIALECTS,
  DIALECT_SCHEMA,
  isDialectName,
  readOwnDialect,
  type BmcDialect,
  type DialectName,
} from '../../bmc/dialects/index.js'
import { isObject } from '../../base/runtime/index.js'
import { importedFace, writtenFace } from '../kit/bmc-dumps/dumped-faces.js'
import { exchangesIn, reportedScene } from '../kit/guides/reported-scene.js'

const DOCS = new URL('../../docs/', import.meta.url).pathname
const page = await readFile(join(DOCS, 'bmc-dialects.md'), 'utf8')
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!)

/** Blocks of the reports, by their languages. */
const reports = page
  .split('## From a report to a machine')[1]!
  .split(/^## /m)[0]!
  .split(/^### /m)
  .slice(1)
  .map((part) => ({
    title: part.split('\n')[0]!,
    blocks: Object.fromEntries(
      [...part.matchAll(/```(\w+)\n(.*?)```/gs)].map(([, language, text]) => [language!, text!]),
    ),
  }))

/** A member of a record, or a key of a file, that shows a quirk. */
const MEMBER = /(?:`([\w-]+)`|file) `((?:[a-z]\w*)(?:\.\w+)?(?:\[[\w.]+\])?)`/g

const quirks = [...page.matchAll(/^\| (\d+) \| .+ \| (.+) \|$/gm)].map(([, number, shown]) => ({
  number: Number(number),
  shown: shown!,
}))

/** The value of `boot.at`, of a property in `properties.changed[Drive.Revision]`, or whether a list has it. */
function valueAt(dialect: BmcDialect, path: string): unknown {
  const [, names = '', inner] = /^([\w.]+)(?:\[([\w.]+)\])?$/.exec(path) ?? []
  let value: unknown = dialect
  for (const name of names.split('.')) value = isObject(value) ? value[name] : undefined
  if (inner === undefined) return value
  if (Array.isArray(value)) return value.includes(inner)
  return isObject(value) ? (value[inner] ?? (Object.hasOwn(value, inner) ? null : 'as the standard')) : undefined
}

/** Numbers of quirks in the titles of tests. */
async function testedNumbers(): Promise<ReadonlySet<number>> {
  const files = [
    'bmc/redfish/dialects/dialects.test.ts',
    'bmc/redfish/dialects/further-dialects.test.ts',
    'test/scenarios/bmcs/bmc-dialects.test.ts',
  ]
  const texts = await Promise.all(files.map((file) => readFile(join(DOCS, '..', file), 'utf8')))
  const titles = texts.flatMap((text) => [...text.matchAll(/['"]quirks? ([\d, ]+):/g)].map(([, numbers]) => numbers!))
  return new Set(titles.flatMap((numbers) => numbers.split(',').map(Number)))
}

/** The hardware file of a report, which the page shows, or makes of a dump. */
async function reportedHardware({ yaml, sh }: Readonly<Record<string, string>>): Promise<string> {
  if (sh !== undefined) {
    expect(sh).toMatch(/^ironstage bmc import dump --out machine\nironstage up --hardware machine\/hardware\.yaml /)
    return (await importedFace(await writtenFace('idrac9'))).file
  }
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-bmc-report-')), 'report.yaml')
  await writeFile(file, yaml!)
  return file
}

describe('docs/bmc-dialects.md', () => {
  test('lists every record, with its description and its source', () => {
    const rows = [...page.matchAll(/^\| `([\w-]+)` \| (.+) \| (dump|reports|ironstage) \|$/gm)]
    expect(rows.map(([, name, description, basis]) => ({ name, description, basis }))).toEqual(
      Object.entries(BMC_DIALECTS).map(([name, { description, basis }]) => ({ name, description, basis })),
    )
  })

  test('has every quirk once: where it is said to be shown, a record differs or a file may, and a test has its number', async () => {
    expect(quirks.map(({ number }) => number)).toEqual(Array.from({ length: 103 }, (_, index) => index + 1))
    const tested = await testedNumbers()
    for (const { number, shown } of quirks) {
      const members = [...shown.matchAll(MEMBER)].map(([, name, path]) => ({ name: name ?? 'file', path: path! }))
      expect({ number, isShown: members.length > 0 }).toEqual({ number, isShown: !shown.startsWith('not shown') })
      expect({ number, isTested: tested.has(number) }).toEqual({ number, isTested: members.length > 0 })
    }
    expect(quirks.filter(({ shown }) => !shown.startsWith('not shown')).length).toBeGreaterThanOrEqual(90)
  })

  test.each([...page.matchAll(MEMBER)].map(([, name, path]): [string, string] => [name ?? 'file', path!]))(
    '%s has %s',
    (name, path) => {
      const { standard } = BMC_DIALECTS
      if (name === 'file') return expect(valueAt(standard, path)).toBeDefined()
      expect(isDialectName(name), name).toBe(true)
      const dialect = BMC_DIALECTS[name as DialectName]
      expect(valueAt(dialect, path)).toBeDefined()
      expect(valueAt(dialect, path)).not.toEqual(valueAt(standard, path))
    },
  )

  test('ipmi.md has a file that describes a BMC', async () => {
    const text = await readFile(join(DOCS, 'ipmi.md'), 'utf8')
    const [, own = ''] = /```yaml\n(.*?)```/s.exec(text) ?? []
    expect(readOwnDialect(parse(own), 'the page')).toMatchObject({ ipmi: { cipherSuites: [17] } })
  })

  test('has examples that describe the machines it says', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-bmc-page-'))
    await writeFile(join(folder, 'rack.yaml'), examples[0]!)
    await writeFile(join(folder, 'my-bmc.yaml'), examples[1]!)
    await writeFile(join(folder, 'own.yaml'), 'bmc: ./my-bmc.yaml')
    const rack = await readHardware(join(folder, 'rack.yaml'))
    expect(rack.map(({ hardware: { bmc } }) => bmc)).toEqual(['idrac9', 'ilo5', 'supermicro-x12'])
    const [{ hardware }] = await readHardware(join(folder, 'own.yaml'))
    expect(hardware.bmc).toMatchObject({ base: 'idrac10', power: { repeat: 400 } })
  })

  test.each(reports)('a report becomes a machine: $title', async ({ blocks }) => {
    await using scene = await reportedScene(await readHardware(await reportedHardware(blocks)))
    if (blocks.json !== undefined) scene.addFault(blocks.json)
    const exchanges = exchangesIn(blocks.http!)
    expect(exchanges.length).toBeGreaterThan(0)
    for (const exchange of exchanges) await scene.expectAnswer(exchange)
  })

  test('comes with the schema as JSON, for editors', async () => {
    const expected = await format(JSON.stringify(DIALECT_SCHEMA), { parser: 'json', printWidth: 120 })
    expect(await readFile(join(DOCS, 'bmc.schema.json'), 'utf8')).toBe(expected)
  })
})
