import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** Request as it arrived, for tests that look at it. */
export interface SeenRequest {
  method: string
  url: string
  authorization: string | undefined
}

export interface RegistryServerOptions {
  /** How clients have to say who they are: not at all, by password, or by a token of the registry's own token server. */
  auth?: 'none' | 'basic' | 'bearer'
  users?: Readonly<Record<string, string>>
  /** True if tokens for pulling are given to anyone. */
  anonymousPull?: boolean
  /** Realm in place of the own token server. */
  realm?: string
  tls?: { key: string; cert: string }
  /** Answers a request in place of the registry; `false` leaves it to the registry. */
  fault?: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>
}

interface Repository {
  blobs: Map<string, Buffer>
  manifests: Map<string, { type: string; bytes: Buffer }>
  tags: Map<string, string>
}

/** A registry that keeps what is pushed: the OCI distribution API 1.1, as far as clients use it. */
export interface RegistryServerHandle extends AsyncDisposable {
  /** `127.0.0.1:PORT` */
  host: string
  seen: SeenRequest[]
  repositories: Map<string, Repository>
  /** Tokens that were given, by what they are for. */
  tokens: Map<string, string>
}

const digestOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

export async function registryServer(options: RegistryServerOptions = {}): Promise<RegistryServerHandle> {
  const { auth = 'none', users = {}, anonymousPull = false, tls, fault } = options
  const repositories: RegistryServerHandle['repositories'] = new Map()
  const uploads = new Map<string, Buffer>()
  const tokens = new Map<string, string>()
  const seen: SeenRequest[] = []
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = request
    seen.push({ method, url, authorization: headers.authorization })
    if (await fault?.(request, response)) return
    const body = await bodyOf(request)
    const at = new URL(url, 'http://registry')
    if (at.pathname === '/token') return tokenFor(at, headers.authorization, body, response)
    const [, name = '', kind = '', reference = ''] =
      /^\/v2\/(.+)\/(manifests|blobs\/uploads|blobs|tags)\/(.*)$/.exec(at.pathname) ?? []
    const actions = method === 'GET' || method === 'HEAD' ? 'pull' : 'push'
    if (!isAllowed(headers.authorization, name, actions)) return challenge(name, actions, response)
    if (at.pathname === '/v2/') return void response.end('{}')
    if (kind === 'manifests') return manifests(name, reference, method, headers['content-type'], body, response)
    if (kind === 'tags') return listTags(name, at, response)
    if (kind === 'blobs') return blobs(name, reference, method, response)
    if (kind === 'blobs/uploads') return upload(name, at, method, body, response)
    failed(response, 404, 'NAME_UNKNOWN')
  }

  function isAllowed(authorization: string | undefined, name: string, actions: string): boolean {
    if (auth === 'none') return true
    if (auth === 'basic') return isUser(authorization)
    const scope = tokens.get((authorization ?? '').replace(/^Bearer /, ''))
    return (
      scope !== undefined &&
      (name === '' ||
        scope === `repository:${name}:pull,push` ||
        (actions === 'pull' && scope === `repository:${name}:pull`))
    )
  }

  function isUser(authorization: string | undefined): boolean {
    const [, encoded = ''] = /^Basic (.*)$/.exec(authorization ?? '') ?? []
    const [user = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':')
    return user in users && users[user] === password.join(':')
  }

  function challenge(name: string, actions: string, response: ServerResponse): void {
    const own = `http${tls ? 's' : ''}://${host()}/token`
    const scope = name === '' ? '' : `,scope="repository:${name}:${actions}"`
    const wanted =
      auth === 'basic' ? 'Basic realm="kit"' : `Bearer realm="${options.realm ?? own}",service="kit"${scope}`
    response.setHeader('www-authenticate', wanted)
    failed(response, 401, 'UNAUTHORIZED')
  }

  function tokenFor(at: URL, authorization: string | undefined, body: Buffer, response: ServerResponse): void {
    const form = new URLSearchParams(body.toString())
    const scope = at.searchParams.get('scope') ?? form.get('scope') ?? ''
    const refresh = form.get('refresh_token')
    const isKnown = isUser(authorization) || (refresh !== null && Object.values(users).includes(refresh))
    if (!isKnown && !(anonymousPull && scope.endsWith(':pull') && authorization === undefined))
      return failed(response, 401, 'UNAUTHORIZED')
    const token = digestOf(Buffer.from(scope + tokens.size)).slice(7, 40)
    tokens.set(token, scope)
    response.end(JSON.stringify({ token, expires_in: 60 }))
  }

  const repository = (name: string): Repository => {
    const known = repositories.get(name) ?? { blobs: new Map(), manifests: new Map(), tags: new Map() }
    repositories.set(name, known)
    return known
  }

  function manifests(
    name: string,
    reference: string,
    method: string,
    type: string | undefined,
    body: Buffer,
    response: ServerResponse,
  ): void {
    const { manifests: known, tags, blobs: content } = repository(name)
    if (method === 'PUT') {
      const digest = digestOf(body)
      const {
        config,
        layers = [],
        manifests: children = [],
      } = JSON.parse(body.toString()) as Record<string, { digest: string }[]> & { config?: { digest: string } }
      const blobsOf = [...(config ? [config] : []), ...layers].map((one) => one.digest)
      const isWhole = blobsOf.every((one) => content.has(one)) && children.every((one) => known.has(one.digest))
      if (!isWhole) return failed(response, 400, 'MANIFEST_BLOB_UNKNOWN')
      known.set(digest, { type: type ?? '', bytes: body })
      if (!reference.startsWith('sha256:')) tags.set(reference, digest)
      response.writeHead(201, { 'docker-content-digest': digest, location: `/v2/${name}/manifests/${digest}` }).end()
      return
    }
    const digest = tags.get(reference) ?? reference
    const found = known.get(digest)
    if (!found) return failed(response, 404, 'MANIFEST_UNKNOWN')
    response.writeHead(200, {
      'docker-content-digest': digest,
      'content-type': found.type,
      'content-length': found.bytes.length,
    })
    response.end(method === 'HEAD' ? undefined : found.bytes)
  }

  /** Two at a time, so that clients have to follow the link to the rest. */
  function listTags(name: string, at: URL, response: ServerResponse): void {
    const known = repositories.get(name)
    if (!known) return failed(response, 404, 'NAME_UNKNOWN')
    const all = [...known.tags.keys()]
    const from = all.indexOf(at.searchParams.get('last') ?? '') + 1
    const tags = all.slice(from, from + 2)
    if (from + 2 < all.length)
      response.setHeader('link', `</v2/${name}/tags/list?last=${tags.at(-1)!}&n=2>; rel="next"`)
    response.end(JSON.stringify({ name, tags }))
  }

  function blobs(name: string, digest: string, method: string, response: ServerResponse): void {
    const found = repository(name).blobs.get(digest)
    if (!found) return failed(response, 404, 'BLOB_UNKNOWN')
    response.writeHead(200, { 'content-length': found.length })
    response.end(method === 'HEAD' ? undefined : found)
  }

  function upload(name: string, at: URL, method: string, body: Buffer, response: ServerResponse): void {
    const id = at.pathname.split('/').at(-1)!
    if (method === 'POST') {
      const fresh = `u${uploads.size}`
      uploads.set(fresh, Buffer.alloc(0))
      response.writeHead(202, { location: `/v2/${name}/blobs/uploads/${fresh}?state=0` }).end()
      return
    }
    const before = uploads.get(id)
    if (!before) return failed(response, 404, 'BLOB_UPLOAD_UNKNOWN')
    const bytes = Buffer.concat([before, body])
    uploads.set(id, bytes)
    if (method === 'PATCH') {
      const location = `/v2/${name}/blobs/uploads/${id}?state=${bytes.length}`
      response.writeHead(202, { location, range: `0-${bytes.length - 1}` }).end()
      return
    }
    const digest = at.searchParams.get('digest') ?? ''
    if (digestOf(bytes) !== digest) return failed(response, 400, 'DIGEST_INVALID')
    repository(name).blobs.set(digest, bytes)
    uploads.delete(id)
    response.writeHead(201, { 'docker-content-digest': digest }).end()
  }

  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response).catch((error: unknown) => response.destroy(error as Error))
  const server: Server = tls ? createTlsServer(tls, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host: host(),
    seen,
    repositories,
    tokens,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function failed(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ errors: [{ code, message: code.toLowerCase().replaceAll('_', ' ') }] }))
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
