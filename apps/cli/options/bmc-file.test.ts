import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHardware } from './hardware-file.js'

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-bmc-'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

test('a hardware file may name a file with a BMC, beside it', async () => {
  const folder = await folderWith({
    'rack.yaml': 'machines:\n- {bmc: ./my-bmc.yaml, cpus: 4}\n- {bmc: ilo5}\n',
    'my-bmc.yaml': 'base: idrac9\nproperties: {leftOut: [ComputerSystem.SKU]}\n',
  })
  expect(await readHardware(join(folder, 'rack.yaml'))).toEqual([
    { hardware: { bmc: { base: 'idrac9', properties: { leftOut: ['ComputerSystem.SKU'] } }, cpus: 4 } },
    { hardware: { bmc: 'ilo5' } },
  ])
})

test.each([
  ['base: [', /^the BMC file my-bmc.yaml of the hardware file .*rack.yaml: this is not YAML: .*, in line 1: base: \[$/],
  [
    'bse: idrac9',
    /^the BMC file my-bmc.yaml of the hardware file .* cannot be used: there is no bse; did you mean base\?$/,
  ],
  ['', /^the BMC file my-bmc.yaml of the hardware file .* cannot be used: it is /],
])('a file with a BMC that is %j is refused', async (text, message) => {
  const folder = await folderWith({ 'rack.yaml': 'bmc: my-bmc.yaml', 'my-bmc.yaml': text })
  await expect(readHardware(join(folder, 'rack.yaml'))).rejects.toThrow(message)
})

test('a file with a BMC that is missing is named', async () => {
  const folder = await folderWith({ 'rack.yaml': 'bmc: other/none.yaml' })
  await expect(readHardware(join(folder, 'rack.yaml'))).rejects.toThrow(
    /^the BMC file other\/none.yaml of the hardware file .*rack.yaml cannot be read$/,
  )
})
