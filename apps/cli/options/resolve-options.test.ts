import { parseSize } from '../../../base/runtime/index.js'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { COMMAND_OPTIONS, resolveOptions, readWithoutAjv } from './resolve-options.js'

const names = ['port', 'host', 'realistic', 'append-karg', 'disk-size', 'target', 'speed', 'clock'] as const

async function configFile(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-options-')), 'lab.yaml')
  await writeFile(file, text)
  return file
}

describe('options', () => {
  test('flag beats environment beats config file', async () => {
    const config = await configFile('port: 1\nhost: from-file\nappend-karg: [a, b]\nrealistic: true\n')
    expect(await resolveOptions(names, { config, port: '3' }, { IRONSTAGE_PORT: '2', IRONSTAGE_SPEED: '2.5' })).toEqual(
      { port: 3, host: 'from-file', 'append-karg': ['a', 'b'], realistic: true, speed: 2.5 },
    )
  })

  test('a list in the environment is separated by blanks, an empty variable counts as unset', async () => {
    const variables = { IRONSTAGE_APPEND_KARG: 'console=tty0  quiet', IRONSTAGE_HOST: '' }
    expect(await resolveOptions(names, {}, variables)).toEqual({ 'append-karg': ['console=tty0', 'quiet'] })
  })

  test('a value read without ajv equals the value that ajv reads', () => {
    const texts = ['x', '', '0', '7', '007', '-1', '1e3', '65536', '99999999999999999999', 'true', 'false', '🙂', 'a=b']
    const more = ['local', 'fetched', 'today', 'http://x/', '/x', '1.5GiB', 'a b', 'x\0', '10:20:30:40:50:60', 'on']
    const values = [...texts, ...more, true, false, null, 5, 1.5, [], {}]
    const lists = [...values.map((value) => [value]), ['a=1', 'b=2'], ['a=1', '']]
    let read = 0
    for (const { schema } of Object.values(COMMAND_OPTIONS)) {
      const ajv = new Ajv({
        coerceTypes: true,
        strict: true,
        allowUnionTypes: true,
        meta: false,
        validateSchema: false,
      })
      const validate = ajv.compile({ type: 'object', properties: { value: schema }, required: ['value'] })
      for (const value of [...values, ...lists]) {
        const ours = readWithoutAjv(schema, value)
        if (ours === undefined) continue
        const holder = { value: structuredClone(value) }
        expect({ schema, value, valid: validate(holder), read: holder.value }).toEqual({
          schema,
          value,
          valid: true,
          read: ours,
        })
        read++
      }
    }
    expect(read).toBeGreaterThan(1000)
  })

  test('a kernel argument is taken as the installer takes it, with quotation marks and blanks', async () => {
    const flags = { 'append-karg': ['x="a b"', 'c d'] }
    expect(await resolveOptions(names, flags, {})).toEqual(flags)
  })

  test('the config file can be named by IRONSTAGE_CONFIG', async () => {
    expect(await resolveOptions(names, {}, { IRONSTAGE_CONFIG: await configFile('port: 7') })).toEqual({ port: 7 })
  })

  test.each([
    [{ port: 'x' }, {}, /^--port is "x", which is not a whole number$/],
    [{ port: '70000' }, {}, /^--port is "70000", which must be <= 65535$/],
    [{ target: 'ssh' }, {}, /^--target is "ssh", which is not of a form such as local:disk\.img$/],
    [{ 'append-karg': ['a\nb'] }, {}, /^--append-karg is .*, which has a line break or a NUL character$/],
    [{ 'disk-size': 'big' }, {}, /^--disk-size is "big", which is not of a form such as 20GiB$/],
    [{ clock: 'fast' }, {}, /^--clock is "fast", which is not real, xN \(such as x60\), manual or auto$/],
    [{}, { IRONSTAGE_SPEED: '0' }, /^IRONSTAGE_SPEED is "0", which must be > 0$/],
    [{}, { IRONSTAGE_PROT: '1' }, /^the environment has IRONSTAGE_PROT, which is not an option/],
  ])('are refused as wrong usage: flags %j, variables %j', async (flags, variables, message) => {
    const refused = resolveOptions(names, flags, variables)
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toMatchObject({ kind: 'usage' })
  })

  test.each([
    ['prot: 1', /has an unknown key prot$/],
    ['- 1', /is not a set of keys and values$/],
    ['port: {', /cannot be read$/],
    ['port: many', /^port in .*lab\.yaml is "many", which is not a whole number$/],
  ])('refuses the config file %j', async (text, message) => {
    await expect(resolveOptions(names, { config: await configFile(text) }, {})).rejects.toThrow(message)
  })

  test.each([
    ['10GiB', 10 * 2 ** 30],
    ['1.5GiB', 1.5 * 2 ** 30],
    ['512MiB', 2 ** 29],
    ['1GB', 953 * 2 ** 20],
    ['1048576', 2 ** 20],
  ])('the size %s', (text, bytes) => expect(parseSize(text)).toBe(bytes))
})
