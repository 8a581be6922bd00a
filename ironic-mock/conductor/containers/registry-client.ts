import { createHash, getHashes } from 'node:crypto'
import {
  basicAuthorization,
  FetchFailure,
  HttpClient,
  maskedAddress,
  withoutPasswords,
  type FileAnswer,
  type HttpClientOptions,
} from '../../../base/bytes/index.js'
import { parseChallenges } from '../../../base/registry/index.js'
import { isObject, seconds, type Clock } from '../../../base/runtime/index.js'
import type { JsonObject } from '../../../base/wire/index.js'
import { WRONG_CHECKSUM } from '../core/image-checksum.js'
import { configuredSecret, type PullAccount } from './pull-account.js'

/** A reference as in `oci://quay.io/org/disk:latest`. */
export interface ContainerPlace {
  /** The whole reference without a password, for messages. */
  readonly href: string
  /** Name and port of the registry. */
  readonly host: string
  /** `/org/disk` */
  readonly repository: string
  /** `latest` if the reference names none. */
  readonly tag: string
  readonly digest: string | undefined
}

/** An index or a manifest, with the digest that the registry names in a header as `dockerContentDigest`. */
export type RegistryDocument = Readonly<JsonObject>

export interface RegistryClientOptions {
  clock: Clock
  http: HttpClientOptions
  /** `[oci]permit_fallback_to_http_transport` */
  permitsHttp: boolean
  /** `[oci]authentication_config` */
  authenticationFile: string | null
  signal: AbortSignal
}

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'
const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json'
const MAX_DOCUMENT_BYTES = 4 * 2 ** 20
/** Tries of a request that the registry answers with 429; the waits are the mean of those of Ironic, which are by chance. */
const BUSY_TRIES = 5
/** Pages of tags that are read. Ironic reads on where a registry's list does not end. */
const MAX_TAG_PAGES = 1000
const FIRST_BUSY_WAIT = seconds(0.75)

/** Splits a reference as ironic 39.0.0 common/oci_registry.py does; it is not checked there either. */
export function containerPlace(href: string): ContainerPlace {
  const { host = '', path = '' } = /^[a-z]+:\/\/(?<host>[^/?#]*)(?<path>[^?#]*)/i.exec(href)?.groups ?? {}
  const [beforeDigest = '', digest] = path.split('@')
  const colon = beforeDigest.indexOf(':')
  const repository = colon === -1 ? beforeDigest : beforeDigest.slice(0, colon)
  return {
    href: withoutPasswords(href),
    host,
    repository,
    digest,
    tag: colon === -1 ? 'latest' : beforeDigest.slice(colon + 1),
  }
}

/** Asks one registry in the way of ironic 39.0.0 (common/oci_registry.py), whose sentences its errors have. */
export class RegistryClient {
  readonly #options: RegistryClientOptions
  readonly #http: HttpClient
  readonly #place: ContainerPlace
  #scheme: 'https' | 'http' = 'https'
  #account: PullAccount | undefined
  #authorization: string | null = null

  constructor(place: ContainerPlace, options: RegistryClientOptions) {
    this.#place = place
    this.#options = options
    this.#http = new HttpClient(options.http)
  }

  /** The header by which the agent may fetch the image; null for a registry that asked for none. */
  get authorization(): string | null {
    return this.#authorization
  }

  /**
   * Logs in where the registry asks for it. Ironic does so only with a secret of the node or a file of secrets.
   *
   * @throws Error in Ironic's words
   */
  async authenticate(account: PullAccount | undefined): Promise<void> {
    this.#account = account
    this.#authorization = null
    const answer = await this.#send(this.#url('/'), {})
    await answer.close()
    if (answer.status === 200) return
    if (answer.status !== 401) throw requestsError(answer)
    const [challenge] = parseChallenges(answer.headers['www-authenticate'] ?? '')
    if (challenge?.scheme === 'bearer') this.#authorization = `Bearer ${await this.#token(challenge.parameters)}`
    else if (challenge?.scheme === 'basic') this.#authorization = await this.#basic(account)
    else throw new Error(`Unknown www-authenticate value: ${answer.headers['www-authenticate'] ?? ''}`)
  }

  /** The index, or the only manifest, that the tag names. */
  async index(): Promise<RegistryDocument> {
    await this.#checkTag()
    const { href, tag } = this.#place
    const answer = await this.#found(`${this.#place.repository}/manifests/${tag}`, [INDEX_TYPE, MANIFEST_TYPE], () =>
      imageNotFound(href),
    )
    return documentOf(answer)
  }

  /** @throws Error in Ironic's words, also where the content is another than the digest says */
  async manifest(digest: string): Promise<RegistryDocument> {
    const path = `${this.#place.repository}/manifests/${digest}`
    const answer = await this.#found(path, [MANIFEST_TYPE], () => imageNotFound(this.#withoutDigest()))
    return documentOf(answer, digest)
  }

  blobUrl(digest: string): string {
    return this.#url(`${this.#place.repository}/blobs/${digest}`)
  }

  #url(path: string): string {
    return `${this.#scheme}://${this.#place.host}/v2${path}`
  }

  #withoutDigest(): string {
    return this.#place.href.replace(/@.*$/s, '')
  }

  async #checkTag(): Promise<void> {
    const { href, repository, tag } = this.#place
    const tags: string[] = []
    let pages = 0
    for (let path: string | undefined = `${repository}/tags/list`; path !== undefined;) {
      if (pages++ === MAX_TAG_PAGES) throw new Error(`The list of tags of ${href} does not end.`)
      const answer: FileAnswer = await this.#found(path, [INDEX_TYPE], undefined)
      const listed = (await documentOf(answer))['tags']
      if (Array.isArray(listed)) tags.push(...listed.map(String))
      path = nextPage(answer)
    }
    if (tags.length === 0) throw new Error(`Image ${href} does not have any tags`)
    if (!tags.includes(tag))
      throw new Error(`Image tag ${href} could not be found, available tags are ${tags.join(', ')}`)
  }

  /** @param missing says that there is no such thing; without it a 404 is an error like others */
  async #found(path: string, types: readonly string[], missing: (() => Error) | undefined): Promise<FileAnswer> {
    const headers = { accept: types.join(', ') }
    let answer = await this.#patiently(path, headers)
    if (answer.status === 401) {
      await answer.close()
      if (this.#authorization !== null) await this.authenticate(this.#account)
      answer = await this.#patiently(path, headers)
    }
    const { status } = answer
    if (status < 400) return answer
    await answer.close()
    if (status === 401) throw authenticationRequired(this.#url(path))
    if (missing && (status === 403 || status === 404)) throw missing()
    if (status >= 500) throw new Error('Resource temporarily unavailable, please retry.')
    throw requestsError(answer)
  }

  async #patiently(path: string, headers: Readonly<Record<string, string>>): Promise<FileAnswer> {
    const { clock, signal } = this.#options
    for (let tries = 1; ; tries++) {
      const answer = await this.#send(this.#url(path), headers)
      if (answer.status !== 429) return answer
      await answer.close()
      if (tries === BUSY_TRIES)
        throw new Error(
          `The image registry has indicates the rate limit has been exceeded for url ${answer.url}. Please try again later or consider using authentication and/or trying again.`,
        )
      await clock.sleep(FIRST_BUSY_WAIT * 2 ** (tries - 1), { signal })
    }
  }

  /** A registry without TLS is asked by http where the operator permits it. */
  async #send(url: string, headers: Readonly<Record<string, string>>): Promise<FileAnswer> {
    const { permitsHttp, signal } = this.#options
    const sent = this.#authorization === null ? headers : { ...headers, authorization: this.#authorization }
    try {
      return await this.#http.get({ url, headers: sent, signal })
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error
      if (!permitsHttp || this.#scheme === 'http' || !isTlsFailure(error)) throw new Error(error.message)
      this.#scheme = 'http'
      return this.#send(url.replace(/^https:/, 'http:'), headers)
    }
  }

  async #token({ realm, service }: Readonly<Record<string, string>>): Promise<string> {
    if (realm === undefined || !URL.canParse(realm)) throw new Error(`Invalid URL '${realm ?? ''}'`)
    const url = new URL(realm)
    if (service !== undefined) url.searchParams.set('service', service)
    url.searchParams.set('scope', `repository:${this.#place.repository.slice(1)}:pull`)
    const account = this.#account ?? (await this.#configured(url.host))
    const headers = account ? { authorization: basicAuthorization(account) } : {}
    const answer = await this.#http.get({ url: url.href, headers, signal: this.#options.signal })
    if (answer.status >= 400) {
      await answer.close()
      throw requestsError(answer)
    }
    const { token } = await documentOf(answer)
    if (typeof token !== 'string') throw new Error('Invalid auth response, no token provide')
    return token
  }

  async #configured(host: string): Promise<PullAccount | undefined> {
    const secret = await configuredSecret(this.#options.authenticationFile, host, this.#options.clock)
    return secret === undefined ? undefined : { username: '', password: secret }
  }

  async #basic(account: PullAccount | undefined): Promise<string> {
    if (!account?.username || !account.password) throw authenticationRequired(this.#place.href)
    const authorization = basicAuthorization(account)
    const { signal } = this.#options
    const answer = await this.#http.get({ url: this.#url('/'), headers: { authorization }, signal })
    await answer.close()
    if (answer.status >= 400) throw requestsError(answer)
    return authorization
  }
}

const isTlsFailure = ({ code }: FetchFailure): boolean => code === 'not-tls' || code.startsWith('tls-')

const imageNotFound = (href: string): Error => new Error(`Image ${href} could not be found.`)

const authenticationRequired = (what: string): Error =>
  new Error(`The requested image ${what} requires authentication which has not been provided. Unable to proceed.`)

/** As Python's requests words a status that is an error. */
const requestsError = ({ status, statusText, url }: FileAnswer): Error =>
  new Error(`${status} ${status < 500 ? 'Client' : 'Server'} Error: ${statusText} for url: ${maskedAddress(url)}`)

/** The next page of a list, by its `Link` header. */
function nextPage({ headers, url }: FileAnswer): string | undefined {
  const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec(headers['link'] ?? '')?.[1]
  if (next === undefined || !URL.canParse(next, url)) return undefined
  const { pathname, search } = new URL(next, url)
  return `${pathname.replace(/^\/v2/, '')}${search}`
}

async function documentOf(answer: FileAnswer, digest?: string): Promise<RegistryDocument> {
  const bytes = await answer.bytes(MAX_DOCUMENT_BYTES)
  if (digest !== undefined) checkDocument(bytes, digest)
  const document: unknown = JSON.parse(bytes.toString())
  if (!isObject(document)) throw new Error(`the registry answers ${maskedAddress(answer.url)} with no object`)
  const stated = answer.headers['docker-content-digest']
  return stated === undefined ? document : { ...document, dockerContentDigest: stated }
}

function checkDocument(bytes: Buffer, digest: string): void {
  const [algorithm = '', value] = digest.split(':')
  if (!getHashes().includes(algorithm)) throw new Error(`unsupported hash type ${algorithm}`)
  if (createHash(algorithm).update(bytes).digest('hex') !== value) throw new Error(WRONG_CHECKSUM)
}
