import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'prettier'
import { describe, expect, test } from 'vitest'
import { readHardware } from '../../apps/cli/options/hardware-file.js'
import { BMC_DIALECTS, DIALECT_SCHEMA } from '../../bmc/dialects/index.js'
import { exchangesIn, reportedScene } from '../kit/guides/reported-scene.js'

const DOCS = new URL('../../docs/', import.meta.url).pathname
const page = await readFile(join(DOCS, 'bmc-dialects.md'), 'utf8')
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!)

/** Blocks of the reports, by their languages. */
const reports = page
  .split(/^### /m)
  .slice(1)
  .map((part) => ({
    title: part.split('\n')[0]!,
    blocks: Object.fromEntries(
      [...part.matchAll(/```(\w+)\n(.*?)```/gs)].map(([, language, text]) => [language!, text!]),
    ),
  }))

describe('docs/bmc-dialects.md', () => {
  test('lists every record, with its description and its source', () => {
    const rows = [...page.matchAll(/^\| `([\w-]+)` \| (.+) \| (dump|reports|ironstage) \|$/gm)]
    expect(rows.map(([, name, description, basis]) => ({ name, description, basis }))).toEqual(
      Object.entries(BMC_DIALECTS).map(([name, { description, basis }]) => ({ name, description, basis })),
    )
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
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-bmc-report-'))
    await writeFile(join(folder, 'report.yaml'), blocks.yaml!)
    const hardware = await readHardware(join(folder, 'report.yaml'))
    await using scene = await reportedScene(hardware)
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
