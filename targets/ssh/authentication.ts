import type { AnyAuthMethod, AuthHandlerMiddleware, AuthenticationType, Prompt } from 'ssh2'
import type { Clock } from '../../base/runtime/index.js'
import type { SshHostSettings } from './host-settings.js'
import type { SecretSource } from './ssh-secrets.js'
import { agentsByKey, keysOfFiles } from './user-keys.js'

/** SSH's name of an authentication method. */
type AuthMethod = 'none' | 'publickey' | 'keyboard-interactive' | 'password'

interface AuthAttempt {
  method: AuthMethod
  with: AnyAuthMethod
}

export interface AuthenticationParts {
  settings: SshHostSettings
  secrets: SecretSource
  /** Whether only keys are offered: a host that has not proved its identity must not get a password. */
  keysOnly: boolean
  clock: Clock
  /** Called around every question to the user, so that the time for the answer does not count. */
  asking: <T>(question: () => Promise<T>) => Promise<T>
}

/**
 * Logs in as ssh(1) does: first with `none`, which makes the server list its methods, then with the agent's keys, keys of
 * files, keyboard-interactive and password, each once.
 */
export class Authentication {
  /** Reasons why methods were not tried or failed, for the message. */
  readonly notes: string[] = []
  readonly #parts: AuthenticationParts
  readonly #next: AsyncGenerator<AuthAttempt>
  readonly #put: AuthAttempt[] = []
  #takes: readonly string[] = []

  constructor(parts: AuthenticationParts) {
    this.#parts = parts
    this.#next = this.#attempts()
  }

  /** Methods that the server accepts. */
  get takes(): readonly string[] {
    return this.#takes
  }

  readonly handler: AuthHandlerMiddleware = (left, _partial, next) => {
    const methods = left as readonly AuthenticationType[] | null
    if (methods) this.#takes = methods
    this.#choose(methods).then(
      (attempt) => next(attempt ? attempt.with : (false as unknown as AuthenticationType)),
      (error: unknown) => {
        this.notes.push(error instanceof Error ? error.message : String(error))
        next(false as unknown as AuthenticationType)
      },
    )
  }

  /** First untried attempt that the server accepts now; after a first factor it may accept other methods. */
  async #choose(takes: readonly string[] | null): Promise<AuthAttempt | null> {
    const fits = ({ method }: AuthAttempt) => method === 'none' || !takes || takes.includes(method)
    const at = this.#put.findIndex(fits)
    if (at >= 0) return this.#put.splice(at, 1)[0]!
    for (;;) {
      const { done, value } = await this.#next.next()
      if (done) return null
      if (fits(value)) return value
      this.#put.push(value)
    }
  }

  async *#attempts(): AsyncGenerator<AuthAttempt> {
    const { settings, secrets, keysOnly, clock, asking } = this.#parts
    const { user: username, methods } = settings
    const note = (text: string) => void this.notes.push(text)
    yield { method: 'none', with: { type: 'none', username } }
    const patient: SecretSource = { ask: (question) => asking(() => secrets.ask(question)) }
    if (methods.publickey) {
      for (const agent of await agentsByKey(settings, note, clock))
        yield { method: 'publickey', with: { type: 'agent', username, agent } }
      if (this.#mayTake('publickey'))
        for await (const key of keysOfFiles(settings, patient, note, clock))
          yield { method: 'publickey', with: { type: 'publickey', username, key } }
    }
    if (keysOnly) {
      note('passwords are not sent to a host that has not proved its identity')
      return
    }
    if (methods.keyboardInteractive)
      yield {
        method: 'keyboard-interactive',
        with: {
          type: 'keyboard-interactive',
          username,
          prompt: (name, instructions, _language, prompts, finish) => {
            void this.#answers(patient, [name, instructions], prompts).then(finish)
          },
        },
      }
    if (methods.password && this.#mayTake('password')) {
      const about = `password of ${username}@${settings.host}`
      const password = await patient.ask({ kind: 'password', about, echo: false })
      if (password === null) note('there is no password (IRONSTAGE_SSH_PASSWORD)')
      else yield { method: 'password', with: { type: 'password', username, password } }
    }
  }

  /** Whether to ask the user for a secret: not when the server does not accept it; later factors are not known yet. */
  #mayTake(method: AuthMethod): boolean {
    return this.#takes.length === 0 || this.#takes.includes(method) || this.#takes.includes('keyboard-interactive')
  }

  /** Answers a hidden prompt for a password with the password, and asks the user for all others. */
  async #answers(secrets: SecretSource, heading: readonly string[], prompts: readonly Prompt[]): Promise<string[]> {
    const { user, host } = this.#parts.settings
    const answers: string[] = []
    for (const { prompt, echo = false } of prompts) {
      const isPassword = !echo && /password/i.test(prompt) && !/one-?time|token|code|new/i.test(prompt)
      const about = isPassword
        ? `password of ${user}@${host}`
        : [...heading, prompt]
            .filter((part) => part.trim() !== '')
            .join(' ')
            .trim()
      const answer = await secrets.ask({ kind: isPassword ? 'password' : 'answer', about, echo })
      if (answer === null) this.notes.push(`there was no answer to ${JSON.stringify(prompt.trim())}`)
      answers.push(answer ?? '')
    }
    return answers
  }
}
