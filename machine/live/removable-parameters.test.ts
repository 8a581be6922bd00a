import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bytesSource, writeIso } from '../../base/bytes/index.js'
import { VirtualClock } from '../../base/runtime/index.js'
import { removableParameters, type RemovableMedium } from './removable-parameters.js'

/** Made by the commands that Ironic's create_vfat_image runs: mkfs -t vfat -n ir-vfd-dev, and mcopy of parameters.txt. */
const FLOPPY = gunzipSync(await readFile(new URL('../../test/fixtures/images/ironic-floppy.img.gz', import.meta.url)))
const VMEDIA = 'console=ttyS0 boot_method=vmedia ipa-agent-token=of-the-command-line'

const replaced = (from: string, to: string): Buffer => {
  const bytes = Buffer.from(FLOPPY)
  for (let at = bytes.indexOf(from, 0, 'latin1'); at >= 0; at = bytes.indexOf(from, at + 1, 'latin1'))
    bytes.write(to, at, 'latin1')
  return bytes
}

async function found(commandLine: string, files: Record<string, Buffer>, names: RemovableMedium['name'][]) {
  const lines: string[] = []
  const parameters = await removableParameters(
    commandLine,
    names.map((name) => ({ name, url: `http://media/${name}` })),
    {
      network: {
        open: (url) => {
          const bytes = files[url.replace('http://media/', '')]
          return bytes ? Promise.resolve(bytesSource(bytes)) : Promise.reject(new Error('the server answered 404'))
        },
      },
      clock: new VirtualClock(),
      signal: new AbortController().signal,
      say: (line) => void lines.push(line),
    },
  )
  return { parameters, lines }
}

const OF_THE_FLOPPY = {
  'ipa-api-url': 'http://192.0.2.1:6385',
  'ipa-agent-token': 'floppy-token',
  boot_method: 'vmedia',
}

test('the agent has the parameters of the floppy that Ironic makes, without words that have no value', async () => {
  const { parameters, lines } = await found(VMEDIA, { 'virtual floppy': FLOPPY }, ['virtual floppy'])
  expect(parameters).toEqual(OF_THE_FLOPPY)
  expect(lines).toEqual(['the virtual floppy has parameters.txt for the agent'])
})

test('a stick comes before a floppy, and one with an ISO is passed over', async () => {
  const iso = writeIso({ vmlinuz: Buffer.from('k') }, { label: 'VMEDIA_BOOT_ISO', at: 0 })
  const both = ['virtual USB stick', 'virtual floppy'] as const
  const stick = replaced('192.0.2.1', '192.0.2.9')
  const first = await found(VMEDIA, { 'virtual USB stick': stick, 'virtual floppy': FLOPPY }, [...both])
  expect(first.parameters).toMatchObject({ 'ipa-api-url': 'http://192.0.2.9:6385' })
  const second = await found(VMEDIA, { 'virtual USB stick': iso, 'virtual floppy': FLOPPY }, [...both])
  expect(second.parameters).toEqual(OF_THE_FLOPPY)
})

test.each([
  ['without boot_method=vmedia on the command line', 'console=ttyS0', FLOPPY],
  ['with another label', VMEDIA, replaced('ir-vfd-dev', 'config-2  ')],
  ['that is no filesystem', VMEDIA, Buffer.alloc(4096)],
])('a floppy %s is not looked at', async (_, commandLine, bytes) => {
  expect((await found(commandLine, { 'virtual floppy': bytes }, ['virtual floppy'])).parameters).toBeUndefined()
})

test('the label counts in any case', async () => {
  const upper = replaced('ir-vfd-dev', 'IR-VFD-DEV')
  expect((await found(VMEDIA, { 'virtual floppy': upper }, ['virtual floppy'])).parameters).toEqual(OF_THE_FLOPPY)
})

test('a floppy whose image cannot be fetched is none, and the console says so', async () => {
  const { parameters, lines } = await found(VMEDIA, {}, ['virtual floppy'])
  expect(parameters).toBeUndefined()
  expect(lines.join('\n')).toMatch(/the virtual floppy http:\/\/media\/.* cannot be read: the server answered 404/)
})

test('a floppy of that label without its file ends the agent, as the real one', async () => {
  const without = Buffer.from(FLOPPY)
  // A deleted entry of a folder begins with this byte.
  for (const name of ['PARAME~1TXT', 'Ap\0a\0r\0a\0m\0']) without[without.indexOf(name, 0, 'latin1')] = 0xe5
  await expect(found(VMEDIA, { 'virtual floppy': without }, ['virtual floppy'])).rejects.toThrow(
    'the virtual floppy ir-vfd-dev has no parameters.txt',
  )
})
