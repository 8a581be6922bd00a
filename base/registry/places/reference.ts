import { maskedAddress } from '../../bytes/index.js'
import { UserError, defined } from '../../runtime/index.js'
import { isDigest } from '../digest.js'
import { ERRORS } from '../errors.js'

/** Name of an image in a registry. With tag and digest, the digest counts. */
export interface ImageReference {
  /** `quay.io`, `localhost:5000`; `docker.io` for Docker Hub. */
  registry: string
  /** `openshift-release-dev/ocp-release`; on Docker Hub `library/alpine` for `alpine`. */
  repository: string
  tag?: string
  digest?: string
}

/** An image in a folder in the OCI layout; without a tag the only one. */
interface LayoutPlace {
  folder: string
  tag?: string
  digest?: string
}

export type ImagePlace = ({ kind: 'registry' } & ImageReference) | ({ kind: 'layout' } & LayoutPlace)

/** As containers-transports(5) has them. */
const OCI_SCHEME = 'oci:'
const DOCKER = 'docker://'

const REGISTRY_HOST_PATTERN =
  /^(?:[a-zA-Z\d](?:[a-zA-Z\d-]*[a-zA-Z\d])?(?:\.[a-zA-Z\d](?:[a-zA-Z\d-]*[a-zA-Z\d])?)*|\[[\da-fA-F:]+\])(?::\d{1,5})?$/
const COMPONENT = /^[a-z\d]+(?:(?:\.|_|__|-+)[a-z\d]+)*$/
const TAG_PATTERN = /^\w[\w.-]{0,127}$/
const MAX_REPOSITORY_NAME_LENGTH = 255

/**
 * Reads the name of an image: `REGISTRY/REPOSITORY[:TAG][@DIGEST]`, where docker.io, `library/` and `latest` are what Docker
 * takes for what is missing.
 *
 * @throws UserError `image-reference` (usage)
 */
export function parseReference(text: string): ImageReference {
  const [named = '', digest, ...more] = text.split('@')
  const colon = named.lastIndexOf(':')
  const hasTag = colon > named.lastIndexOf('/')
  const [name, tag] = hasTag ? [named.slice(0, colon), named.slice(colon + 1)] : [named, undefined]
  const [first = '', ...others] = name.split('/')
  // Docker's rule: what comes first is a host if nothing else could have such a name.
  const isHost = others.length > 0 && (/[.:[]/.test(first) || first === 'localhost' || first.toLowerCase() !== first)
  const registry = isHost ? hubName(first) : 'docker.io'
  const path = isHost ? others : [first, ...others]
  const repository = (registry === 'docker.io' && path.length === 1 ? ['library', ...path] : path).join('/')
  const wrong = (what: string) => malformed(text, what)
  if (more.length > 0) throw wrong('it has more than one @')
  if (isHost && !isHostAndPort(first)) throw wrong(`${first} is no host`)
  const bad = path.find((part) => !COMPONENT.test(part))
  if (bad !== undefined)
    throw wrong(`"${bad}" is no part of a repository, which has lower-case letters, digits and . _ - between them`)
  if (`${registry}/${repository}`.length > MAX_REPOSITORY_NAME_LENGTH)
    throw wrong(`it has more than ${MAX_REPOSITORY_NAME_LENGTH} characters`)
  if (tag !== undefined && !TAG_PATTERN.test(tag)) throw wrong(`"${tag}" is no tag`)
  if (digest !== undefined && !isDigest(digest)) throw wrong(`"${digest}" is no digest: sha256:, and 64 digits 0-9a-f`)
  return {
    registry,
    repository,
    ...(tag === undefined ? (digest === undefined ? { tag: 'latest' } : {}) : { tag }),
    ...defined({ digest }),
  }
}

const hubName = (host: string): string => (host === 'index.docker.io' ? 'docker.io' : host)

const isHostAndPort = (text: string): boolean =>
  REGISTRY_HOST_PATTERN.test(text) &&
  Number(/:(\d+)$/.exec(text)?.[1] ?? 1) <= 65_535 &&
  URL.canParse(`https://${text}`)

const malformed = (text: string, what: string): UserError =>
  new UserError('image-reference', `${text === '' ? 'an empty text' : withoutLogin(text)} names no image: ${what}`, {
    kind: 'usage',
    remedy: ERRORS['image-reference'].remedy,
  })

/** The part before an @ may be a password, unless a digest follows. */
const withoutLogin = (text: string): string => (/^[^@]*@[a-z\d]+:[^/]*$/.test(text) ? text : maskedAddress(text))

/** `quay.io/openshift/release@sha256:...`, or with the tag where there is no digest. */
export const referenceText = ({ registry, repository, tag, digest }: ImageReference): string =>
  `${registry}/${repository}${digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}`}`

/** As `image` of another tag or digest. */
export const ofDigest = ({ registry, repository }: ImageReference, digest: string): ImageReference => ({
  registry,
  repository,
  digest,
})

/**
 * Reads where an image is: `oci:FOLDER[:TAG]`, or a name as {@link parseReference} takes it, with or without `docker://`.
 *
 * @throws UserError `image-reference` (usage)
 */
export function parsePlace(text: string): ImagePlace {
  if (!text.startsWith(OCI_SCHEME)) {
    const name = text.startsWith(DOCKER) ? text.slice(DOCKER.length) : text
    return { kind: 'registry', ...parseReference(name) }
  }
  const [, folder = '', digest, tag] = /^([^@]*?)(?:@([^/]*)|:([^/:]*))?$/.exec(text.slice(OCI_SCHEME.length)) ?? []
  if (folder === '') throw malformed(text, 'the folder is missing')
  if (digest !== undefined && !isDigest(digest)) throw malformed(text, `"${digest}" is no digest`)
  if (tag !== undefined && !TAG_PATTERN.test(tag)) throw malformed(text, `"${tag}" is no tag`)
  return { kind: 'layout', folder, ...defined({ tag, digest }) }
}

/**
 * True if a text names an image rather than a file, a URL or a stream: it begins with `oci:` or `docker://`, or with a host,
 * and has a tag or a digest. The form alone decides, never which files exist.
 */
export function isImagePlace(text: string): boolean {
  if (text.startsWith(OCI_SCHEME) || text.startsWith(DOCKER)) return true
  return (
    /^(?:[^/\s]*[.:][^/\s]*|localhost)\/[^\s#]*(?:@[a-z\d]+:[a-f\d]+|:\w[\w.-]*)$/.test(text) && !/^\.|:\/\//.test(text)
  )
}
