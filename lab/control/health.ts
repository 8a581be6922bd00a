import type { Dispatch, WireResponse } from '../../base/wire/index.js'

/** A reason why requests cannot be taken now; null when they can. */
export type UnreadyReason = () => string | null

/**
 * Answers the probes of Kubernetes and of proxies in front of another API, without a password: `GET /healthz` with 200
 * while the process lives, `GET /readyz` with 503 and a reason in plain text while it cannot take requests. A kubelet
 * counts 200 to 399 as success, restarts a process whose health fails, and sends nothing to one that is not ready.
 */
export function withHealth(dispatch: Dispatch, unreadyReason: UnreadyReason): Dispatch {
  return (request) => {
    const path = request.target.replace(/\?.*$/s, '').replace(/\/$/, '')
    if (path !== '/healthz' && path !== '/readyz') return dispatch(request)
    return Promise.resolve(healthAnswer(request.method, path === '/readyz' ? unreadyReason() : null))
  }
}

function healthAnswer(method: string, reason: string | null): WireResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
  if (method === 'HEAD') return { status: reason === null ? 200 : 503, headers }
  if (method !== 'GET') return { status: 405, headers: { ...headers, allow: 'GET, HEAD' }, body: 'use GET or HEAD\n' }
  return reason === null ? { status: 200, headers, body: 'ok' } : { status: 503, headers, body: `${reason}\n` }
}
