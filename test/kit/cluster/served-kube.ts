import type { Scope } from '../../../base/runtime/index.js'
import { defined, seededRandom, systemClock } from '../../../base/runtime/index.js'
import { openKube } from '../../../base/kubernetes/open-kube.js'
import { serveKube } from '../../../base/kubernetes/http/kube-server.js'

/** Path of the hosts of a namespace. */
export const HOSTS = '/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts'

/** A Kubernetes API behind HTTP with the namespace `metal3`, until the scope ends, and calls of it. */
export async function servedKube(scope: Scope, options: { token?: string } = {}) {
  const clock = systemClock()
  const kube = openKube({ clock, random: seededRandom(5) })
  kube.store.create('Namespace', { metadata: { name: 'metal3' } })
  const server = scope.use(await serveKube({ store: kube.store, port: 0, clock, ...options }))
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}${path}`, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...defined({ body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') && text !== ''
    return { status: answer.status, headers: answer.headers, body: (isJson ? JSON.parse(text) : text) as never }
  }
  return { ...kube, server, call }
}

/** A host as a client writes it. */
export const host = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'BareMetalHost',
  metadata: { name, ...metadata },
  spec: { online: true, ...spec },
})
