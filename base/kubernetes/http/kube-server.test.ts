import { request as httpRequest } from 'node:http'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { Scope } from '../../runtime/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

const SECRETS = '/api/v1/namespaces/metal3/secrets'

const openServer = (options: { token?: string } = {}) => servedKube(scope, options)

describe('discovery', () => {
  test('lists groups, versions and kinds, and what each can do', async () => {
    const { call } = await openServer()

    expect(await call('GET', '/api')).toMatchObject({ status: 200, body: { kind: 'APIVersions', versions: ['v1'] } })
    expect(await call('GET', '/apis')).toMatchObject({
      body: {
        groups: expect.arrayContaining([
          expect.objectContaining({
            name: 'metal3.io',
            preferredVersion: { groupVersion: 'metal3.io/v1alpha1', version: 'v1alpha1' },
          }),
        ]) as unknown,
      },
    })
    expect(await call('GET', '/apis/metal3.io/v1alpha1')).toMatchObject({
      body: {
        kind: 'APIResourceList',
        resources: expect.arrayContaining([
          expect.objectContaining({ name: 'baremetalhosts', shortNames: ['bmh', 'bmhost'], namespaced: true }),
          expect.objectContaining({ name: 'baremetalhosts/status', verbs: ['get', 'patch', 'update'] }),
        ]) as unknown,
      },
    })
    for (const path of ['/', '/api/v1', '/apis/metal3.io', '/version', '/openapi/v2', '/healthz', '/readyz'])
      expect(await call('GET', path)).toMatchObject({ status: 200 })
  })

  test('has fields and types of each kind, and the parameters of its patches', async () => {
    const { call } = await openServer()
    const { body } = await call('GET', '/openapi/v3')
    const { paths } = body as { paths: Record<string, { serverRelativeURL: string }> }
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['api/v1', 'apis/metal3.io/v1alpha1']))
    const document = await call('GET', paths['apis/metal3.io/v1alpha1']!.serverRelativeURL)
    const kind = { group: 'metal3.io', version: 'v1alpha1', kind: 'BareMetalHost' }
    const path = '/apis/metal3.io/v1alpha1/namespaces/{namespace}/baremetalhosts'
    expect(document.body).toMatchObject({
      paths: {
        [path]: { get: { 'x-kubernetes-group-version-kind': kind } },
        [`${path}/{name}`]: {
          patch: { parameters: expect.arrayContaining([{ name: 'fieldValidation', in: 'query' }]) },
        },
      },
      components: {
        schemas: {
          'io.metal3.v1alpha1.BareMetalHost': {
            properties: { spec: { properties: { online: { type: 'boolean' } } } },
            'x-kubernetes-group-version-kind': [kind],
          },
        },
      },
    })
    for (const missing of ['/openapi/v3/apis/none/v1', '/openapi/v3/', '/openapi/v4'])
      expect(await call('GET', missing)).toMatchObject({ status: 404, body: '404 page not found\n' })
  })
})

describe('objects', () => {
  test('are created, read, replaced, patched in each way, and deleted', async () => {
    const { call } = await openServer()
    const created = await call('POST', HOSTS, host('worker-0'))
    expect(created).toMatchObject({ status: 201, body: { metadata: { namespace: 'metal3', generation: 1 } } })
    const { metadata } = created.body as { metadata: object }

    const replaced = { ...host('worker-0', { online: false }), metadata }
    expect(await call('PUT', `${HOSTS}/worker-0`, replaced)).toMatchObject({
      status: 200,
      body: { spec: { online: false } },
    })
    expect(await call('PUT', `${HOSTS}/worker-0`, replaced)).toMatchObject({
      status: 409,
      body: { reason: 'Conflict' },
    })
    expect(await call('PUT', `${HOSTS}/worker-0`, host('worker-0'))).toMatchObject({
      status: 422,
      body: {
        details: {
          causes: [
            { field: 'metadata.resourceVersion', message: 'Invalid value: 0x0: must be specified for an update' },
          ],
        },
      },
    })
    const patch = (type: string, body: unknown, path = `${HOSTS}/worker-0`) =>
      call('PATCH', path, body, { 'content-type': `application/${type}` })
    expect(await patch('merge-patch+json', { spec: { online: true } })).toMatchObject({
      body: { spec: { online: true } },
    })
    expect(
      await patch('json-patch+json', [{ op: 'add', path: '/metadata/labels', value: { rack: 'a' } }]),
    ).toMatchObject({
      body: { metadata: { labels: { rack: 'a' } } },
    })
    expect(await patch('json-patch+json', [{ op: 'test', path: '/spec/online', value: false }])).toMatchObject({
      status: 422,
      body: { reason: 'Invalid', details: { causes: [{ message: 'testing value /spec/online failed' }] } },
    })
    expect(await patch('strategic-merge-patch+json', {})).toMatchObject({ status: 415 })
    const status = {
      errorCount: 0,
      errorMessage: '',
      operationalStatus: 'OK',
      poweredOn: true,
      provisioningFailCount: 0,
      provisioning: { ID: '', state: 'available' },
    }
    expect(await patch('merge-patch+json', { status }, `${HOSTS}/worker-0/status`)).toMatchObject({
      body: { status },
    })
    expect(await call('DELETE', `${HOSTS}/worker-0`)).toMatchObject({
      status: 200,
      body: {
        kind: 'Status',
        status: 'Success',
        details: { name: 'worker-0', group: 'metal3.io', kind: 'baremetalhosts' },
      },
    })
    expect(await call('GET', `${HOSTS}/worker-0`)).toMatchObject({
      status: 404,
      body: { code: 404, reason: 'NotFound' },
    })
  })

  test('are applied by the server, made where they are not, and refused without a field manager', async () => {
    const { call } = await openServer()
    const yaml =
      'apiVersion: metal3.io/v1alpha1\nkind: BareMetalHost\nmetadata: {name: worker-0}\nspec: {online: true}\n'
    const apply = (query: string, body = yaml) =>
      call('PATCH', `${HOSTS}/worker-0${query}`, body, { 'content-type': 'application/apply-patch+yaml' })

    expect(await apply('')).toMatchObject({ status: 422 })
    expect(await apply('?fieldManager=test')).toMatchObject({ status: 201 })
    expect(await apply('?fieldManager=test', yaml.replace('true', 'false'))).toMatchObject({
      status: 200,
      body: { spec: { online: false }, metadata: { generation: 2 } },
    })
  })

  test('with lists that are merged by their keys, in a strategic merge patch', async () => {
    const { call } = await openServer()
    const condition = (type: string, status: string) => ({ type, status })
    await call('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', finalizers: ['example.com/a'] },
      status: { conditions: [condition('Ready', 'True'), condition('DiskPressure', 'False')] },
    })
    const patch = (path: string, body: unknown) =>
      call('PATCH', `/api/v1/nodes/n${path}`, body, { 'content-type': 'application/strategic-merge-patch+json' })

    expect(await patch('/status', { status: { conditions: [condition('Ready', 'False')] } })).toMatchObject({
      body: { status: { conditions: [condition('Ready', 'False'), condition('DiskPressure', 'False')] } },
    })
    expect(await patch('', { metadata: { finalizers: ['example.com/b'], labels: { a: null } } })).toMatchObject({
      body: { metadata: { finalizers: ['example.com/a', 'example.com/b'] } },
    })
    const removal = { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } }
    expect(await patch('', removal)).toMatchObject({ body: { metadata: { finalizers: ['example.com/b'] } } })
  })

  test('are refused by their schema, and warned of for fields that it does not have', async () => {
    const { call } = await openServer()

    const wrong = host('worker-0', { online: 'yes', bootMode: 'BIOS', bmc: { address: 'ipmi://192.0.2.1' } })
    const { status, body } = await call('POST', HOSTS, wrong)
    expect([status, (body as { details: { causes: unknown[] } }).details.causes]).toEqual([
      422,
      [
        {
          field: 'spec.online',
          reason: 'FieldValueTypeInvalid',
          message: 'Invalid value: "string": spec.online in body must be of type boolean: "string"',
        },
        {
          field: 'spec.bootMode',
          reason: 'FieldValueNotSupported',
          message: 'Unsupported value: "BIOS": supported values: "UEFI", "UEFISecureBoot", "legacy"',
        },
        { field: 'spec.bmc.credentialsName', reason: 'FieldValueRequired', message: 'Required value' },
      ].sort((a, b) => causeOrder.indexOf(a.field) - causeOrder.indexOf(b.field)),
    ])

    const warned = await call('POST', HOSTS, host('worker-0', { colour: 'red' }))
    expect([warned.status, warned.headers.get('warning')]).toEqual([201, '299 - "unknown field \\"spec.colour\\""'])
    expect(await call('POST', `${HOSTS}?fieldValidation=Strict`, host('worker-1', { colour: 'red' }))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('strict decoding error: unknown field "spec.colour"') as string },
    })
  })

  test('are stored without fields that their kind does not have, which are warned of, refused or passed over as is asked', async () => {
    const { call } = await openServer()
    const spec = { zork: 1, bmc: { address: 'ipmi://10.0.0.1', credentialsName: 'bmc', port: 623 } }
    const sent = { ...host('worker-0', spec), frob: {} }
    Object.assign(sent.metadata, { colour: 'red', ownerReferences: [], managedFields: [{ manager: 'x' }] })

    const strict = await call('POST', `${HOSTS}?fieldValidation=Strict`, sent)
    expect([strict.status, strict.body]).toMatchObject([
      400,
      {
        reason: 'BadRequest',
        message:
          'BareMetalHost in version "v1alpha1" cannot be handled as a BareMetalHost: strict decoding error: unknown field "frob", ' +
          'unknown field "metadata.colour", unknown field "spec.bmc.port", unknown field "spec.zork"',
      },
    ])
    const ignored = await call('POST', `${HOSTS}?fieldValidation=Ignore`, sent)
    expect([ignored.status, ignored.headers.get('warning')]).toEqual([201, null])
    expect(ignored.body).toMatchObject({ spec: { bmc: { address: 'ipmi://10.0.0.1' } } })
    for (const gone of ['frob', 'colour', 'zork', 'port'])
      expect(JSON.stringify(ignored.body)).not.toContain(`"${gone}"`)

    const { body } = await call('GET', `${HOSTS}/worker-0`)
    const replaced = await call('PUT', `${HOSTS}/worker-0`, { ...(body as object), frob: 2 })
    expect([replaced.status, replaced.headers.get('warning')]).toEqual([200, '299 - "unknown field \\"frob\\""'])
    expect(replaced.body).not.toHaveProperty('frob')
  })

  test.each([
    ['application/merge-patch+json', { spec: { zork: 1, online: true } }],
    [
      'application/json-patch+json',
      [
        { op: 'add', path: '/spec/zork', value: 1 },
        { op: 'add', path: '/spec/online', value: true },
      ],
    ],
  ])(
    'patched with an unknown field by %s are changed without it, or refused where the client is strict',
    async (type, patch) => {
      const { call } = await openServer()
      await call('POST', HOSTS, host('worker-0', { online: false }))
      const headers = { 'content-type': type }
      const strict = await call('PATCH', `${HOSTS}/worker-0?fieldValidation=Strict`, patch, headers)
      expect([strict.status, strict.body]).toMatchObject([
        422,
        {
          message: expect.stringMatching(
            /^ "" is invalid: patch: Invalid value: "\{.*strict decoding error: unknown field "spec\.zork"$/s,
          ) as string,
          details: { causes: [{ field: 'patch', reason: 'FieldValueInvalid' }] },
        },
      ])
      const warned = await call('PATCH', `${HOSTS}/worker-0`, patch, headers)
      expect([warned.status, warned.headers.get('warning')]).toEqual([200, '299 - "unknown field \\"spec.zork\\""'])
      expect((warned.body as { spec: object }).spec).toEqual({ automatedCleaningMode: 'metadata', online: true })
    },
  )

  test('of kinds of the core group are pruned too, and those whose definitions are not here keep their fields', async () => {
    const { call, store } = await openServer()
    const secrets = HOSTS.replace(/^.*\/namespaces/, '/api/v1/namespaces').replace('baremetalhosts', 'secrets')
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' }, frob: 1 }
    const made = await call('POST', secrets, secret)
    expect([made.status, made.headers.get('warning')]).toEqual([201, '299 - "unknown field \\"frob\\""'])
    expect(made.body).not.toHaveProperty('frob')
    const machine = store.create('Machine', { metadata: { name: 'm', namespace: 'x' }, spec: { lifecycleHooks: {} } })
    expect(machine).toMatchObject({ spec: { lifecycleHooks: {} } })
  })

  test('are asked for with a validation that there is not', async () => {
    const { call } = await openServer()
    expect((await call('POST', `${HOSTS}?fieldValidation=Hard`, host('worker-0'))).body).toMatchObject({
      code: 422,
      message:
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Hard": supported values: "", "Ignore", "Strict", "Warn"',
    })
  })
  const causeOrder = ['spec.bmc.credentialsName', 'spec.bootMode', 'spec.online']

  test('tried dry are answered and not stored', async () => {
    const { call, store } = await openServer()

    expect(await call('POST', `${HOSTS}?dryRun=All`, host('worker-0'))).toMatchObject({ status: 201 })
    expect(store.list('BareMetalHost')).toEqual([])
  })

  test('of racing writers one wins, the others get a conflict', async () => {
    const { call, store } = await openServer()
    const { body } = await call('POST', HOSTS, host('worker-0'))
    const writes = await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        call('PUT', `${HOSTS}/worker-0`, {
          ...(body as object),
          spec: { online: true, description: `writer ${writer}` },
        }),
      ),
    )

    expect(writes.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
    expect(store.get('BareMetalHost', { name: 'worker-0', namespace: 'metal3' }).metadata.generation).toBe(2)
  })
})

describe('requests that no client of kubectl sends', () => {
  test.each([
    ['POST', HOSTS, 'no json', {}, 400],
    ['POST', HOSTS, '', {}, 400],
    ['POST', HOSTS, '[]', {}, 400],
    ['POST', HOSTS, '{}', { 'content-type': 'text/plain' }, 415],
    ['POST', HOSTS, `${'['.repeat(100_000)}`, {}, 400],
    ['POST', HOSTS, `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, {}, 400],
    ['POST', HOSTS, `a: &a [1]\nb: [${'*a,'.repeat(9)}*a]\n`, { 'content-type': 'application/yaml' }, 422],
    [
      'PATCH',
      `${HOSTS}/a`,
      `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
      { 'content-type': 'application/merge-patch+json' },
      400,
    ],
    ['PATCH', `${HOSTS}/a`, '[]', { 'content-type': 'application/merge-patch+json' }, 400],
    ['PATCH', `${HOSTS}/missing`, '{}', { 'content-type': 'application/merge-patch+json' }, 404],
    ['GET', `${HOSTS}/it's%20%22quoted%22`, undefined, {}, 404],
    ['GET', `${HOSTS}/%`, undefined, {}, 400],
    ['GET', '/api/v1/namespaces//secrets', undefined, {}, 404],
    ['GET', '/apis/apps/v1/nothing', undefined, {}, 404],
    ['GET', `${HOSTS}?labelSelector=%00(`, undefined, {}, 400],
    ['GET', `${HOSTS}?watch=true&resourceVersion=abc`, undefined, {}, 400],
    ['POST', '/apis/metal3.io/v1alpha1/baremetalhosts', '{}', {}, 405],
    ['PUT', HOSTS, '{}', {}, 405],
    ['OPTIONS', HOSTS, undefined, {}, 405],
    ['POST', '/version', '{}', {}, 405],
  ])('%s %s is answered with a Status', async (method, path, body, headers, status) => {
    const { call } = await openServer()

    expect(await call(method, path, body, headers)).toMatchObject({
      status,
      body: { kind: 'Status', status: 'Failure', code: status },
    })
  })

  test.each([
    `${HOSTS}/a/b/c`,
    '/apis/metal3.io/v1/baremetalhosts',
    '/apis/metal3.io/v1alpha1/baremetalhosts/worker-0',
    '/__proto__/constructor',
  ])('%s is no path of an API server, and answered in plain text', async (path) => {
    const { call } = await openServer()

    expect(await call('GET', path)).toMatchObject({ status: 404, body: '404 page not found\n' })
  })

  test('a body of 10 MB is refused before it is read', async () => {
    const { call } = await openServer()

    expect(await call('POST', SECRETS, `"${'x'.repeat(10_000_000)}"`)).toMatchObject({
      status: 413,
      body: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
    })
  })

  test('HEAD is answered without a body', async () => {
    const { server, call } = await openServer()
    await call('POST', HOSTS, host('worker-0'))
    const asked = httpRequest(`${server.url}${HOSTS}/worker-0`, { method: 'HEAD' }).end()
    const [answer] = (await once(asked, 'response')) as [{ statusCode: number; resume: () => void }]
    answer.resume()

    expect(answer.statusCode).toBe(200)
  })

  test('a name with a dot is one, with a quote is none', async () => {
    const { call } = await openServer()

    expect(await call('POST', HOSTS, host('worker-0.example.com'))).toMatchObject({ status: 201 })
    expect(await call('GET', `${HOSTS}/worker-0.example.com`)).toMatchObject({ status: 200 })
    expect(await call('POST', HOSTS, host('worker"0'))).toMatchObject({ status: 422 })
  })

  test('nothing without the token, where one is requested', async () => {
    const { call } = await openServer({ token: 'geheim' })

    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'Basic geheim' }])
      expect(await call('GET', '/version', undefined, headers)).toMatchObject({
        status: 401,
        body: { reason: 'Unauthorized' },
      })
    expect(await call('GET', '/version', undefined, { authorization: 'Bearer geheim' })).toMatchObject({ status: 200 })
  })
})
