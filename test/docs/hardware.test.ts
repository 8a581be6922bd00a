import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'prettier'
import { describe, expect, test } from 'vitest'
import { readHardware } from '../../apps/cli/options/hardware-file.js'
import { createStagedLab } from '../../lab/index.js'
import { HARDWARE_SCHEMA } from '../../machine/index.js'

const DOCS = new URL('../../docs/', import.meta.url).pathname
const page = await readFile(join(DOCS, 'hardware.md'), 'utf8')
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!)

async function fileWith(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-hardware-')), 'hardware.yaml')
  await writeFile(file, text)
  return file
}

interface NicsSchema {
  items: { properties: { lldp: { properties: { switch: { enum: readonly string[] } } } } }
}

describe('docs/hardware.md', () => {
  test('has a row for every key, and only for those', () => {
    const table = page.slice(page.indexOf('## Keys'), page.indexOf('## Mixed fleets'))
    const documented = [...table.matchAll(/^\| ((?:`[\w[\].]+`(?:, )?)+) \|/gm)].flatMap(([, cell]) => {
      const names = [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
      const folder = /^\w+\[\]\./.exec(names[0]!)?.[0] ?? ''
      return names.map((name) => (name.startsWith(folder) ? name : folder + name))
    })
    const { machines, ...machine } = HARDWARE_SCHEMA.properties as Record<string, { items?: { properties: object } }>
    expect(Object.keys(machines!.items!.properties)).toContain('count')
    const keys = Object.entries(machine).flatMap(([key, { items }]) => [
      key,
      ...Object.keys(items?.properties ?? {}).map((inner) => `${key}[].${inner}`),
    ])
    expect(documented.toSorted()).toEqual(keys.toSorted())
  })

  test('has a row for every key of a switch, and for every system', () => {
    const section = page.slice(page.indexOf('## Switches'), page.indexOf('## From other descriptions'))
    const rows = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name!)
    const { nics } = HARDWARE_SCHEMA.properties as unknown as { nics: NicsSchema }
    const { switch: systems, ...others } = nics.items.properties.lldp.properties
    // The last of the tables says of each value where it is from.
    const sources = ['switch', ...systems.enum]
    expect(rows).toEqual(['switch', ...Object.keys(others), 'switch', ...systems.enum, ...sources])
  })

  test('comes with the schema as JSON, for editors', async () => {
    const expected = await format(JSON.stringify(HARDWARE_SCHEMA), { parser: 'json', printWidth: 120 })
    expect(await readFile(join(DOCS, 'hardware.schema.json'), 'utf8')).toBe(expected)
  })

  test('has examples that describe the machines it says', async () => {
    const [one, fleet, , switches] = await Promise.all(examples.map(async (text) => readHardware(await fileWith(text))))
    expect(switches).toMatchObject([{ hardware: { nics: [{ lldp: { port: 'Ethernet48' } }, { lldp: null }] } }])
    expect(one).toMatchObject([
      { hardware: { cpus: 32, disks: [{ size: 480_000_000_000 - (480_000_000_000 % 2 ** 20) }, {}] } },
    ])
    await using lab = await createStagedLab({ hardware: fleet! })
    const nodes = []
    for (let n = 0; n < 8; n++) nodes.push(await lab.enroll())
    expect(lab.machines.list().map(({ spec }) => spec.cpus)).toEqual([16, 16, 16, 64, 16, 16, 16, 64])
    expect(lab.machines.list()[3]!.spec.disks.map(({ name }) => name)).toEqual(['nvme0n1', 'sdb'])
    await nodes[3]!.deploy()
    expect(await nodes[3]!.settled()).toMatchObject({ provision_state: 'active' })
  })
})

describe('a hardware file is refused', () => {
  test.each([
    ['that is not YAML', 'cpus: [', /hardware\.yaml: this is not YAML: .*, in line 1: cpus: \[$/],
    ['with an alias for nothing', 'cpus: *x', /hardware\.yaml has the alias \*x and no anchor &x before it$/],
    [
      'of two documents',
      'cpus: 3\n---\ncpus: 4\n',
      /hardware\.yaml: there are several YAML documents, not one, in line 2: ---$/,
    ],
    ['that is empty', '', /it must be object/],
    ['with an unknown key', 'cpus: 3\ncpu: 3', /it has an unknown key "cpu", in line 2: cpu: 3$/],
    [
      'with an unknown key of an entry',
      'machines: [{ disk: [] }]',
      /machines\.0 has an unknown key "disk", in line 1: /,
    ],
    ['with a value that does not exist', 'firmware: efi', /firmware must be .*: uefi, bios, in line 1: firmware: efi$/],
    [
      'with a size without meaning',
      'disks:\n  - size: 1GiB\n  - size: big\n',
      /disks\.1\.size must match .*, in line 3: - size: big$/,
    ],
    ['with keys beside machines', 'cpus: 3\nmachines: [{}]', /cpus stands beside machines: .*, in line 1: cpus: 3$/],
    [
      'that gives several machines one MAC address',
      "machines: [{ count: 2, nics: [{ mac: '52:54:00:00:00:01' }] }]",
      /machines\.0 gives 2 machines the same nics\.0\.mac .*, in line 1: machines: /,
    ],
    [
      'that expands without end',
      `a: &a [x, x]\nb: &b [${'*a, '.repeat(60)}]\nc: [${'*b, '.repeat(60)}]`,
      /repeats itself by too many aliases/,
    ],
  ])('if it is one %s', async (_, text, message) => {
    await expect(readHardware(await fileWith(text))).rejects.toThrow(message)
  })

  test('that is missing', async () => {
    await expect(readHardware('/none/hardware.yaml')).rejects.toThrow('hardware.yaml cannot be read')
  })
})
