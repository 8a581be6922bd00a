import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { selfSigned } from '../../../agent/index.js'
import { HOSTS, host, servedKube } from '../../../test/kit/cluster/served-kube.js'
import { defined, Scope, systemClock, systemRandom } from '../../runtime/index.js'

/** Webhooks of clients, over https. */

let scope = new Scope()
afterEach(async () => {
  await scope[Symbol.asyncDispose]()
  scope = new Scope()
})

interface Review {
  request: {
    uid: string
    operation: string
    name: string
    namespace?: string
    dryRun: boolean
    kind: object
    object: { spec: Record<string, unknown>; metadata: { labels?: object } } | null
    oldObject: object | null
  }
}

interface SeenAnswer {
  message: string
  metadata: { resourceVersion: string }
}

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const MERGE = { 'content-type': 'application/merge-patch+json' }

const configuration = (url: string, caBundle: string | undefined, more: object = {}) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'hosts' },
  webhooks: [
    {
      name: 'hosts.example.com',
      clientConfig: { url, ...defined({ caBundle }) },
      rules: [
        { operations: ['*'], apiGroups: ['metal3.io'], apiVersions: ['v1alpha1'], resources: ['baremetalhosts'] },
      ],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...more,
    },
  ],
})

/** @param respond the response to a review; undefined for none */
async function withWebhook(respond: (review: Review) => object | undefined, more: object = {}) {
  const { key, certificate } = await selfSigned({
    hostname: 'localhost',
    address: '127.0.0.1',
    random: systemRandom,
    clock: systemClock(),
  })
  const reviews: Review[] = []
  const server = createServer({ key, cert: certificate }, (request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const review = JSON.parse(body) as Review
      reviews.push(review)
      const answer = respond(review)
      if (answer) response.end(JSON.stringify({ response: { uid: review.request.uid, ...answer } }))
      else response.writeHead(500).end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  scope.onClose(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/validate`
  const served = await servedKube(scope)
  const call = async (...args: Parameters<typeof served.call>) => {
    const { status, headers, body } = await served.call(...args)
    return { status, warning: headers.get('warning'), body: body as SeenAnswer }
  }
  const caBundle = Buffer.from(certificate).toString('base64')
  const made = await call('POST', CONFIGURATIONS, configuration(url, caBundle, more))
  expect(made).toMatchObject({
    status: 201,
    body: { metadata: { generation: 1 }, webhooks: [{ failurePolicy: 'Fail', timeoutSeconds: 10 }] },
  })
  return { ...served, call, reviews, url }
}

test('each write is reviewed with what it makes of the object; a denial is answered, and nothing written', async () => {
  const { call, reviews } = await withWebhook(({ request }) => ({
    allowed: request.object?.spec['description'] !== 'wrong',
    status: { message: 'this is wrong', code: 422 },
    warnings: ['looked at it'],
  }))
  const made = await call('POST', HOSTS, host('a'))
  expect(made).toMatchObject({ status: 201, warning: '299 - "looked at it"' })
  expect(reviews).toMatchObject([
    {
      apiVersion: 'admission.k8s.io/v1',
      request: {
        operation: 'CREATE',
        name: 'a',
        namespace: 'metal3',
        dryRun: false,
        kind: { group: 'metal3.io', version: 'v1alpha1', kind: 'BareMetalHost' },
        object: { spec: { online: true, automatedCleaningMode: 'metadata' } },
        oldObject: null,
      },
    },
  ])

  const denied = await call('PATCH', `${HOSTS}/a`, { spec: { description: 'wrong' } }, MERGE)
  expect([denied.status, denied.body.message]).toEqual([
    422,
    'admission webhook "hosts.example.com" denied the request: this is wrong',
  ])
  expect(reviews.at(-1)).toMatchObject({ request: { operation: 'UPDATE', oldObject: { spec: { online: true } } } })
  expect(await call('GET', `${HOSTS}/a`)).toMatchObject({ body: { metadata: made.body.metadata } })
  expect(await call('POST', `${HOSTS}?dryRun=All`, host('b'))).toMatchObject({ status: 201 })
  expect(reviews.at(-1)!.request.dryRun).toBe(true)
  expect(await call('POST', '/api/v1/namespaces/metal3/secrets', { metadata: { name: 's' } })).toMatchObject({
    status: 201,
  })
  expect(await call('DELETE', `${HOSTS}/a`)).toMatchObject({ status: 200 })
  expect(reviews.map(({ request }) => request.operation)).toEqual(['CREATE', 'UPDATE', 'CREATE', 'DELETE'])
})

test('a webhook that does not answer stops the write, unless it may be ignored', async () => {
  const { call, url } = await withWebhook(() => undefined)
  const failed = await call('POST', HOSTS, host('a'))
  expect([failed.status, failed.body.message]).toEqual([
    500,
    'Internal error occurred: failed calling webhook "hosts.example.com": failed to call webhook: the server answers with 500',
  ])
  const ignored = { ...configuration(url, undefined, { failurePolicy: 'Ignore' }) }
  expect(await call('PUT', `${CONFIGURATIONS}/hosts`, ignored)).toMatchObject({ status: 200 })
  expect(await call('POST', HOSTS, host('a'))).toMatchObject({ status: 201 })
})

test('a certificate that the bundle does not know is an error', async () => {
  const { call, url } = await withWebhook(() => ({ allowed: true }))
  await call('PUT', `${CONFIGURATIONS}/hosts`, configuration(url, undefined))
  const failed = await call('POST', HOSTS, host('a'))
  expect(failed.status).toBe(500)
  expect(failed.body.message).toContain('self-signed certificate')
})

test('a write waits for a review of the object that is there', async () => {
  let times = 0
  const { call, reviews, store } = await withWebhook(() => {
    times++
    const at = { name: 'a', namespace: 'metal3' }
    if (times === 2)
      store.change('BareMetalHost', at, (current) => ({ ...current, spec: { online: true, description: 'meanwhile' } }))
    return { allowed: true }
  })
  await call('POST', HOSTS, host('a'))
  const changed = await call('PATCH', `${HOSTS}/a`, { spec: { online: false } }, MERGE)
  expect(changed.body).toMatchObject({ spec: { online: false, description: 'meanwhile' } })
  expect(reviews).toHaveLength(3)
})

test('selectors and scopes say which writes are reviewed', async () => {
  const { call, reviews } = await withWebhook(() => ({ allowed: true }), {
    objectSelector: {
      matchLabels: { site: 'a' },
      matchExpressions: [{ key: 'rack', operator: 'NotIn', values: ['r1', 'r2'] }],
    },
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'metal3' } },
  })
  await call('POST', HOSTS, host('a'))
  await call('POST', HOSTS, host('b', {}, { labels: { site: 'a', rack: 'r1' } }))
  await call('POST', HOSTS, host('c', {}, { labels: { site: 'a' } }))
  await call('POST', HOSTS.replace('metal3/', 'default/'), host('d', {}, { labels: { site: 'a' } }))
  expect(reviews.map(({ request }) => request.name)).toEqual(['c'])
})

test.each([
  [
    { clientConfig: { service: { name: 'x', namespace: 'y' } } },
    'this API has no services: name the webhook by its address',
  ],
  [{ clientConfig: { url: 'http://127.0.0.1/x' } }, "'https' is the only allowed URL scheme"],
  [{ clientConfig: { url: 'https://a:b@127.0.0.1/x' } }, 'user information is not permitted in URL'],
  [{ clientConfig: {} }, 'exactly one of url or service is required'],
  [{ timeoutSeconds: 31 }, 'should be less than or equal to 30'],
  [{ admissionReviewVersions: ['v1beta1'] }, 'must include at least one of v1'],
  [{ matchConditions: [{ name: 'a', expression: 'true' }] }, 'this API evaluates no conditions in CEL'],
  [{ sideEffects: 'Some' }, 'supported values: "None", "NoneOnDryRun"'],
])('a webhook with %j is refused', async (more, sentence) => {
  const { call } = await servedKube(scope)
  const { status, body } = await call('POST', CONFIGURATIONS, configuration('https://127.0.0.1/x', undefined, more))
  expect([status, (body as SeenAnswer).message]).toEqual([422, expect.stringContaining(sentence)])
})
