import { FetchFailure, streamFrom, type ByteStream, type FileAnswer } from '../../bytes/index.js'
import { UserError } from '../../runtime/index.js'
import { checkContent, blobDigestOf, isDigest, verifiedStream } from '../digest.js'
import { ACCEPTED, MAX_MANIFEST_BYTES, type Descriptor } from '../images/manifest.js'
import type { ImageSink, ImageStore, StoredManifest } from '../images/image-store.js'
import { unexpectedStatus, registryUnreachableError } from './registry-failures.js'
import type { RegistryRequest, RegistryServer } from './registry-server.js'

/** More than this goes in chunks, so that a proxy's limit of a request's size lets it through. */
const MIN_CHUNKED_BLOB_BYTES = 16 * 2 ** 20
/** So large that every blob in one request is smaller. */
const MAX_CHUNK_BYTES = 256 * 2 ** 20

/** A repository of a registry, by the OCI distribution API 1.1. */
export class RegistryRepository implements ImageStore, ImageSink {
  readonly name: string
  readonly #server: RegistryServer
  readonly #repository: string

  /** @param registry name of the registry in references */
  constructor(registry: string, repository: string, server: RegistryServer) {
    this.name = `${registry}/${repository}`
    this.#repository = repository
    this.#server = server
  }

  async manifest(reference: string, signal: AbortSignal): Promise<StoredManifest> {
    const what = this.#named(reference)
    const answer = await this.#request('pull', signal, {
      path: `${this.#repository}/manifests/${reference}`,
      headers: { accept: ACCEPTED.join(', ') },
    })
    await this.#found(answer, what)
    const bytes = await this.#body(answer, MAX_MANIFEST_BYTES, what)
    const digest = blobDigestOf(bytes)
    if (isDigest(reference)) checkContent(bytes, { digest: reference }, what)
    const stated = answer.headers['docker-content-digest']
    if (stated !== undefined && isDigest(stated))
      checkContent(bytes, { digest: stated }, `${what}, as the registry names it,`)
    const mediaType = answer.headers['content-type']?.split(';')[0]?.trim()
    return { bytes, mediaType, digest: isDigest(reference) ? reference : digest }
  }

  async blob(descriptor: Descriptor, signal: AbortSignal): Promise<ByteStream> {
    const what = `${this.name}, blob ${descriptor.digest},`
    const answer = await this.#request('pull', signal, { path: `${this.#repository}/blobs/${descriptor.digest}` })
    await this.#found(answer, what)
    const { body } = answer
    const stream = streamFrom(body)
    return verifiedStream(
      {
        length: descriptor.size,
        next: () =>
          stream.next().catch((error: unknown) => {
            throw error instanceof FetchFailure ? registryUnreachableError(this.#server.host, error) : error
          }),
        [Symbol.asyncDispose]: () => answer.close(),
      },
      descriptor,
      what,
    )
  }

  async putBlob(bytes: Uint8Array, digest: string, signal: AbortSignal): Promise<void> {
    const there = await this.#push(signal, { method: 'HEAD', path: `${this.#repository}/blobs/${digest}` })
    await there.close()
    if (there.status === 200 && (there.length === null || there.length === bytes.length)) return
    const begun = await this.#push(signal, { method: 'POST', path: `${this.#repository}/blobs/uploads/` })
    await begun.close()
    // The registry has the blob already, and has mounted it.
    if (begun.status === 201) return
    if (begun.status !== 202) throw await unexpectedStatus(`beginning an upload to ${this.name}`, begun)
    const least = Number(begun.headers['oci-chunk-min-length'] ?? 0)
    const size = Math.min(Math.max(MIN_CHUNKED_BLOB_BYTES, Number.isSafeInteger(least) ? least : 0), MAX_CHUNK_BYTES)
    let place = this.#placeOf(begun)
    let sent = 0
    for (; bytes.length > size && sent < bytes.length; sent += size) {
      const chunk = bytes.subarray(sent, sent + size)
      const answer = await this.#push(signal, {
        method: 'PATCH',
        path: place,
        body: chunk,
        headers: { ...BINARY, 'content-range': `${sent}-${sent + chunk.length - 1}` },
      })
      await answer.close()
      if (answer.status !== 202) throw await unexpectedStatus(`uploading to ${this.name}`, answer)
      const taken = /^0-(\d+)$/.exec(answer.headers['range'] ?? '')?.[1]
      if (taken !== undefined && Number(taken) !== sent + chunk.length - 1)
        throw this.#strange(`has taken ${Number(taken) + 1} bytes of an upload, not ${sent + chunk.length}`)
      place = this.#placeOf(answer)
    }
    const last = await this.#push(signal, {
      method: 'PUT',
      path: withDigest(place, digest),
      headers: BINARY,
      body: sent === 0 ? bytes : new Uint8Array(),
    })
    if (last.status !== 201) throw await unexpectedStatus(`uploading to ${this.name}`, last)
    await last.close()
    this.#compare(last, digest)
  }

  async putManifest(
    { bytes, mediaType, digest }: { bytes: Uint8Array; mediaType: string; digest: string },
    tag: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const path = `${this.#repository}/manifests/${tag ?? digest}`
    const headers = { 'content-type': mediaType }
    const answer = await this.#push(signal, { method: 'PUT', path, body: bytes, headers })
    if (answer.status !== 201 && answer.status !== 200)
      throw await unexpectedStatus(`pushing ${this.#named(tag ?? digest)}`, answer)
    await answer.close()
    this.#compare(answer, digest)
    const there = await this.#push(signal, { method: 'HEAD', path, headers: { accept: mediaType } })
    await there.close()
    if (there.status !== 200) throw this.#strange(`has taken ${this.#named(tag ?? digest)} and does not have it`)
    this.#compare(there, digest)
  }

  #request(actions: string, signal: AbortSignal, request: Omit<RegistryRequest, 'repository' | 'actions'>) {
    return this.#server.request({ ...request, repository: this.#repository, actions }, signal)
  }

  #push(signal: AbortSignal, request: Omit<RegistryRequest, 'repository' | 'actions'>): Promise<FileAnswer> {
    return this.#request('pull,push', signal, request)
  }

  readonly #named = (reference: string): string => `${this.name}${isDigest(reference) ? '@' : ':'}${reference}`

  /** @throws UserError `image-not-found`, `registry-refused` */
  async #found(answer: FileAnswer, what: string): Promise<void> {
    if (answer.status === 200) return
    if (answer.status !== 404) throw await unexpectedStatus(`reading ${what}`, answer)
    await answer.close()
    throw new UserError('image-not-found', `the registry ${this.#server.host} has no ${what.replace(/,$/, '')}`, {
      remedy: 'correct the name, tag or digest',
    })
  }

  async #body(answer: FileAnswer, most: number, what: string): Promise<Buffer> {
    try {
      return await answer.bytes(most)
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error
      if (error.code === 'too-large') throw this.#strange(`sends more than ${most} bytes as the manifest of ${what}`)
      throw registryUnreachableError(this.#server.host, error)
    } finally {
      await answer.close()
    }
  }

  /** Where an upload goes on. A relative place is one of this registry. */
  #placeOf(answer: FileAnswer): string {
    const { location } = answer.headers
    if (location !== undefined && URL.canParse(location, answer.url)) {
      const place = new URL(location, answer.url)
      // A server does not choose with whose password another is asked.
      place.username = place.password = ''
      return place.href
    }
    throw this.#strange('begins an upload and does not say where it goes on')
  }

  #compare({ headers }: FileAnswer, digest: string): void {
    const stated = headers['docker-content-digest']
    if (stated !== undefined && stated !== digest) throw this.#strange(`has stored ${stated} in place of ${digest}`)
  }

  #strange(does: string): UserError {
    return new UserError('registry-protocol', `the registry ${this.#server.host} ${does}`, {
      remedy: 'check the registry, or a proxy in front of it',
    })
  }
}

const BINARY = { 'content-type': 'application/octet-stream' }

function withDigest(place: string, digest: string): string {
  const url = new URL(place)
  url.searchParams.set('digest', digest)
  return url.href
}
