import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defined, Scope } from '../../base/runtime/index.js'
import { servedKube } from '../kit/cluster/served-kube.js'

/** Calls that a real kube-apiserver was sent, with its answers, one after another. */

type PickName =
  | ('spec' | 'spec alone' | 'applied' | 'metadata keys' | 'keys' | 'secret' | 'secret type' | 'finalizers')
  | ('is whole list' | 'list metadata' | 'count' | 'columns' | 'deleted kind' | 'list kind')

interface SentCall {
  method: string
  path: string
  headers?: Record<string, string>
  /** An object, or a text as it is sent. */
  body?: unknown
}

interface RecordedCall extends SentCall {
  title: string
  /** Something that BareMetal Operator had done by then. */
  first?: SentCall
  /** Part of the answer that is compared. */
  pick?: PickName
  /** True for a Secret of client-go as protobuf. */
  protobuf?: true
  answer: { status: number; warning?: string; message?: string; shown?: unknown }
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../fixtures/kube-api/${name}`, import.meta.url), 'utf8'))

const { calls } = read('apiserver-calls.json') as { calls: RecordedCall[] }
const { bodies } = read('protobuf-bodies.json') as { bodies: { body: string; object: { kind: string } }[] }

interface Answered {
  kind?: string
  type?: string
  spec?: object
  metadata?: Record<string, unknown>
  items?: unknown[]
  columnDefinitions?: { name: string }[]
  message?: string
}

const PICKS: Readonly<Record<PickName, (body: Answered) => unknown>> = {
  spec: ({ spec }) => spec,
  'spec alone': ({ spec }) => spec,
  applied: ({ spec, metadata }) => [spec, metadata?.['managedFields'] !== undefined],
  'metadata keys': ({ metadata }) => Object.keys(metadata ?? {}).sort(),
  keys: (body) => Object.keys(body).sort(),
  secret: ({ type, ...body }) => [[...Object.keys(body), 'type'].sort(), type],
  'secret type': ({ type }) => type,
  finalizers: ({ metadata }) => metadata?.['finalizers'],
  'is whole list': ({ metadata }) => metadata?.['remainingItemCount'] === undefined,
  'list metadata': ({ items, metadata }) => [items?.length, Object.keys(metadata ?? {}).sort()],
  count: ({ items }) => items?.length,
  columns: ({ columnDefinitions }) => columnDefinitions?.filter((_, at) => at < 8).map(({ name }) => name),
  'deleted kind': ({ kind }) => kind,
  'list kind': ({ kind }) => kind,
}

/** Without versions and addresses in memory, which are others each time. */
const normalized = (message: string | undefined): string | undefined =>
  message?.replaceAll(/current: \d+/g, 'current: N').replaceAll(/\(0x[0-9a-f]+\)/g, '(0x1)')

const scope = new Scope()
let url: string
beforeAll(async () => {
  const { server } = await servedKube(scope)
  url = server.url
})
afterAll(() => scope[Symbol.asyncDispose]())

async function send({ method, path, headers = {}, body, ...more }: SentCall & { protobuf?: true }) {
  const secret = bodies.find(({ object }) => object.kind === 'Secret')!.body
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const sent = more.protobuf ? Buffer.from(secret, 'base64') : body === undefined ? undefined : text
  const type = sent === undefined ? undefined : 'application/json'
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...defined({ 'content-type': type }), ...headers },
    ...defined({ body: sent }),
  })
  const received = await answer.text()
  const isObject = received.startsWith('{') && !received.trim().includes('\n')
  const isText = answer.headers.get('content-type')?.startsWith('text/plain')
  return {
    status: answer.status,
    warning: answer.headers.get('warning'),
    body: (isObject ? JSON.parse(received) : isText ? { message: received } : {}) as Answered,
  }
}

test('each recorded call is answered as by a real kube-apiserver', async () => {
  for (const call of calls) {
    const { title, first, pick, answer, ...sent } = call
    if (first) expect((await send(first)).status, title).toBeLessThan(300)
    const { status, warning, body } = await send(sent)
    const isPicked = pick !== undefined && answer.shown !== undefined
    const ours = {
      status,
      warning,
      message: answer.message === undefined ? undefined : normalized(body.message),
      shown: isPicked ? PICKS[pick](body) : undefined,
    }
    const theirs = {
      status: answer.status,
      warning: answer.warning ?? null,
      message: normalized(answer.message),
      shown: answer.shown,
    }
    expect(ours, title).toEqual(theirs)
  }
})
