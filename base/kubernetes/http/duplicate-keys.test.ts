import { afterEach, describe, expect, test } from 'vitest'
import { Scope } from '../../runtime/index.js'
import { HOSTS, servedKube } from '../../../test/kit/cluster/served-kube.js'
import { duplicateFields, duplicateYamlKeys } from './duplicate-keys.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

describe('fields that are there twice in JSON', () => {
  test.each([
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', []],
    ['{"a":1,"a":2,"a":3}', ['a']],
    [
      '{"spec":{"bmc":{"address":"x","address":"y"},"online":true,"online":false}}',
      ['spec.bmc.address', 'spec.online'],
    ],
    ['{"l":[1,{"a":[],"a":{}},{"b":0,"b":1}],"l":2}', ['l[1].a', 'l[2].b', 'l']],
    [String.raw`{"x":"{\"a\":1,\"a\":2}","k\"":1,"k\u0022":2}`, ['k"']],
    ['[{"op":"add","op":"add"}]', ['[0].op']],
    ['{"":{"a":1},"":2}', ['']],
    ['3', []],
  ])('%s', (json, paths) => {
    expect(duplicateFields(json)).toEqual(paths)
  })

  test('are a hundred at most', () => {
    const json = `{${Array.from({ length: 200 }, (_, n) => `"k${n}":1,"k${n}":2`).join(',')}}`
    expect(duplicateFields(json)).toHaveLength(100)
  })
})

test.each([
  ['a: 1\nb: {c: 1, c: 2}\na:\n  - x\n', ['line 2: key "c" already set in map', 'line 4: key "a" already set in map']],
  [
    'l:\n- a: 1\n  a: |\n    text\n1: x\n1: y\n',
    ['line 3: key "a" already set in map', 'line 6: key 1 already set in map'],
  ],
  ['{"a": 1,\n"a":\n 2}', ['line 3: key "a" already set in map']],
  ['a: 1\nb: 2\n', []],
])('keys that are there twice in YAML: %j', (yaml, findings) => {
  expect(duplicateYamlKeys(yaml)).toEqual(findings)
})

const IN_VERSION = 'BareMetalHost in version "v1alpha1" cannot be handled as a BareMetalHost: strict decoding error: '
const JSON_HOST = (name: string) =>
  `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"${name}"},"spec":{"online":true,"online":false,"zork":1}}`
const YAML_HOST = (name: string) =>
  `apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: ${name}}\nspec:\n  online: true\n  online: false\n  bootMode: UEFI\n  bootMode: legacy\n`

describe('an object with a field twice', () => {
  test.each([
    [
      'application/json',
      JSON_HOST,
      'duplicate field "spec.online", unknown field "spec.zork"',
      String.raw`299 - "duplicate field \"spec.online\"", 299 - "unknown field \"spec.zork\""`,
    ],
    [
      'application/yaml',
      YAML_HOST,
      'yaml: unmarshal errors:\n  line 6: key "online" already set in map\n  line 8: key "bootMode" already set in map',
      String.raw`299 - "line 6: key \"online\" already set in map", 299 - "line 8: key \"bootMode\" already set in map"`,
    ],
  ])('as %s is refused, warned of or taken, as is asked', async (type, text, problem, warning) => {
    const { call } = await servedKube(scope)
    const send = (mode: string, name: string) =>
      call('POST', `${HOSTS}?fieldValidation=${mode}`, text(name), { 'content-type': type })
    expect(await send('Strict', 'a')).toMatchObject({
      status: 400,
      body: { reason: 'BadRequest', message: `${IN_VERSION}${problem}` },
    })
    expect((await call('GET', `${HOSTS}/a`)).status).toBe(404)
    const warned = await send('Warn', 'b')
    expect([warned.status, warned.headers.get('warning')]).toEqual([201, warning])
    expect(warned.body).toMatchObject({ spec: { online: false } })
    const taken = await send('Ignore', 'c')
    expect([taken.status, taken.headers.get('warning')]).toEqual([201, null])
  })

  test.each([
    [
      'application/merge-patch+json',
      '{"spec":{"online":true,"online":false}}',
      'duplicate field "spec.online"',
      'duplicate field \\"spec.online\\"',
    ],
    [
      'application/json-patch+json',
      '[{"op":"add","op":"replace","path":"/spec/online","value":false}]',
      'json patch duplicate field "[0].op"',
      'json patch duplicate field \\"[0].op\\"',
    ],
  ])('in a patch as %s', async (type, patch, problem, warning) => {
    const { call } = await servedKube(scope)
    const headers = { 'content-type': type }
    await call('POST', HOSTS, JSON_HOST('a'))
    const strict = await call('PATCH', `${HOSTS}/a?fieldValidation=Strict`, patch, headers)
    const { message } = strict.body as { message: string }
    expect([strict.status, message.endsWith(`strict decoding error: ${problem}`)]).toEqual([422, true])
    const warned = await call('PATCH', `${HOSTS}/a`, patch, headers)
    expect([warned.status, warned.headers.get('warning')]).toEqual([200, `299 - "${warning}"`])
  })

  test('that is applied', async () => {
    const { call } = await servedKube(scope)
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    const apply = (mode: string) =>
      call('PATCH', `${HOSTS}/a?fieldManager=me&fieldValidation=${mode}`, YAML_HOST('a'), headers)
    expect(await apply('Strict')).toMatchObject({
      status: 400,
      body: {
        message:
          'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 6: key "online" already set in map\n  line 8: key "bootMode" already set in map',
      },
    })
    const warned = await apply('Warn')
    expect([warned.status, warned.headers.get('warning')]).toEqual([
      201,
      String.raw`299 - "line 6: key \"online\" already set in map", 299 - "line 8: key \"bootMode\" already set in map"`,
    ])
  })
})
