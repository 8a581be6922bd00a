import { createPrivateKey, X509Certificate } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hash } from 'bcryptjs'
import { readIronicObject, readyStatus, type IronicObjectSettings } from '../../../baremetal-operator/index.js'
import { withCondition, type KubeClient } from '../../../base/kubernetes/index.js'
import {
  defined,
  readNamedText,
  systemRandom,
  temporaryFolder,
  UserError,
  type Clock,
  type ConfigFile,
  type TemporaryFolder,
} from '../../../base/runtime/index.js'
import type { UP_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

type UpOptions = CommandOptionValues<(typeof UP_OPTIONS)[number]>

/** Cost of the hash of a password: as htpasswd -B. */
const HASH_ROUNDS = 5
const PASSWORD_LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_'
const PASSWORD_LENGTH = 32

/** The Ironic that the operator of standalone Ironics would deploy of an object (`up --ironic-cr`). */
export class UpIronicObject implements AsyncDisposable {
  readonly #file: string
  readonly #settings: IronicObjectSettings
  /** Folder with the account and the certificate: the next start deletes it where this process is killed. */
  readonly #folder: TemporaryFolder
  readonly #account: { username: string; password: string }

  private constructor(file: string, settings: IronicObjectSettings, folder: TemporaryFolder) {
    this.#file = file
    this.#settings = settings
    this.#folder = folder
    this.#account = settings.account ?? { username: settings.name, password: makePassword() }
  }

  /** @throws UserError (usage) for a file that cannot be used */
  static async open(file: string): Promise<UpIronicObject> {
    const settings = readIronicObject(file, await readObjectFile(file))
    checkCertificate(file, settings)
    const folder = await temporaryFolder()
    const opened = new UpIronicObject(file, settings, folder)
    try {
      await opened.#writeFiles()
      return opened
    } catch (error) {
      await opened[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The command line with what the object says; what the command line says itself wins. */
  mergedOptions(options: UpOptions): UpOptions {
    const { host, port, release, tls } = this.#settings
    return {
      ...defined({
        host,
        port,
        'ironic-release': release,
        htpasswd: join(this.#folder.path, 'htpasswd'),
        'tls-cert': tls && join(this.#folder.path, 'tls.crt'),
        'tls-key': tls && join(this.#folder.path, 'tls.key'),
      }),
      ...options,
    }
  }

  /** Layers of `ironic.conf`, which go over the files of `--config`: the operator sets variables, which win too. */
  get files(): readonly ConfigFile[] {
    return this.#settings.files
  }

  /** Lines for people; a generated password is in it, this one time. */
  get lines(): string[] {
    const { name, unplayed } = this.#settings
    const { username, password } = this.#account
    const login = this.#settings.account
      ? [`Its user is ${username}, of the Secret in the file.`]
      : [`Its user is ${username}, its password ${password}`, '(made now, and shown only here).']
    return [
      `This is the Ironic ${name} of ${this.#file}.`,
      ...login,
      ...(unplayed.length === 0
        ? []
        : ['Of its spec these change nothing here:', ...unplayed.map((one) => `  ${one}`)]),
      '',
    ]
  }

  get event(): object {
    const { name, namespace, release, unplayed, account } = this.#settings
    const { username, password } = this.#account
    return {
      event: 'ironic-object',
      name,
      namespace,
      release,
      username,
      ...defined({ password: account ? undefined : password }),
      unplayed,
    }
  }

  /** Puts the object into an API, with the status that its operator gives it. */
  async show(kube: KubeClient, clock: Clock): Promise<void> {
    const { name, namespace, spec } = this.#settings
    const at = { name, namespace }
    const found = await kube.find('Ironic', at)
    const stored = found
      ? await kube.update<'Ironic'>({ ...found, spec })
      : await kube.create<'Ironic'>({ apiVersion: 'ironic.metal3.io/v1alpha1', kind: 'Ironic', metadata: at, spec })
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'DeploymentAvailable',
      message: 'ironic: resources are available',
      observedGeneration: stored.metadata.generation,
    } as const
    const conditions = withCondition(stored.status?.conditions, ready, clock)
    await kube.updateStatus<'Ironic'>({ ...stored, status: { ...readyStatus(this.#settings), conditions } })
  }

  async #writeFiles(): Promise<void> {
    const { tls } = this.#settings
    const { username, password } = this.#account
    const write = (name: string, text: string) => writeFile(join(this.#folder.path, name), text, { mode: 0o600 })
    await write('htpasswd', `${username}:${await hash(password, HASH_ROUNDS)}\n`)
    if (!tls) return
    await write('tls.crt', tls.certificate)
    await write('tls.key', tls.key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }
}

async function readObjectFile(file: string): Promise<string> {
  try {
    return await readNamedText(file)
  } catch (cause) {
    throw new UserError('file-unreadable', `the Ironic in ${file} cannot be read`, {
      cause,
      kind: 'usage',
      remedy: 'name a YAML file with an object of kind Ironic',
    })
  }
}

/** Names the Secret, which the service that needs the certificate does not know. */
function checkCertificate(file: string, { name, spec, tls }: IronicObjectSettings): void {
  if (!tls) return
  const secret = `${file}: Ironic ${name}: the Secret ${spec.tls?.certificateName ?? ''}`
  const usage = {
    kind: 'usage',
    remedy: 'put a certificate and the private key that belongs to it there, in PEM',
  } as const
  let isPair: boolean
  try {
    isPair = new X509Certificate(tls.certificate).checkPrivateKey(createPrivateKey(tls.key))
  } catch (cause) {
    throw new UserError('ironic-object', `${secret} has no certificate and private key that can be read`, {
      cause,
      ...usage,
    })
  }
  if (!isPair) throw new UserError('ironic-object', `${secret} has a private key of another certificate`, usage)
}

const makePassword = (): string =>
  Array.from(systemRandom.bytes(PASSWORD_LENGTH), (byte) => PASSWORD_LETTERS[byte % PASSWORD_LETTERS.length]).join('')
