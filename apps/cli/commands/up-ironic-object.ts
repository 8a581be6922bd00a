import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hash } from 'bcryptjs'
import { readIronicObject, readyStatus, type IronicObjectSettings } from '../../../baremetal-operator/index.js'
import { withCondition, type KubeClient } from '../../../base/kubernetes/index.js'
import {
  defined,
  readNamedText,
  systemRandom,
  UserError,
  type Clock,
  type ConfigFile,
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
  /** Folder with the account and the certificate. */
  readonly #folder: string
  readonly #account: { username: string; password: string }

  private constructor(file: string, settings: IronicObjectSettings, folder: string) {
    this.#file = file
    this.#settings = settings
    this.#folder = folder
    this.#account = settings.account ?? { username: settings.name, password: makePassword() }
  }

  /** @throws UserError (usage) for a file that cannot be used */
  static async open(file: string): Promise<UpIronicObject> {
    const settings = readIronicObject(file, await readObjectFile(file))
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-ironic-'))
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
        htpasswd: join(this.#folder, 'htpasswd'),
        'tls-cert': tls && join(this.#folder, 'tls.crt'),
        'tls-key': tls && join(this.#folder, 'tls.key'),
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
      ? `its user is ${username}, of the Secret in ${this.#file}`
      : `its user is ${username}, with the password ${password}, which was made now and is shown only here`
    return [
      `This is the Ironic ${name} of ${this.#file}; ${login}.`,
      ...(unplayed.length === 0 ? [] : [`Of its spec these change nothing here: ${unplayed.join(', ')}.`]),
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
    const write = (name: string, text: string) => writeFile(join(this.#folder, name), text, { mode: 0o600 })
    await write('htpasswd', `${username}:${await hash(password, HASH_ROUNDS)}\n`)
    if (!tls) return
    await write('tls.crt', tls.certificate)
    await write('tls.key', tls.key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
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

const makePassword = (): string =>
  Array.from(systemRandom.bytes(PASSWORD_LENGTH), (byte) => PASSWORD_LETTERS[byte % PASSWORD_LETTERS.length]).join('')
