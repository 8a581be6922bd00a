import { stat } from 'node:fs/promises'
import type { BaseAgent, OpenSSHAgent, ParsedKey } from 'ssh2'
import { withClockHeld, type Clock, readNamedFile, readNamedText } from '../../base/runtime/index.js'
import { certifiedKey } from './user-certificate.js'
import type { SshHostSettings } from './host-settings.js'
import type { SecretSource } from './ssh-secrets.js'
import { loadSsh2 } from './ssh2.js'

/** Records why a key is not offered, for the message of a refused login. */
export type NoteKey = (text: string) => void

/**
 * Keys of files, each first with its certificate, if any, and then alone. Asks for a passphrase only when its key is next.
 */
export async function* keysOfFiles(
  { keyFiles, certificateFiles }: SshHostSettings,
  secrets: SecretSource,
  note: NoteKey,
  clock: Clock,
): AsyncGenerator<ParsedKey> {
  for (const { path, named } of keyFiles) {
    const key = await keyOfFile(path, named, secrets, note, clock)
    if (!key) continue
    for (const file of [`${path}-cert.pub`, ...certificateFiles]) {
      const line = await withClockHeld(clock, 'reading a certificate', () => readNamedText(file)).catch(() => null)
      const withCertificate = line === null ? null : certifiedKey(key, line)
      if (withCertificate) yield withCertificate
    }
    yield key
  }
}

async function keyOfFile(
  path: string,
  named: boolean,
  secrets: SecretSource,
  note: NoteKey,
  clock: Clock,
): Promise<ParsedKey | null> {
  let bytes: Buffer
  try {
    const { mode } = await withClockHeld(clock, 'looking at a key', () => stat(path))
    // ssh(1), too, ignores a key that other users can read.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      note(`${path} can be read by others (mode ${(mode & 0o777).toString(8)})`)
      return null
    }
    bytes = await withClockHeld(clock, 'reading a key', () => readNamedFile(path))
  } catch (error) {
    if (named) note(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`)
    return null
  }
  const plain = parseKeyFile(bytes)
  if (!(plain instanceof Error)) return usable(plain, path, note)
  if (!/passphrase|encrypted/i.test(plain.message)) {
    note(`${path} is not a usable key (${plain.message})`)
    return null
  }
  const passphrase = await secrets.ask({ kind: 'passphrase', about: `passphrase of ${path}`, echo: false })
  if (passphrase === null) {
    note(`${path} needs its passphrase (IRONSTAGE_SSH_PASSPHRASE, or load it into ssh-agent)`)
    return null
  }
  const opened = parseKeyFile(bytes, passphrase)
  if (!(opened instanceof Error)) return usable(opened, path, note)
  note(`the passphrase for ${path} is wrong`)
  return null
}

function parseKeyFile(bytes: Buffer, passphrase?: string): ParsedKey | Error {
  const found: unknown = loadSsh2().utils.parseKey(bytes, passphrase)
  return (Array.isArray(found) ? found[0] : found) as ParsedKey | Error
}

function usable(key: ParsedKey, path: string, note: NoteKey): ParsedKey | null {
  if (key.isPrivateKey()) return key
  note(`${path} is a public key`)
  return null
}

/** One agent for each key of ssh-agent: ssh2 itself would offer all keys as one attempt. */
export async function agentsByKey(settings: SshHostSettings, note: NoteKey, clock: Clock): Promise<BaseAgent[]> {
  const { agent: socket, onlyTheseKeys, keyFiles } = settings
  if (socket === null) return []
  const agent = new (loadSsh2().OpenSSHAgent)(socket)
  const keys = await withClockHeld(
    clock,
    'asking ssh-agent',
    () =>
      new Promise<ParsedKey[]>((resolve) =>
        agent.getIdentities((error, found) => {
          if (error) note(`ssh-agent at ${socket} does not answer (${error.message})`)
          resolve(error ? [] : (found ?? []).map(asParsed).filter((key) => key !== null))
        }),
      ),
  )
  const wanted = onlyTheseKeys ? await publicKeys(keyFiles, clock) : null
  return keys
    .filter((key) => !wanted || wanted.has(key.getPublicSSH().toString('base64')))
    .map((key) => restrictAgent(agent, key))
}

function restrictAgent(agent: OpenSSHAgent, key: ParsedKey): BaseAgent {
  const single: unknown = Object.create(agent, {
    getIdentities: { value: (done: (error: null, keys: ParsedKey[]) => void) => done(null, [key]) },
  })
  return single as BaseAgent
}

function asParsed(key: unknown): ParsedKey | null {
  const found = loadSsh2().utils.parseKey(key as Buffer) as ParsedKey | Error | ParsedKey[]
  const first = Array.isArray(found) ? found[0] : found
  return first === undefined || first instanceof Error ? null : first
}

async function publicKeys(files: SshHostSettings['keyFiles'], clock: Clock): Promise<Set<string>> {
  const found = new Set<string>()
  for (const { path } of files)
    for (const file of [`${path}.pub`, path]) {
      const text = await withClockHeld(clock, 'reading a public key', () => readNamedText(file)).catch(() => '')
      const base64 = /^(?:ssh|ecdsa)-\S+ (\S+)/m.exec(text)?.[1]
      if (base64 !== undefined) found.add(base64)
    }
  return found
}
