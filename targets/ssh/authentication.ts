import type { AnyAuthMethod, AuthHandlerMiddleware, AuthenticationType, Prompt } from 'ssh2'
import type { Clock } from '../../runtime/index.js'
import type { HostSettings } from './host-settings.js'
import type { SecretSource } from './secrets.js'
import { agentsByKey, keysOfFiles } from './user-keys.js'

/** What SSH calls what an attempt is made with. */
type Method = 'none' | 'publickey' | 'keyboard-interactive' | 'password'

interface Attempt {
  method: Method
  with: AnyAuthMethod
}

export interface AuthenticationParts {
  settings: HostSettings
  secrets: SecretSource
  /** Nothing that could be used elsewhere may be told to a host that has not proved who it is. */
  keysOnly: boolean
  clock: Clock
  /** Called around every question to a person, which takes its time. */
  asking: <T>(question: () => Promise<T>) => Promise<T>
}

/**
 * Logs in as ssh(1) does: first without anything, which tells what the server takes, then by the agent's keys, keys of
 * files, keyboard-interactive and password, each as often as it is offered and once only.
 */
export class Authentication {
  /** What was not tried and why; what was, and did not help. */
  readonly notes: string[] = []
  readonly #parts: AuthenticationParts
  readonly #next: AsyncGenerator<Attempt>
  readonly #put: Attempt[] = []
  #takes: readonly string[] = []

  constructor(parts: AuthenticationParts) {
    this.#parts = parts
    this.#next = this.#attempts()
  }

  /** Which methods the server said it takes. */
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

  /** The first that was not made yet and that the server takes now: after a first factor it may take what it did not. */
  async #choose(takes: readonly string[] | null): Promise<Attempt | null> {
    const fits = ({ method }: Attempt) => method === 'none' || !takes || takes.includes(method)
    const at = this.#put.findIndex(fits)
    if (at >= 0) return this.#put.splice(at, 1)[0]!
    for (;;) {
      const { done, value } = await this.#next.next()
      if (done) return null
      if (fits(value)) return value
      this.#put.push(value)
    }
  }

  async *#attempts(): AsyncGenerator<Attempt> {
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
      note('passwords are not sent to a host that has not proved which it is')
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

  /** A person is not asked for what the server does not take anyway; later factors are not known beforehand. */
  #mayTake(method: Method): boolean {
    return this.#takes.length === 0 || this.#takes.includes(method) || this.#takes.includes('keyboard-interactive')
  }

  /** One hidden question about a password is what a password is the answer to; anything else is put to a person. */
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
      if (answer === null) this.notes.push(`no answer was given to ${JSON.stringify(prompt.trim())}`)
      answers.push(answer ?? '')
    }
    return answers
  }
}
