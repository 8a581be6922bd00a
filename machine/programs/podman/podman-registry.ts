import {
  basicAuthorization,
  FetchFailure,
  HttpClient,
  retryAfter,
  streamFrom,
  type ByteStream,
  type FileAnswer,
  type HttpClientOptions,
} from '../../../base/bytes/index.js'
import { ACCEPTED, parseChallenges, type Descriptor, type ImageReference } from '../../../base/registry/index.js'
import { isObject, type Clock } from '../../../base/runtime/index.js'
import { duringPull, PodmanFailure, refusal, transportFailure, unexpectedStatusFailure } from './podman-failure.js'

export interface PullCredentials {
  username: string
  password: string
}

interface PodmanRegistryOptions {
  http: HttpClientOptions
  clock: Clock
  signal: AbortSignal
  /** Asks a registry without TLS, and one whose certificate is not believed. */
  isInsecure: boolean
  credentials: PullCredentials | null
}

/** As containers/image has them (docker/docker_client.go): tries of a request that is answered 429, and milliseconds. */
const BUSY_REQUEST = { tries: 5, firstWait: 2000, longestWait: 60_000 }
/** As containers/image has it. */
const MAX_PULLED_MANIFEST_BYTES = 4 * 2 ** 20
const MAX_TOKEN_BYTES = 64 * 1024

/** One repository, with the requests and the words of containers/image 5 (docker/docker_client.go). */
export class PodmanRegistry {
  readonly #host: string
  readonly #repository: string
  readonly #options: PodmanRegistryOptions
  readonly #http: HttpClient
  #scheme = 'https'
  #authorization: string | undefined
  #isReached = false

  constructor({ registry, repository }: ImageReference, options: PodmanRegistryOptions) {
    this.#host = registry === 'docker.io' ? 'registry-1.docker.io' : registry
    this.#repository = repository
    this.#options = options
    this.#http = new HttpClient({ ...options.http, insecure: options.isInsecure })
  }

  /** @param reference a tag or a digest */
  async manifest(reference: string, image: ImageReference): Promise<{ bytes: Buffer; mediaType: string | undefined }> {
    const path = `${this.#repository}/manifests/${reference}`
    const answer = await this.#request(path, { accept: ACCEPTED.join(', ') })
    if (answer.status !== 200) throw (await refusal(answer)).during(`reading manifest ${reference} in ${nameOf(image)}`)
    const bytes = await this.#whole(answer, MAX_PULLED_MANIFEST_BYTES)
    return { bytes, mediaType: answer.headers['content-type']?.split(';')[0]?.trim() }
  }

  async blob({ digest }: Descriptor): Promise<ByteStream> {
    const answer = await this.#request(`${this.#repository}/blobs/${digest}`, {})
    if (answer.status !== 200) throw (await refusal(answer)).during('fetching blob')
    const stream = streamFrom(answer.body)
    return {
      length: answer.length ?? undefined,
      next: () =>
        stream.next().catch((error: unknown) => {
          throw error instanceof FetchFailure ? transportFailure(error, answer.url) : error
        }),
      [Symbol.asyncDispose]: () => answer.close(),
    }
  }

  async #request(path: string, headers: Readonly<Record<string, string>>): Promise<FileAnswer> {
    await this.#reach()
    const url = `${this.#scheme}://${this.#host}/v2/${path}`
    const authorization = this.#authorization
    return this.#patiently(url, authorization === undefined ? headers : { ...headers, authorization })
  }

  /** Finds out how the registry is reached, and what it asks for. */
  async #reach(): Promise<void> {
    if (this.#isReached) return
    const answer = await duringPull(`pinging container registry ${this.#host}`, () => this.#ping())
    await answer.close()
    this.#isReached = true
    if (answer.status !== 401) return
    const challenges = parseChallenges(answer.headers['www-authenticate'] ?? '')
    const { credentials } = this.#options
    for (const { scheme, parameters } of challenges) {
      if (scheme === 'basic' && credentials) this.#authorization = basicAuthorization(credentials)
      if (scheme === 'bearer') this.#authorization = `Bearer ${await this.#token(parameters)}`
      if (scheme === 'basic' || scheme === 'bearer') return
    }
  }

  async #ping(): Promise<FileAnswer> {
    const at = () => `${this.#scheme}://${this.#host}/v2/`
    const asked = await this.#patiently(at(), {}).catch((error: unknown) => {
      if (!(error instanceof PodmanFailure) || !this.#options.isInsecure) throw error
      return undefined
    })
    if (asked === undefined) this.#scheme = 'http'
    const answer = asked ?? (await this.#patiently(at(), {}))
    if (answer.status === 200 || answer.status === 401) return answer
    throw answer.status < 500 ? await refusal(answer) : await closed(answer)
  }

  async #patiently(url: string, headers: Readonly<Record<string, string>>): Promise<FileAnswer> {
    const { clock, signal } = this.#options
    for (let tries = 1, pause = BUSY_REQUEST.firstWait; ; tries++, pause *= 2) {
      const answer = await this.#send(url, headers)
      if (answer.status !== 429 || tries === BUSY_REQUEST.tries) return answer
      await answer.close()
      const wait = retryAfter(answer.headers['retry-after'], clock.now()) ?? pause
      await clock.sleep(Math.min(wait, BUSY_REQUEST.longestWait), { signal })
    }
  }

  async #send(url: string, headers: Readonly<Record<string, string>>): Promise<FileAnswer> {
    try {
      return await this.#http.get({ url, headers, signal: this.#options.signal })
    } catch (error) {
      if (error instanceof FetchFailure) throw transportFailure(error, url).during(`Get ${JSON.stringify(url)}`)
      throw error
    }
  }

  async #token({ realm = '', service }: Readonly<Record<string, string>>): Promise<string> {
    if (!URL.canParse(realm)) throw new PodmanFailure('missing realm in bearer auth challenge')
    const url = new URL(realm)
    if (service !== undefined) url.searchParams.set('service', service)
    url.searchParams.set('scope', `repository:${this.#repository}:pull`)
    const { credentials } = this.#options
    const headers = credentials ? { authorization: basicAuthorization(credentials) } : {}
    const answer = await this.#patiently(url.href, headers)
    if (answer.status === 429) throw new PodmanFailure('too many requests to registry')
    if (answer.status === 401)
      throw (await refusal(answer)).during('unable to retrieve auth token: invalid username/password')
    if (answer.status !== 200) throw (await closed(answer)).during('requesting bearer token')
    const token = tokenIn(await this.#whole(answer, MAX_TOKEN_BYTES))
    if (token === undefined) throw new PodmanFailure('unable to retrieve auth token: no token in the answer')
    return token
  }

  async #whole(answer: FileAnswer, most: number): Promise<Buffer> {
    try {
      return await answer.bytes(most)
    } catch (error) {
      throw error instanceof FetchFailure ? transportFailure(error, answer.url) : error
    } finally {
      await answer.close()
    }
  }
}

async function closed(answer: FileAnswer): Promise<PodmanFailure> {
  await answer.close()
  return unexpectedStatusFailure(answer)
}

function tokenIn(bytes: Buffer): string | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    const token: unknown = isObject(value) ? (value['token'] ?? value['access_token']) : undefined
    return typeof token === 'string' && token !== '' ? token : undefined
  } catch {
    return undefined
  }
}

/** `quay.io/openshift/release` */
export const nameOf = ({ registry, repository }: ImageReference): string => `${registry}/${repository}`
