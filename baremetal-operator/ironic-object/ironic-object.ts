import { nameProblem, type IronicObject } from '../../base/kubernetes/index.js'
import { defined, UserError } from '../../base/runtime/index.js'
import type { IronicRelease } from '../../base/wire/index.js'
import { BadSecret, secretValue } from '../manifests/manifest-secrets.js'
import type { OtherManifest, SecretManifest } from '../manifests/manifest-types.js'
import { manifestFindingLine, readManifests, type ReadManifest } from '../manifests/read-manifests.js'
import { ironicConf, extraConf, extraConfProblem } from './ironic-conf.js'
import { ironicProblem, type IronicSpec } from './ironic-rules.js'
import { unplayedFields } from './unplayed-fields.js'

/** The Ironic that an object of its operator asks for, as far as a lab can be it. */
export interface IronicObjectSettings {
  name: string
  namespace: string
  spec: IronicSpec
  /** Layers of `ironic.conf`, the last one wins. */
  files: { name: string; text: string }[]
  host?: string
  port: number
  release: IronicRelease
  /** Account of the API; undefined where the operator makes one. */
  account?: { username: string; password: string }
  /** Certificate of the API, and its key: PEM. */
  tls?: { certificate: string; key: string }
  /** Fields that change nothing here. */
  unplayed: string[]
}

const DEFAULT_NAMESPACE = 'default'
const DEFAULT_PORT = 6385

/** Releases by `spec.version`; without one it is the operator's default, its newest. */
const RELEASES: Readonly<Record<string, IronicRelease>> = {
  '35.0': '2026.1',
  '37.0': '37.0',
  '38.0': '38.0',
  latest: 'master',
}

/**
 * Reads the object of kind Ironic in files, and the Secrets that it names.
 *
 * @throws UserError `ironic-object` (usage) for files without one, with several, and for one that its operator refuses
 */
export function readIronicObject(file: string, text: string): IronicObjectSettings {
  const { manifests, findings } = readManifests(file, text)
  const wrong = findings.find(({ kind }) => kind === 'error')
  if (wrong) throw badObject(manifestFindingLine(wrong))
  const found = manifests.filter(({ manifest }) => manifest.kind === 'Ironic')
  const [first, second] = found
  if (!first)
    throw badObject(`${file} has no object of kind Ironic`, 'name a file with one, of ironic.metal3.io/v1alpha1')
  if (second)
    throw badObject(
      `${file} has ${found.length} objects of kind Ironic, and a lab is one: ${found.map(({ manifest }) => manifest.metadata.name).join(', ')}`,
      'leave one in the file',
    )
  return settingsOf(first, manifests)
}

function badObject(message: string, remedy = 'correct it as its operator wants it'): UserError {
  return new UserError('ironic-object', message, { kind: 'usage', remedy })
}

function settingsOf({ file, manifest }: ReadManifest, all: readonly ReadManifest[]): IronicObjectSettings {
  const { metadata, spec = {} } = manifest as OtherManifest
  const { name, namespace = DEFAULT_NAMESPACE } = metadata
  const wanted = spec as IronicSpec
  const wrongName = nameProblem(name)
  // The name is that of the user of the API too, where no Secret says another.
  if (wrongName !== undefined) throw badObject(`${file}: metadata.name ${JSON.stringify(name)}: ${wrongName}`)
  const problem = ironicProblem(wanted) ?? extraConfProblem(wanted)
  if (problem !== undefined) throw badObject(`${file}: Ironic ${name}: ${problem}`)
  const secrets = all
    .map((read) => read.manifest)
    .filter((each): each is SecretManifest => each.kind === 'Secret')
    .filter((each) => (each.metadata.namespace ?? DEFAULT_NAMESPACE) === namespace)
  const links = new LinkedSecrets(`${file}: Ironic ${name}`, secrets)
  const { apiCredentialsName = '', networking = {}, tls = {}, version } = wanted
  const certificate = tls.certificateName ?? ''
  return {
    name,
    namespace,
    spec: wanted,
    files: [
      { name: `the Ironic ${name}`, text: ironicConf(wanted) },
      { name: `spec.extraConfig of the Ironic ${name}`, text: extraConf(wanted) },
    ].filter(({ text }) => text !== ''),
    ...defined({
      host: networking.ipAddress || undefined,
      account: apiCredentialsName === '' ? undefined : links.account(apiCredentialsName),
      tls: certificate === '' ? undefined : links.certificate(certificate),
    }),
    port: networking.apiPort ?? DEFAULT_PORT,
    release: RELEASES[version || 'latest']!,
    unplayed: unplayedFields(wanted),
  }
}

/** Secrets that an Ironic names, with the sentences that say what is wrong with one. */
class LinkedSecrets {
  readonly #place: string
  readonly #secrets: readonly SecretManifest[]

  constructor(place: string, secrets: readonly SecretManifest[]) {
    this.#place = place
    this.#secrets = secrets
  }

  account(name: string): { username: string; password: string } {
    // An account that was made with echo ends in a newline.
    const [username, password] = ['username', 'password'].map((key) => this.#value(name, key).trim()) as [
      string,
      string,
    ]
    const symbol = /[^\p{L}\p{N}_-]/u.exec(username)?.[0]
    if (symbol !== undefined) throw this.#bad(`username in the Secret ${name} cannot contain symbol ${symbol}`)
    if (username === '' || password === '')
      throw this.#bad(`username and password in the Secret ${name} must not be empty`)
    return { username, password }
  }

  certificate(name: string): { certificate: string; key: string } {
    return { certificate: this.#value(name, 'tls.crt'), key: this.#value(name, 'tls.key') }
  }

  #value(name: string, key: string): string {
    const secret = this.#secrets.find(({ metadata }) => metadata.name === name)
    if (!secret) throw this.#bad(`the Secret ${name} is not in the file, in the namespace of the Ironic`)
    try {
      return secretValue(secret, [key])
    } catch (error) {
      if (error instanceof BadSecret) throw this.#bad(`the Secret ${name}: ${error.message}`)
      throw error
    }
  }

  #bad(problem: string): UserError {
    return badObject(`${this.#place}: ${problem}`, 'put the Secret with this key into the file too')
  }
}

/** The object as the operator leaves it in its API once its Ironic runs. */
export const readyStatus = ({ spec }: IronicObjectSettings): NonNullable<IronicObject['status']> => {
  const version = spec.version || 'latest'
  return { requestedVersion: version, installedVersion: version }
}
