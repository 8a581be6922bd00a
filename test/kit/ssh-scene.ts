import ssh2, { type ParsedKey } from 'ssh2'
import { afterEach, beforeEach } from 'vitest'
import { errorChain, silent, systemClock, systemRandom } from '../../base/runtime/index.js'
import { parseSshTarget } from '../../targets/ssh/address.js'
import { parsePins } from '../../targets/ssh/host-keys.js'
import { formatFingerprint } from '../../targets/ssh/known-hosts.js'
import type { SecretQuestion } from '../../targets/ssh/ssh-secrets.js'
import { openSshShell, type SshShellOptions } from '../../targets/ssh/ssh-shell.js'
import { LinkLost, type LoginShell } from '../../targets/supervised/login-shell.js'
import { Home, newKey, SshHost, type SshHostOptions } from './ssh-host.js'

export const clock = systemClock()
export const publicOf = (key: string) => (ssh2.utils.parseKey(key) as ParsedKey).getPublicSSH()
export const print = (key: string) => formatFingerprint(publicOf(key))
export const hostKey = newKey().private

/** The home folder of the present test. */
export let home: Home

export const asked: SecretQuestion[] = []

/** Gives each test of the calling file a home folder of its own and no questions yet. */
export function homeForEachTest(): void {
  beforeEach(async () => {
    home = await Home.make()
    asked.length = 0
  })
  afterEach(() => home[Symbol.asyncDispose]())
}

interface Scene extends Partial<Omit<SshShellOptions, 'surroundings'>> {
  answers?: Partial<Record<SecretQuestion['kind'], string>>
  agent?: string
}

export function reach(host: { port: number }, { answers = {}, agent, ...more }: Scene = {}) {
  return openSshShell({
    address: parseSshTarget(`ssh://core@127.0.0.1:${host.port}`),
    surroundings: { home: home.path, userName: 'me', agentSocket: agent ?? null },
    pins: parsePins([print(hostKey)]),
    secrets: {
      ask: (question) => {
        asked.push(question)
        return Promise.resolve(answers[question.kind] ?? null)
      },
    },
    clock,
    random: systemRandom,
    logger: silent,
    ...more,
  })
}

export const hosted = (options: SshHostOptions = {}) => SshHost.open({ hostKeys: [hostKey], ...options })

export async function reply(shell: LoginShell, line: string, stdin?: string) {
  const channel = await shell.open(line, stdin === undefined ? {} : { stdin: Buffer.from(stdin) })
  const all = async (stream: AsyncIterable<Uint8Array>) => {
    let text = ''
    for await (const bytes of stream) text += Buffer.from(bytes).toString()
    return text
  }
  const [stdout, stderr, exit] = await Promise.all([all(channel.stdout), all(channel.stderr), channel.exit])
  return { stdout, stderr, exit }
}

/** {@link reply} over a link that was cut, which the shell may notice a moment later: repeats the line as a sender of scripts does. */
export async function replyAfterRetries(shell: LoginShell, line: string): ReturnType<typeof reply> {
  for (let tries = 1; ; tries++) {
    try {
      return await reply(shell, line)
    } catch (error) {
      if (!(error instanceof LinkLost) || tries === 20) throw error
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
}

/** Code, messages and remedy of a connection that fails. */
export async function why(opening: Promise<AsyncDisposable>): Promise<string> {
  try {
    await (await opening)[Symbol.asyncDispose]()
    return 'it was reached'
  } catch (error) {
    const { code, remedy } = error as { code?: string; remedy?: string }
    return [code, ...errorChain(error), remedy].join(' | ')
  }
}
